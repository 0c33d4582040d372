// Convolutions with large filters on the CPU by the discrete Fourier transform. For the 9 x 9
// filters of the MNIST model this takes a tenth of the multiplications of a direct convolution.
// Channels fill the vector lanes; everything else loops around them. Transform: T. G. Stockham's
// self-sorting form, radix 4.
#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>

namespace goban::train::mesh {

/// A convolution with stride 1 of images [n, height, width, in] with a filter
/// [filter_h, filter_w, in, out]: y[u] = sum over k of x[u + k - pad] filter[k], zeros outside.
struct ConvSizes {
  int64_t images, height, width, in, filter_h, filter_w, out, pad_h, pad_w;
  [[nodiscard]] int64_t out_height() const { return height + 2 * pad_h - filter_h + 1; }
  [[nodiscard]] int64_t out_width() const { return width + 2 * pad_w - filter_w + 1; }
};

/// True if the transform is supported and expected to be faster than a direct convolution: fp32, a
/// multiple of 16 channels, images up to 64 including margins.
[[nodiscard]] bool fft_conv_pays(const ConvSizes& sizes, at::ScalarType type);

/// y [n, out_height, out_width, out] of contiguous x and filter.
[[nodiscard]] at::Tensor fft_conv(const ConvSizes& sizes, const at::Tensor& x,
                                  const at::Tensor& filter);
/// The filter's gradient [filter_h, filter_w, in, out] of contiguous dy and x.
[[nodiscard]] at::Tensor fft_conv_filter(const ConvSizes& sizes, const at::Tensor& dy,
                                         const at::Tensor& x);

}  // namespace goban::train::mesh
