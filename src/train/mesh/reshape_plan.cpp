#include "train/mesh/reshape_plan.hpp"

#include <optional>

namespace goban::train::mesh {
namespace {

std::optional<size_t> axis_split_by(const TensorLayout& layout, int mesh_axis) {
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == mesh_axis) return i;
  }
  return std::nullopt;
}

/// The last axis of `shape` with that product of sizes before it (so axes of size 1 do not matter).
std::optional<size_t> axis_with_prefix(const Shape& shape, int64_t prefix) {
  for (size_t i = shape.rank(); i-- > 0;) {
    if (shape.prefix(i) == prefix) return i;
  }
  return std::nullopt;
}

}  // namespace

ReshapePlan plan_reshape(const Shape& from, const TensorLayout& from_layout, const Shape& to,
                         const TensorLayout& to_layout, const MeshShape& mesh) {
  using Kind = ReshapeStep::Kind;
  ReshapePlan plan;
  TensorLayout now = from_layout;
  std::vector<ReshapeStep> exchanges, concats;
  // An axis of the old shape at which the new split of `mesh_axis` can be made before the reshape.
  const auto place_in_old = [&](size_t new_axis, int64_t parts) -> std::optional<size_t> {
    const auto axis = axis_with_prefix(from, to.prefix(new_axis));
    if (!axis || now[*axis] != kWhole || from[*axis].size % parts != 0) return std::nullopt;
    return axis;
  };
  for (int m = 0; m < static_cast<int>(mesh.axes().size()); ++m) {
    const int64_t parts = mesh.axes()[static_cast<size_t>(m)].size;
    const auto old_axis = axis_split_by(from_layout, m);
    const auto new_axis = axis_split_by(to_layout, m);
    if (!old_axis && !new_axis) continue;
    if (old_axis && new_axis && from.prefix(*old_axis) == to.prefix(*new_axis)) continue;
    const auto early = new_axis ? place_in_old(*new_axis, parts) : std::nullopt;
    if (early) now[*early] = m;
    if (old_axis && early) {
      exchanges.push_back({Kind::Exchange, m, *early, *old_axis});
    } else if (early) {
      plan.before.push_back({Kind::Split, m, *early, 0});
    } else {
      if (old_axis) concats.push_back({Kind::Concat, m, 0, *old_axis});
      if (new_axis) plan.after.push_back({Kind::Split, m, *new_axis, 0});
    }
  }
  plan.before.insert(plan.before.end(), exchanges.begin(), exchanges.end());
  plan.before.insert(plan.before.end(), concats.begin(), concats.end());
  TensorLayout middle = to_layout;
  for (const ReshapeStep& late : plan.after) middle[late.axis] = kWhole;
  plan.local = local_sizes(to, middle, mesh);
  return plan;
}

}  // namespace goban::train::mesh
