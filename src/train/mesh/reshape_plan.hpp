// How a reshape changes a layout (Mesh TensorFlow's rule): which mesh axes are split, exchanged or
// concatenated before and after the local reshape.
#pragma once

#include <vector>

#include "train/mesh/layout.hpp"

namespace goban::train::mesh {

struct ReshapeStep {
  enum class Kind : uint8_t {
    Split,     ///< each device keeps its slice of `axis`; nothing is sent
    Exchange,  ///< all-to-all: `axis` becomes split, `concat_axis` becomes complete
    Concat,    ///< all-gather along `concat_axis`
  };
  Kind kind;
  int mesh_axis;
  size_t axis = 0;
  size_t concat_axis = 0;
  friend bool operator==(const ReshapeStep&, const ReshapeStep&) = default;
};

struct ReshapePlan {
  std::vector<ReshapeStep> before;  ///< on axes of the old shape, in this order
  std::vector<int64_t> local;       ///< shape of the local reshape
  std::vector<ReshapeStep> after;   ///< Splits on axes of the new shape
  [[nodiscard]] bool moves_nothing() const { return before.empty() && after.empty(); }
};

/// For each mesh axis, compares the product of the sizes before the dimension it splits, old and
/// new. If they are equal, nothing is done. Where Mesh TensorFlow has no rule (the old shape cannot
/// be split there), the old split is concatenated first and the new one made afterwards.
[[nodiscard]] ReshapePlan plan_reshape(const Shape& from, const TensorLayout& from_layout,
                                       const Shape& to, const TensorLayout& to_layout,
                                       const MeshShape& mesh);

}  // namespace goban::train::mesh
