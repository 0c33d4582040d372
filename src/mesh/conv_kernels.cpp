// Convolutions on one device. Tensors are channels last; the library wants channels first: a change
// of strides, not a copy.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>

#include "mesh/kernels.hpp"

namespace goban::mesh {
namespace {

/// One spatial dimension is computed as two, of which the first is 1.
size_t spatial_rank(const Attributes& a) { return std::max<size_t>(a.pads.size(), 2); }

std::vector<int64_t> pads_of(const Attributes& a) {
  std::vector<int64_t> pads = a.pads;
  pads.insert(pads.begin(), spatial_rank(a) - pads.size(), 0);
  return pads;
}

/// [..., spatial..., channels] as [n, channels, spatial...].
at::Tensor to_channels_first(const at::Tensor& x, const Attributes& a) {
  const auto kept = static_cast<int64_t>(a.pads.size()) + 1;
  std::vector<int64_t> sizes(spatial_rank(a) - a.pads.size(), 1);
  sizes.insert(sizes.begin(), -1);
  for (int64_t i = x.dim() - kept; i < x.dim(); ++i) sizes.push_back(x.size(i));
  return x.reshape(sizes).movedim(-1, 1);
}

at::Tensor from_channels_first(const at::Tensor& x, at::IntArrayRef like) {
  return x.movedim(1, -1).reshape(like);
}

/// [sizes..., in, out] as [out, in, sizes...], channels last in memory as the images are: with
/// mixed forms the library copies images instead of this.
at::Tensor to_filter(const at::Tensor& filter, const Attributes& a) {
  std::vector<int64_t> sizes(spatial_rank(a) - a.pads.size(), 1);
  sizes.insert(sizes.end(), filter.sizes().begin(), filter.sizes().end());
  const at::Tensor turned = filter.reshape(sizes).movedim({-1, -2}, {0, 1});
  return turned.contiguous(a.pads.size() == 3 ? at::MemoryFormat::ChannelsLast3d
                                              : at::MemoryFormat::ChannelsLast);
}

std::vector<int64_t> per_dimension(const Attributes& a, int64_t value) {
  return std::vector<int64_t>(spatial_rank(a), value);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& dy, const at::Tensor& x,
                                                        const at::Tensor& filter,
                                                        const Attributes& a,
                                                        std::array<bool, 3> wanted) {
  return at::convolution_backward(dy, x, filter, c10::nullopt, per_dimension(a, a.stride),
                                  pads_of(a), per_dimension(a, 1), false, per_dimension(a, 0), 1,
                                  wanted);
}

}  // namespace

at::Tensor conv_kernel(const at::Tensor& x, const at::Tensor& filter, const Attributes& a,
                       at::IntArrayRef like) {
  const at::Tensor y =
      at::convolution(to_channels_first(x, a), to_filter(filter, a), {}, per_dimension(a, a.stride),
                      pads_of(a), per_dimension(a, 1), false, per_dimension(a, 0), 1);
  return from_channels_first(y, like);
}

at::Tensor conv_input_kernel(const at::Tensor& dy, const at::Tensor& filter, const Attributes& a,
                             at::IntArrayRef like) {
  const at::Tensor sizes_only = at::empty(like, dy.options());
  const auto grads = backward(to_channels_first(dy, a), to_channels_first(sizes_only, a),
                              to_filter(filter, a), a, {true, false, false});
  return from_channels_first(std::get<0>(grads), like);
}

at::Tensor conv_filter_kernel(const at::Tensor& dy, const at::Tensor& x, const Attributes& a,
                              at::IntArrayRef like) {
  const at::Tensor sizes_only = at::empty(like, dy.options());
  const auto grads = backward(to_channels_first(dy, a), to_channels_first(x, a),
                              to_filter(sizes_only, a), a, {false, true, false});
  return std::get<1>(grads).movedim({0, 1}, {-1, -2}).reshape(like);
}

}  // namespace goban::mesh
