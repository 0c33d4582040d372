#include "train/mesh/shape.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::train::mesh {

Shape::Shape(std::initializer_list<Dim> dims) : Shape(std::vector<Dim>(dims)) {}

Shape::Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].size < 1) {
      throw GraphError(
          fmt::format("dimension '{}' has size {}; must be >= 1", dims_[i].name, dims_[i].size));
    }
    for (size_t j = 0; j < i; ++j) {
      if (dims_[i].name == dims_[j].name) {
        throw GraphError(
            fmt::format("dimension '{}' occurs twice in one shape {}", dims_[i].name, text()));
      }
    }
  }
}

std::optional<size_t> Shape::find(const std::string& name) const {
  const auto at =
      std::find_if(dims_.begin(), dims_.end(), [&](const Dim& dim) { return dim.name == name; });
  if (at == dims_.end()) return std::nullopt;
  return static_cast<size_t>(at - dims_.begin());
}

size_t Shape::axis(const std::string& name) const {
  const auto found = find(name);
  if (!found) throw GraphError(fmt::format("no dimension '{}' in {}", name, text()));
  return *found;
}

const Dim& Shape::dim(const std::string& name) const { return dims_[axis(name)]; }

int64_t Shape::size() const { return prefix(dims_.size()); }

int64_t Shape::prefix(size_t axis) const {
  int64_t product = 1;
  for (size_t i = 0; i < axis; ++i) product *= dims_[i].size;
  return product;
}

Shape Shape::plus(const Dim& dim) const {
  std::vector<Dim> dims = dims_;
  dims.push_back(dim);
  return Shape(std::move(dims));
}

Shape Shape::united(const Shape& other) const {
  std::vector<Dim> dims = dims_;
  for (const Dim& dim : other.dims_) {
    const auto mine = find(dim.name);
    if (!mine) {
      dims.push_back(dim);
    } else if (dims_[*mine].size != dim.size) {
      throw GraphError(fmt::format("dimension '{}' is {} in {} and {} in {}", dim.name,
                                   dims_[*mine].size, text(), dim.size, other.text()));
    }
  }
  return Shape(std::move(dims));
}

Shape Shape::without(const std::vector<std::string>& names) const {
  std::vector<Dim> dims;
  for (const Dim& dim : dims_) {
    if (std::find(names.begin(), names.end(), dim.name) == names.end()) dims.push_back(dim);
  }
  return Shape(std::move(dims));
}

Shape Shape::replaced(const std::string& name, const Dim& dim) const {
  std::vector<Dim> dims = dims_;
  dims[axis(name)] = dim;
  return Shape(std::move(dims));
}

std::string Shape::text() const {
  std::string out = "[";
  for (const Dim& dim : dims_) {
    out += fmt::format("{}{}={}", out.size() > 1 ? ", " : "", dim.name, dim.size);
  }
  return out + "]";
}

}  // namespace goban::train::mesh
