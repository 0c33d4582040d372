// The executor's operations that move or select elements between devices.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "train/mesh/collective_tensor.hpp"
#include "train/mesh/executor.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/shift_parts.hpp"

namespace goban::train::mesh {

at::Tensor Executor::reshaped(const Step& step, const Prepared& prepared, at::Tensor x) const {
  const auto narrowed = [&](const at::Tensor& whole, const ReshapeStep& move) {
    const auto m = static_cast<size_t>(move.mesh_axis);
    const int64_t size = whole.size(static_cast<int64_t>(move.axis)) / plan_.mesh.axes()[m].size;
    return whole.narrow(static_cast<int64_t>(move.axis),
                        plan_.mesh.coordinate(plan_.rank, m) * size, size);
  };
  for (size_t i = 0; i < step.reshape.before.size(); ++i) {
    const ReshapeStep& move = step.reshape.before[i];
    const auto joined = static_cast<int64_t>(move.concat_axis);
    switch (move.kind) {
      case ReshapeStep::Kind::Split:
        x = narrowed(x, move);
        break;
      case ReshapeStep::Kind::Exchange:
        x = or_stop(all_to_all(x, static_cast<int64_t>(move.axis), joined,
                               prepared.reshape_groups[i], end(), node(step.node).name));
        break;
      case ReshapeStep::Kind::Concat:
        x = or_stop(
            all_concatenated(x, joined, prepared.reshape_groups[i], end(), node(step.node).name));
        break;
    }
  }
  x = x.reshape(step.reshape.local);
  for (const ReshapeStep& move : step.reshape.after) x = narrowed(x, move);
  return x;
}

at::Tensor Executor::shifted(const Step& step, const Prepared& prepared,
                             const at::Tensor& x) const {
  const Node& of = node(step.node);
  const auto along = static_cast<int64_t>(of.shape.axis(of.attributes.dim));
  const int64_t block = x.size(along), n = prepared.parts;
  std::vector<at::Tensor> parts;
  for (const ShiftPart& part : shift_parts(of.attributes.count, block)) {
    const at::Tensor mine = x.narrow(along, part.from, part.size);
    const int64_t to = peer_at(prepared.coordinate, part.blocks, n, of.attributes.wrap);
    const int64_t from = peer_at(prepared.coordinate, -part.blocks, n, of.attributes.wrap);
    if (part.blocks % n == 0 || n == 1) {
      // The part stays on this device, or leaves the mesh if there is only one.
      parts.push_back(from >= 0 ? mine : at::zeros(mine.sizes(), mine.options()));
    } else {
      parts.push_back(or_stop(exchanged(mine, to, from, prepared.group, end(), of.name)));
    }
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, along);
}

at::Tensor Executor::one_hot(const Step& step, const Prepared& prepared,
                             const at::Tensor& indices) const {
  const Node& of = node(step.node);
  const int64_t begin = prepared.begin.back(), depth = step.local.back();
  const at::Tensor places = at::arange(
      begin, begin + depth, at::TensorOptions().dtype(at::kLong).device(variables_.device()));
  return at::eq(indices.unsqueeze(-1), places).to(stored_type(of.dtype, variables_.device()));
}

at::Tensor Executor::gather(const Step& step, const Prepared& prepared, const at::Tensor& table,
                            const at::Tensor& indices) const {
  const Node& of = node(step.node);
  const auto along = static_cast<int64_t>(node(of.inputs[0]).shape.axis(of.attributes.dim));
  const int64_t rows = table.size(along), begin = prepared.coordinate * rows;
  const at::Tensor by_row = along == 0 ? table : table.movedim(along, 0);
  const at::Tensor local = indices.reshape({-1}).sub(begin);
  if (prepared.parts == 1) return at::index_select(by_row, 0, local).reshape(step.local);
  // Rows of other devices are zero here; the pending sum adds them.
  const at::Tensor mine = local.ge(0).logical_and(local.lt(rows));
  at::Tensor found = at::index_select(by_row, 0, local.clamp(0, rows - 1));
  std::vector<int64_t> mask(static_cast<size_t>(found.dim()), 1);
  mask[0] = -1;
  return found.mul(mine.to(found.scalar_type()).view(mask)).reshape(step.local);
}

at::Tensor Executor::scatter_add(const Step& step, const Prepared& prepared, const at::Tensor& dy,
                                 const at::Tensor& indices) const {
  const Node& of = node(step.node);
  const auto along = static_cast<int64_t>(of.shape.axis(of.attributes.dim));
  std::vector<int64_t> by_row = step.local;
  const int64_t rows = by_row[static_cast<size_t>(along)];
  by_row.erase(by_row.begin() + along);
  by_row.insert(by_row.begin(),
                rows + 1);  // the last row collects contributions to other devices' rows
  const at::Tensor local = indices.reshape({-1}).sub(prepared.coordinate * rows);
  const at::Tensor mine = local.ge(0).logical_and(local.lt(rows));
  at::Tensor sum = at::zeros(by_row, dy.options());
  std::vector<int64_t> flat = by_row;
  flat[0] = -1;
  sum.index_add_(0, at::where(mine, local, rows), dy.reshape(flat));
  return sum.narrow(0, 0, rows).movedim(0, along);
}

at::Tensor Executor::top_k(const Step& step, const Prepared& prepared, const at::Tensor& x) const {
  const Node& of = node(step.node);
  const auto along = static_cast<int64_t>(node(of.inputs[0]).shape.axis(of.attributes.dim));
  const int64_t k = of.attributes.count;
  const auto largest = [&](const at::Tensor& values, int64_t count) {
    // A stable sort: ties go to the lowest index under every layout.
    auto [sorted, order] = at::sort(values, /*stable=*/true, along, /*descending=*/true);
    return std::pair(sorted.narrow(along, 0, count), order.narrow(along, 0, count));
  };
  auto [values, indices] = largest(x, std::min(k, x.size(along)));
  if (prepared.parts == 1) return indices.contiguous();
  indices = indices.add(prepared.coordinate * x.size(along));
  const at::Tensor all_values =
      or_stop(all_concatenated(values, along, prepared.group, end(), of.name));
  const at::Tensor all_indices =
      or_stop(all_concatenated(indices, along, prepared.group, end(), of.name));
  return at::gather(all_indices, along, largest(all_values, k).second);
}

}  // namespace goban::train::mesh
