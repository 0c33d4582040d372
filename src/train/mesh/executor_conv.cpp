// The executor's convolutions of images that are split into blocks over devices.
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <algorithm>

#include "train/mesh/collective_tensor.hpp"
#include "train/mesh/executor.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/shift_parts.hpp"

namespace goban::train::mesh {
namespace {

/// [..., row_blocks, col_blocks, rows, cols, c] as [n, height, width, c]; a view if possible.
at::Tensor put_together(const at::Tensor& x) {
  const int64_t n = x.dim();
  const at::Tensor rows_first = x.transpose(n - 4, n - 3);
  return rows_first.reshape(
      {-1, x.size(n - 5) * x.size(n - 3), x.size(n - 4) * x.size(n - 2), x.size(n - 1)});
}

/// The inverse of put_together: blocks of the sizes `local`. A view.
at::Tensor cut(const at::Tensor& images, std::vector<int64_t> local) {
  const auto n = static_cast<int64_t>(local.size());
  std::swap(local[static_cast<size_t>(n - 4)], local[static_cast<size_t>(n - 3)]);
  return images.view(local).transpose(n - 4, n - 3);
}

/// Drops the zero padding of directions in which with_halo adds margins.
Attributes without_margins(Attributes attributes, const TensorLayout& layout,
                           const MeshShape& mesh) {
  const auto split = [&](size_t from_end) {
    const int axis = layout[layout.size() - from_end];
    return axis != kWhole && mesh.axes()[static_cast<size_t>(axis)].size > 1;
  };
  if (split(5)) attributes.pads[0] = 0;
  if (split(4)) attributes.pads[1] = 0;
  return attributes;
}

}  // namespace

at::Tensor Executor::with_halo(const Step& step, const Prepared& prepared,
                               const at::Tensor& x) const {
  const Node& of = node(step.node);
  at::Tensor images = put_together(x);
  for (const size_t way : {size_t{0}, size_t{1}}) {
    const comm::Group& group = prepared.reshape_groups[way];
    const int64_t margin = of.attributes.pads[way];
    const auto parts = static_cast<int64_t>(group.size());
    if (parts == 1 || margin == 0) continue;
    const auto along = static_cast<int64_t>(1 + way);
    const int64_t length = images.size(along);
    const auto coordinate = static_cast<int64_t>(group.index_of(plan_.rank));
    std::vector<at::Tensor> before, after;  // nearest first
    int64_t missing = margin;
    for (const HaloPart& part : halo_parts(length, margin, parts)) {
      const int64_t next = peer_at(coordinate, part.devices, parts, false);
      const int64_t last = peer_at(coordinate, -part.devices, parts, false);
      const at::Tensor end_part = images.narrow(along, length - part.size, part.size);
      const at::Tensor start_part = images.narrow(along, 0, part.size);
      before.push_back(or_stop(exchanged(end_part, next, last, group, end(), of.name)));
      after.push_back(or_stop(exchanged(start_part, last, next, group, end(), of.name)));
      missing -= part.size;
    }
    if (missing > 0) {
      std::vector<int64_t> sizes = images.sizes().vec();
      sizes[1 + way] = missing;
      before.push_back(at::zeros(sizes, images.options()));
      after.push_back(before.back());
    }
    std::reverse(before.begin(), before.end());
    before.push_back(images);
    before.insert(before.end(), after.begin(), after.end());
    images = at::cat(before, along);
  }
  return images;
}

at::Tensor Executor::block_conv(const Step& step, const at::Tensor& images,
                                const at::Tensor& filter) const {
  const Attributes used = without_margins(node(step.node).attributes, step.layout, plan_.mesh);
  return cut(block_conv_kernel(images, filter, used), step.local);
}

at::Tensor Executor::block_conv_filter(const Step& step, const at::Tensor& dy,
                                       const at::Tensor& images) const {
  const Node& of = node(step.node);
  const TensorLayout layout = plan_.rules.layout_of(node(of.inputs[0]).shape, plan_.mesh);
  const Attributes used = without_margins(of.attributes, layout, plan_.mesh);
  return conv_filter_kernel(put_together(dy), images, used, step.local);
}

}  // namespace goban::train::mesh
