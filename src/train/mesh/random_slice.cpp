#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <cmath>
#include <numbers>

#include "train/mesh/kernels.hpp"

namespace goban::train::mesh {
namespace {

uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// The k-th draw of element `index`, uniform in [0, 1) with 24 bits (exact in fp32).
float uniform(uint64_t seed, uint64_t index, uint64_t k) {
  const uint64_t bits = mixed(mixed(seed + 0x9e3779b97f4a7c15ULL * (index + 1)) + k);
  return static_cast<float>(bits >> 40) * 0x1.0p-24F;
}

/// Box-Muller; only one of the pair is used, so elements are independent of their neighbours.
float normal(uint64_t seed, uint64_t index, uint64_t k) {
  const double u = 1.0 - static_cast<double>(uniform(seed, index, 2 * k));
  const double v = static_cast<double>(uniform(seed, index, 2 * k + 1));
  return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v));
}

float draw(Distribution distribution, uint64_t seed, uint64_t index) {
  switch (distribution) {
    case Distribution::Uniform:
      return uniform(seed, index, 0);
    case Distribution::Normal:
      return normal(seed, index, 0);
    case Distribution::TruncatedNormal:
      for (uint64_t k = 0;; ++k) {
        const float z = normal(seed, index, k);
        if (std::abs(z) < 2.0F) return z;
      }
  }
  return 0;
}

}  // namespace

uint64_t mix_seed(uint64_t seed, const std::string& text) {
  uint64_t hash = seed ^ 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mixed(hash);
}

at::Tensor uniform_slice_by_tensors(uint64_t seed, const Shape& whole,
                                    std::span<const int64_t> begin, std::span<const int64_t> local,
                                    c10::Device device) {
  at::Tensor index = at::zeros({}, at::TensorOptions().dtype(at::kLong).device(device));
  for (size_t d = 0; d < whole.rank(); ++d) {
    const at::Tensor along = at::arange(begin[d], begin[d] + local[d], index.options());
    index = index.mul(whole[d].size).unsqueeze(-1).add(along);
  }
  // As mixed(), with signed 64-bit integers: sums and products wrap, and shifts mask off the copied
  // sign bits.
  const auto shifted = [](const at::Tensor& z, int64_t by) {
    return z.bitwise_right_shift(by).bitwise_and((int64_t{1} << (64 - by)) - 1);
  };
  const auto as_signed = [](uint64_t x) { return static_cast<int64_t>(x); };
  const auto mixed_all = [&](at::Tensor z) {
    z = z.bitwise_xor(shifted(z, 30)).mul(as_signed(0xbf58476d1ce4e5b9ULL));
    z = z.bitwise_xor(shifted(z, 27)).mul(as_signed(0x94d049bb133111ebULL));
    return z.bitwise_xor(shifted(z, 31));
  };
  const at::Tensor start = index.add(1).mul(as_signed(0x9e3779b97f4a7c15ULL)).add(as_signed(seed));
  return shifted(mixed_all(mixed_all(start)), 40).to(at::kFloat).mul(0x1.0p-24);
}

at::Tensor random_slice(Distribution distribution, uint64_t seed, const Shape& whole,
                        std::span<const int64_t> begin, std::span<const int64_t> local,
                        c10::Device device) {
  if (!device.is_cpu()) {
    if (distribution == Distribution::Uniform) {
      return uniform_slice_by_tensors(seed, whole, begin, local, device);
    }
    return random_slice(distribution, seed, whole, begin, local).to(device);
  }
  at::Tensor out = at::empty(at::IntArrayRef(local.data(), local.size()), at::kFloat);
  auto* data = out.data_ptr<float>();
  const size_t rank = whole.rank();
  std::vector<int64_t> at_index(rank, 0);
  const int64_t count = out.numel();
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = 0;
    for (size_t d = 0; d < rank; ++d) index = index * whole[d].size + begin[d] + at_index[d];
    data[i] = draw(distribution, seed, static_cast<uint64_t>(index));
    for (size_t d = rank; d-- > 0;) {
      if (++at_index[d] < local[d]) break;
      at_index[d] = 0;
    }
  }
  return out;
}

}  // namespace goban::train::mesh
