// The kernels that dominate training steps, compared with those of the tensor library: products of
// matrices, and the convolution of the MNIST model. One thread, the minimum of many runs.
//
//   OPENBLAS_NUM_THREADS=1 kernel_bench [SECONDS_EACH]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "train/mesh/fft_conv.hpp"
#include "train/mesh/matmul.hpp"

namespace {

using namespace goban::train::mesh;
using Clock = std::chrono::steady_clock;

double least_us(double seconds, const std::function<void()>& work) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  double least = 1e30;
  while (Clock::now() < until) {
    const auto begin = Clock::now();
    work();
    least =
        std::min(least, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  return least;
}

void products(double seconds) {
  struct Sizes {
    int64_t m, k, n;
  };
  constexpr std::array<Sizes, 4> kSizes = {
      {{1024, 1024, 1024}, {250, 784, 512}, {10, 784, 512}, {10, 512, 512}}};
  std::printf("| product of m x k by k x n, fp32 | tensor library GF/s | ours GF/s | ratio |\n");
  std::printf("|-|-:|-:|-:|\n");
  for (const auto& [m, k, n] : kSizes) {
    const at::Tensor a = at::randn({m, k});
    const at::Tensor b = at::randn({k, n});
    at::Tensor out = at::empty({m, n});
    const double theirs = least_us(seconds, [&] { at::mm_out(out, a, b); });
    const double ours = least_us(seconds, [&] { out = matrix_product(a, b); });
    const double kflop = 2e-3 * static_cast<double>(m * k * n);
    std::printf("| %ld x %ld by %ld x %ld | %.0f | %.0f | %.2f |\n", m, k, k, n, kflop / theirs,
                kflop / ours, theirs / ours);
  }
}

void convolutions(double seconds) {
  std::printf(
      "\n| 9 x 9 convolution, 16 to 16 channels, 28 x 28 | direct us | Fourier us | ratio |\n");
  std::printf("|-|-:|-:|-:|\n");
  for (const int64_t images : {10, 250}) {
    const ConvSizes sizes{images, 28, 28, 16, 9, 9, 16, 4, 4};
    const at::Tensor x = at::randn({images, 28, 28, 16});
    const at::Tensor filter = at::randn({9, 9, 16, 16});
    const at::Tensor their_x = x.permute({0, 3, 1, 2}).contiguous();
    const at::Tensor their_filter = filter.permute({3, 2, 0, 1}).contiguous();
    at::Tensor out;
    const double direct = least_us(
        seconds, [&] { out = at::conv2d(their_x, their_filter, {}, 1, at::IntArrayRef({4, 4})); });
    const double fourier = least_us(seconds, [&] { out = fft_conv(sizes, x, filter); });
    std::printf("| batch %ld | %.0f | %.0f | %.1f |\n", images, direct, fourier, direct / fourier);
  }
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  const at::NoGradGuard no_gradients;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  products(seconds);
  convolutions(seconds);
  return 0;
}
