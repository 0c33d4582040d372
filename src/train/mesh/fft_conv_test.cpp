// Convolutions by Fourier transform, compared with direct ones in fp64.
#include "train/mesh/fft_conv.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/sin.h>
#include <gtest/gtest.h>

namespace goban::train::mesh {
namespace {

struct Direct {
  at::Tensor y, filter_gradient;
};

at::Tensor noise(at::IntArrayRef sizes, int64_t seed) {
  const int64_t count = c10::multiply_integers(sizes);
  const at::Tensor places = at::arange(count, at::kDouble).add(static_cast<double>(seed) * 0.37);
  return at::sin(places.mul(1.7).add(at::sin(places.mul(0.31)).mul(3))).reshape(sizes);
}

Direct direct(const ConvSizes& s, const at::Tensor& x, const at::Tensor& filter,
              const at::Tensor& dy) {
  const at::Tensor image = x.permute({0, 3, 1, 2}), kernel = filter.permute({3, 2, 0, 1});
  const at::Tensor y = at::conv2d(image, kernel, {}, {1, 1}, {s.pad_h, s.pad_w});
  const auto back =
      at::convolution_backward(dy.permute({0, 3, 1, 2}), image, kernel, c10::nullopt, {1, 1},
                               {s.pad_h, s.pad_w}, {1, 1}, false, {0, 0}, 1, {false, true, false});
  return {y.permute({0, 2, 3, 1}), std::get<1>(back).permute({2, 3, 1, 0})};
}

double worst(const at::Tensor& got, const at::Tensor& wanted) {
  const at::Tensor gap = at::abs(got.to(at::kDouble) - wanted);
  return (gap.max() / at::abs(wanted).max()).item<double>();
}

TEST(FftConv, EqualsADirectConvolution) {
  // Same and valid padding, several channel groups, transforms of 8, 16, 32 and 64 points, odd
  // rows.
  const std::vector<ConvSizes> all = {
      {5, 28, 28, 16, 9, 9, 16, 4, 4}, {9, 15, 15, 16, 9, 9, 16, 0, 0},
      {1, 7, 11, 32, 3, 5, 16, 1, 2},  {2, 36, 20, 16, 9, 9, 32, 0, 4},
      {3, 5, 5, 16, 5, 5, 16, 2, 2},   {10, 28, 28, 16, 1, 1, 16, 0, 0},
      {1, 33, 60, 16, 7, 3, 16, 3, 1}, {6, 6, 6, 48, 5, 5, 16, 4, 4},
  };
  for (const ConvSizes& s : all) {
    SCOPED_TRACE(s.height * 1000 + s.width);
    const at::Tensor x = noise({s.images, s.height, s.width, s.in}, 1);
    const at::Tensor filter = noise({s.filter_h, s.filter_w, s.in, s.out}, 2);
    const at::Tensor dy = noise({s.images, s.out_height(), s.out_width(), s.out}, 3);
    const Direct wanted = direct(s, x, filter, dy);
    EXPECT_LT(worst(fft_conv(s, x.to(at::kFloat), filter.to(at::kFloat)), wanted.y), 2e-6);
    EXPECT_LT(
        worst(fft_conv_filter(s, dy.to(at::kFloat), x.to(at::kFloat)), wanted.filter_gradient),
        2e-6);
  }
}

TEST(FftConv, PaysForLargeFiltersOnly) {
  EXPECT_TRUE(fft_conv_pays({10, 28, 28, 16, 9, 9, 16, 4, 4}, at::kFloat));
  EXPECT_FALSE(fft_conv_pays({10, 28, 28, 16, 3, 3, 16, 1, 1}, at::kFloat));
  EXPECT_FALSE(fft_conv_pays({10, 28, 28, 1, 9, 9, 16, 4, 4}, at::kFloat));
  EXPECT_FALSE(fft_conv_pays({10, 28, 28, 16, 9, 9, 16, 4, 4}, at::kDouble));
  EXPECT_FALSE(fft_conv_pays({10, 70, 70, 16, 9, 9, 16, 4, 4}, at::kFloat));
}

}  // namespace
}  // namespace goban::train::mesh
