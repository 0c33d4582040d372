// Convolutions on one device. Tensors are channels last; LibTorch expects channels first, which is
// a change of strides and not a copy. Convolutions with large filters use the Fourier transform.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/flip.h>
#include <array>

#include "train/mesh/fft_conv.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/matmul.hpp"

namespace goban::train::mesh {
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

/// [sizes..., in, out] as [out, in, sizes...], channels last in memory like the images: with mixed
/// memory formats LibTorch copies the images.
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
  // With one output channel the strides of both memory formats are equal, and LibTorch confuses
  // them.
  const bool ambiguous = filter.size(0) == 1;
  const auto form = [&](const at::Tensor& t) { return ambiguous ? t.contiguous() : t; };
  return at::convolution_backward(form(dy), form(x), form(filter), c10::nullopt,
                                  per_dimension(a, a.stride), pads_of(a), per_dimension(a, 1),
                                  false, per_dimension(a, 0), 1, wanted);
}

/// [h, w, in, out] as the filter of the backward convolution, [h, w, out, in].
at::Tensor backwards(const at::Tensor& filter) { return at::flip(filter, {0, 1}).transpose(2, 3); }

ConvSizes sizes_of(at::IntArrayRef image, at::IntArrayRef filter,
                   const std::vector<int64_t>& pads) {
  const auto n = image.size();
  const int64_t pixels = image[n - 3] * image[n - 2] * image[n - 1];
  return {pixels == 0 ? 0 : c10::multiply_integers(image) / pixels,
          image[n - 3],
          image[n - 2],
          image[n - 1],
          filter[0],
          filter[1],
          filter[3],
          pads[0],
          pads[1]};
}

/// True if the Fourier transform is used; on the CPU only. For bf16, too: fp32 through the
/// transform is faster than bf16 directly, and more accurate.
bool transformed(const ConvSizes& sizes, const Attributes& a, const at::Tensor& x) {
  const at::ScalarType used = x.scalar_type() == at::kBFloat16 ? at::kFloat : x.scalar_type();
  return x.is_cpu() && own_kernels_used() && a.stride == 1 && fft_conv_pays(sizes, used);
}

at::Tensor plain(const at::Tensor& x) { return x.to(at::kFloat).contiguous(); }

}  // namespace

at::Tensor conv_kernel(const at::Tensor& x, const at::Tensor& filter, const Attributes& a,
                       at::IntArrayRef like) {
  if (a.pads.size() == 2) {
    const ConvSizes sizes = sizes_of(x.sizes(), filter.sizes(), a.pads);
    if (transformed(sizes, a, x)) {
      return fft_conv(sizes, plain(x), plain(filter)).to(x.scalar_type()).view(like);
    }
  }
  const at::Tensor y =
      at::convolution(to_channels_first(x, a), to_filter(filter, a), {}, per_dimension(a, a.stride),
                      pads_of(a), per_dimension(a, 1), false, per_dimension(a, 0), 1);
  return from_channels_first(y, like);
}

at::Tensor block_conv_kernel(const at::Tensor& images, const at::Tensor& filter,
                             const Attributes& attributes) {
  const at::Tensor used = attributes.flipped ? backwards(filter) : filter;
  const ConvSizes sizes = sizes_of(images.sizes(), used.sizes(), attributes.pads);
  const std::array<int64_t, 4> like = {sizes.images, sizes.out_height(), sizes.out_width(),
                                       sizes.out};
  return conv_kernel(images, used, attributes, like);
}

at::Tensor conv_input_kernel(const at::Tensor& dy, const at::Tensor& filter, const Attributes& a,
                             at::IntArrayRef like) {
  if (a.pads.size() == 2) {
    const at::Tensor turned = backwards(filter);
    const ConvSizes sizes =
        sizes_of(dy.sizes(), turned.sizes(),
                 {filter.size(0) - 1 - a.pads[0], filter.size(1) - 1 - a.pads[1]});
    if (transformed(sizes, a, dy)) {
      return fft_conv(sizes, plain(dy), plain(turned)).to(dy.scalar_type()).view(like);
    }
  }
  const at::Tensor sizes_only = at::empty(like, dy.options());
  const auto grads = backward(to_channels_first(dy, a), to_channels_first(sizes_only, a),
                              to_filter(filter, a), a, {true, false, false});
  return from_channels_first(std::get<0>(grads), like);
}

at::Tensor conv_filter_kernel(const at::Tensor& dy, const at::Tensor& x, const Attributes& a,
                              at::IntArrayRef like) {
  if (a.pads.size() == 2) {
    const ConvSizes sizes = sizes_of(x.sizes(), like, a.pads);
    if (transformed(sizes, a, x)) {
      return fft_conv_filter(sizes, plain(dy), plain(x)).to(x.scalar_type());
    }
  }
  const at::Tensor sizes_only = at::empty(like, dy.options());
  const auto grads = backward(to_channels_first(dy, a), to_channels_first(x, a),
                              to_filter(sizes_only, a), a, {false, true, false});
  return std::get<1>(grads).movedim({0, 1}, {-1, -2}).reshape(like);
}

}  // namespace goban::train::mesh
