#include "train/mesh/layout.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::train::mesh {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

base::Result<Pairs> parse_pairs(std::string_view text, std::string_view form) {
  Pairs out;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find_first_of(";,. ", begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) continue;
    const size_t colon = item.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == item.size() ||
        item.find(':', colon + 1) != std::string_view::npos) {
      return base::usage_error(
          fmt::format("'{}' in \"{}\" must have the form {}", item, text, form));
    }
    out.emplace_back(item.substr(0, colon), item.substr(colon + 1));
  }
  return out;
}

}  // namespace

MeshShape::MeshShape(std::vector<Dim> axes) : axes_(std::move(axes)) {}

base::Result<MeshShape> MeshShape::parse(std::string_view text) {
  auto pairs = parse_pairs(text, "axis:size, such as \"rows:2;cols:2\"");
  if (!pairs) return base::failure(pairs.error());
  MeshShape mesh;
  for (const auto& [name, value] : *pairs) {
    const auto size = base::parse_int(value);
    if (!size || *size < 1 || *size > 1'000'000) {
      return base::usage_error(fmt::format("mesh axis '{}' has size '{}'", name, value),
                               "the size must be an integer from 1 to 1000000");
    }
    if (mesh.find(name) >= 0) {
      return base::usage_error(fmt::format("duplicate mesh axis '{}'", name));
    }
    mesh.axes_.push_back({name, *size});
  }
  return mesh;
}

int64_t MeshShape::devices() const {
  int64_t product = 1;
  for (const Dim& axis : axes_) product *= axis.size;
  return product;
}

int MeshShape::find(std::string_view name) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int64_t MeshShape::coordinate(int rank, size_t axis) const {
  int64_t rest = rank;
  for (size_t i = axes_.size(); i-- > axis + 1;) rest /= axes_[i].size;
  return rest % axes_[axis].size;
}

comm::Group MeshShape::group(int rank, AxisSet set) const {
  comm::Group group;
  const auto world = static_cast<int>(devices());
  for (int other = 0; other < world; ++other) {
    bool member = true;
    for (size_t i = 0; i < axes_.size(); ++i) {
      if ((set >> i & 1U) == 0 && coordinate(other, i) != coordinate(rank, i)) member = false;
    }
    if (member) group.ranks.push_back(other);
  }
  return group;
}

int64_t MeshShape::devices_in(AxisSet set) const {
  int64_t product = 1;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if ((set >> i & 1U) != 0) product *= axes_[i].size;
  }
  return product;
}

std::string MeshShape::text() const {
  std::string out;
  for (const Dim& axis : axes_) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : ";", axis.name, axis.size);
  }
  return out;
}

base::Result<LayoutRules> LayoutRules::parse(std::string_view text) {
  auto pairs = parse_pairs(text, "dimension:axis, such as \"batch:rows;hidden:cols\"");
  if (!pairs) return base::failure(pairs.error());
  LayoutRules out;
  for (const auto& rule : *pairs) {
    const auto same = std::find_if(out.rules.begin(), out.rules.end(),
                                   [&](const auto& other) { return other.first == rule.first; });
    if (same == out.rules.end()) {
      out.rules.push_back(rule);
    } else if (same->second != rule.second) {
      return base::usage_error(
          fmt::format("dimension '{}' is split over two mesh axes, '{}' and '{}'", rule.first,
                      same->second, rule.second),
          fmt::format("keep one of \"{0}:{1}\" and \"{0}:{2}\"", rule.first, same->second,
                      rule.second));
    }
  }
  return out;
}

std::string LayoutRules::text() const {
  std::string out;
  for (const auto& [dimension, axis] : rules) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : ";", dimension, axis);
  }
  return out;
}

int LayoutRules::axis_of(const std::string& dimension, const MeshShape& mesh) const {
  for (const auto& [name, axis] : rules) {
    if (name == dimension) return mesh.find(axis);
  }
  return kWhole;
}

TensorLayout LayoutRules::layout_of(const Shape& shape, const MeshShape& mesh) const {
  TensorLayout layout;
  for (const Dim& dim : shape.dims()) layout.push_back(axis_of(dim.name, mesh));
  return layout;
}

AxisSet axes_of(const TensorLayout& layout) {
  AxisSet set = 0;
  for (const int axis : layout) {
    if (axis != kWhole) set |= AxisSet{1} << axis;
  }
  return set;
}

std::vector<int64_t> local_sizes(const Shape& shape, const TensorLayout& layout,
                                 const MeshShape& mesh) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < shape.rank(); ++i) {
    const int64_t parts =
        layout[i] == kWhole ? 1 : mesh.axes()[static_cast<size_t>(layout[i])].size;
    sizes.push_back(shape[i].size / parts);
  }
  return sizes;
}

int64_t local_elements(const Shape& shape, const TensorLayout& layout, const MeshShape& mesh) {
  int64_t product = 1;
  for (const int64_t size : local_sizes(shape, layout, mesh)) product *= size;
  return product;
}

}  // namespace goban::train::mesh
