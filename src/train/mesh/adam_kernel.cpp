#include "train/mesh/adam_kernel.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/sqrt.h>
#include <array>
#include <cmath>

#include "train/mesh/matmul.hpp"

namespace goban::train::mesh {
namespace {

struct Factors {
  float beta1, rest1, beta2, rest2, epsilon, rate, decay;
};

// One body compiled for three vector widths. Without fused multiply-add, all have the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void update_range(float* __restrict w, float* __restrict m, float* __restrict v,
                  const float* __restrict g, int64_t count, const Factors& given) {
  const Factors f = given;
  for (int64_t i = 0; i < count; ++i) {
    m[i] = f.beta1 * m[i] + f.rest1 * g[i];
    v[i] = f.beta2 * v[i] + f.rest2 * (g[i] * g[i]);
    w[i] -= f.rate * (m[i] / (std::sqrt(v[i]) + f.epsilon) + f.decay * w[i]);
  }
}

bool plain(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous();
}

}  // namespace

void adam_update(at::Tensor& w, at::Tensor& m, at::Tensor& v, const at::Tensor& gradient,
                 const AdamRule& rule) {
  const double rest1 = 1 - rule.beta1, rest2 = 1 - rule.beta2;
  if (own_kernels_used() && plain(w) && plain(m) && plain(v) && gradient.is_cpu()) {
    const at::Tensor g = gradient.to(at::kFloat).contiguous();
    const auto f = [](double x) { return static_cast<float>(x); };
    const Factors factors = {f(rule.beta1),   f(rest1),     f(rule.beta2), f(rest2),
                             f(rule.epsilon), f(rule.rate), f(rule.decay)};
    auto *const pw = w.data_ptr<float>(), *const pm = m.data_ptr<float>(),
                *const pv = v.data_ptr<float>();
    const float* const pg = g.data_ptr<float>();
    constexpr int64_t kGrain = 1 << 16;
    at::parallel_for(0, w.numel(), kGrain, [&](int64_t begin, int64_t end) {
      update_range(pw + begin, pm + begin, pv + begin, pg + begin, end - begin, factors);
    });
    return;
  }
  const at::Tensor g = gradient.to(m.scalar_type());
  m.mul_(rule.beta1).add_(g, rest1);
  v.mul_(rule.beta2).addcmul_(g, g, rest2);
  const at::Tensor divisor = at::sqrt(v).add_(rule.epsilon);
  if (w.scalar_type() == m.scalar_type()) {
    if (rule.decay != 0) w.mul_(1 - rule.rate * rule.decay);
    w.addcdiv_(m, divisor, -rule.rate);
    return;
  }
  at::Tensor change = at::div(m, divisor);
  if (rule.decay != 0) change.add_(w.to(change.scalar_type()), rule.decay);
  w.sub_(change.mul_(rule.rate).to(w.scalar_type()));
}

}  // namespace goban::train::mesh
