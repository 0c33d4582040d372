#include "study/history/generate/series/shapes.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace goban::study::history {
namespace {

/// Hash of a key and a minute to [0, 2^64) (the mixing of SplitMix64).
uint64_t mixed(uint64_t key, int64_t minute) {
  return base::Random(key + static_cast<uint64_t>(minute) * 0x9e3779b97f4a7c15ULL)();
}

/// Maps the low 32 bits to [-0.5, 0.5).
double centred(uint64_t bits) { return static_cast<double>(bits & 0xffffffffULL) * 0x1p-32 - 0.5; }

uint16_t percent_of(double value) {
  return static_cast<uint16_t>(std::lround(std::clamp(value, 0.0, 100.0)));
}

// Figure 5a: about 95 % of the whole-node jobs use all four GPUs; 5b: about 88 % of the multi-node
// jobs use all. The distribution of the others is ours.
constexpr double kAllFour = 0.95;
constexpr double kThree = 0.01;
constexpr double kTwo = 0.015;
constexpr double kAllOfMany = 0.88;

int32_t used_gpus(base::Random& random, JobUse use, int32_t gpus) {
  const double luck = random.uniform();
  switch (use) {
    case JobUse::NoLearning:
      return 0;
    case JobUse::OneGpu:
      return gpus;
    case JobUse::OneNode:
      if (luck < kAllFour || gpus < 4) return gpus;
      return luck < kAllFour + kThree ? 3 : luck < kAllFour + kThree + kTwo ? 2 : 1;
    case JobUse::ManyNodes:
      if (luck < kAllOfMany) return gpus;
      return 1 + static_cast<int32_t>(random.below(static_cast<uint64_t>(gpus - 1)));
  }
  return gpus;
}

/// Mean utilisation of a job's used GPUs: Figure 6. One GPU: about uniform; four: few very low; two
/// or three: mostly low; several nodes: 60 % of the jobs above 80 %.
double job_level(base::Random& random, JobUse use, int32_t used, int32_t gpus) {
  const double u = random.uniform();
  if (use == JobUse::ManyNodes) {
    constexpr double kHighShare = 0.6;
    return u < kHighShare ? 82 + 17 * random.uniform() : 8 + 70 * random.uniform();
  }
  if (use == JobUse::OneGpu || used == 1) return 7 + 93 * u;
  if (used < gpus) return 8 + 92 * u * u;
  return 100 * std::pow(0.02 + 0.98 * u, 0.6);
}

/// Width of the range between GPUs: Figure 7, 75 % of the jobs within 10 points.
double spread_of(base::Random& random, JobUse use) {
  const double narrow = use == JobUse::ManyNodes ? 0.9 : 0.75;
  return random.uniform() < narrow ? 16 : 80;
}

}  // namespace

GpuShape::GpuShape(uint64_t key, Kind kind, double level) : key_(key), level_(level), kind_(kind) {
  base::Random random(key);
  constexpr uint64_t kPeriods = 36;
  period_ = 4 + static_cast<int64_t>(random.below(kPeriods));
  // The busy part of a period is long enough to keep its level below 100 %.
  const double share = std::max(0.3 + 0.6 * random.uniform(), level / 98);
  on_ = std::clamp<int64_t>(std::llround(share * static_cast<double>(period_)), 1, period_);
  on_level_ = std::min(98.0, level * static_cast<double>(period_) / static_cast<double>(on_));
  spike_ = static_cast<int64_t>(random.below(64));
}

ShapedSample GpuShape::at(int64_t minute) const {
  constexpr uint64_t kLuck = 2048;  // one of this number of samples is missing, and one is stale
  const uint64_t bits = mixed(key_, minute);
  const uint64_t luck = (bits >> 40) % kLuck;
  if (luck == 0) return {.missing = true};
  if (luck == 1) return {.stale = true};
  const double noise = centred(bits);
  switch (kind_) {
    case Kind::Idle:
      return {.percent = 0};
    case Kind::Spike:
      return {.percent = static_cast<uint16_t>(minute % 64 == spike_ ? 30 : 0)};
    case Kind::Steady:
      return {.percent = percent_of(level_ + 6 * noise)};
    case Kind::Epochs:
      return {.percent =
                  percent_of(minute % period_ < on_ ? on_level_ + 6 * noise : 3 + 4 * noise)};
    case Kind::Rough:
      return {.percent = percent_of(level_ + 40 * noise)};
  }
  return {};
}

std::vector<GpuShape> shapes_of_job(uint64_t seed, int64_t job, JobUse use, int32_t gpus) {
  base::Random random(seed * 0x100000001b3ULL + static_cast<uint64_t>(job));
  const int32_t used = used_gpus(random, use, gpus);
  const double level = job_level(random, use, used, gpus);
  const double spread = spread_of(random, use);
  const double kind_luck = random.uniform();
  const GpuShape::Kind kind = kind_luck < 0.5   ? GpuShape::Kind::Steady
                              : kind_luck < 0.8 ? GpuShape::Kind::Epochs
                                                : GpuShape::Kind::Rough;
  std::vector<GpuShape> shapes;
  shapes.reserve(static_cast<size_t>(gpus));
  for (int32_t gpu = 0; gpu < gpus; ++gpu) {
    const uint64_t key = random();
    if (gpu >= used) {
      constexpr uint64_t kSpikes = 10;  // one in ten unused GPUs has single busy samples
      const bool spike = key % kSpikes == 0;
      shapes.emplace_back(key, spike ? GpuShape::Kind::Spike : GpuShape::Kind::Idle, 0);
      continue;
    }
    const double offset = used > 1 ? (random.uniform() - 0.5) * spread : 0;
    shapes.emplace_back(key, kind, std::clamp(level + offset, 7.0, 99.0));
  }
  return shapes;
}

}  // namespace goban::study::history
