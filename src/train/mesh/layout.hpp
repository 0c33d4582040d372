// The mesh of devices and the layout rules, which assign tensor dimensions to mesh axes. Text forms
// are Mesh TensorFlow's: "rows:2;cols:2" and "batch:rows;hidden:cols".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/shape.hpp"

namespace goban::train::mesh {

/// A set of mesh axes as bits.
using AxisSet = uint32_t;

/// A grid of devices with named axes; the last axis varies fastest.
class MeshShape {
 public:
  MeshShape() = default;
  explicit MeshShape(std::vector<Dim> axes);
  /// Items `name:size`, separated by any of ; , . and space. Empty text is one device.
  [[nodiscard]] static base::Result<MeshShape> parse(std::string_view text);

  [[nodiscard]] const std::vector<Dim>& axes() const { return axes_; }
  [[nodiscard]] int64_t devices() const;
  [[nodiscard]] int find(std::string_view name) const;  ///< axis number or -1
  [[nodiscard]] int64_t coordinate(int rank, size_t axis) const;
  /// Ranks that differ from `rank` only in the axes of `set`, ascending.
  [[nodiscard]] comm::Group group(int rank, AxisSet set) const;
  [[nodiscard]] int64_t devices_in(AxisSet set) const;
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Dim> axes_;
};

/// The mesh axis of each dimension of one tensor; -1 for a dimension that is not split.
using TensorLayout = std::vector<int>;
inline constexpr int kWhole = -1;

/// Pairs (tensor dimension, mesh axis); each dimension at most once.
struct LayoutRules {
  std::vector<std::pair<std::string, std::string>> rules;
  /// Items `dimension:axis`. Errors: Usage, for a malformed item or a dimension with two axes.
  [[nodiscard]] static base::Result<LayoutRules> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  /// Axis number for a dimension name, or kWhole.
  [[nodiscard]] int axis_of(const std::string& dimension, const MeshShape& mesh) const;
  [[nodiscard]] TensorLayout layout_of(const Shape& shape, const MeshShape& mesh) const;
};

[[nodiscard]] AxisSet axes_of(const TensorLayout& layout);

/// Sizes of one device's slice.
[[nodiscard]] std::vector<int64_t> local_sizes(const Shape& shape, const TensorLayout& layout,
                                               const MeshShape& mesh);
[[nodiscard]] int64_t local_elements(const Shape& shape, const TensorLayout& layout,
                                     const MeshShape& mesh);

}  // namespace goban::train::mesh
