// Convolutions with large filters on the CPU, through the discrete Fourier transform: for the 9 x 9
// filters of the MNIST model a tenth of the multiplications of a direct convolution. Channels fill
// the lanes of a vector; everything else is a loop around that.
// Source of the transform: T. G. Stockham's self-sorting form, radix 4.
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

/// Whether the transform is expected to be faster than a direct convolution, and can be used: fp32,
/// channels in sixteens, images up to 64 with their margin.
[[nodiscard]] bool fft_conv_pays(const ConvSizes& sizes, at::ScalarType type);

/// y [n, out_height, out_width, out] of contiguous x and filter.
[[nodiscard]] at::Tensor fft_conv(const ConvSizes& sizes, const at::Tensor& x,
                                  const at::Tensor& filter);
/// The filter's gradient [filter_h, filter_w, in, out] of contiguous dy and x.
[[nodiscard]] at::Tensor fft_conv_filter(const ConvSizes& sizes, const at::Tensor& dy,
                                         const at::Tensor& x);

}  // namespace goban::train::mesh
