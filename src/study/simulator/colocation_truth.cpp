#include "study/simulator/colocation_truth.hpp"

#include <algorithm>
#include <array>

#include "base/portable_math.hpp"
#include "base/random.hpp"

namespace goban::study::simulator {

using core::model::Tenants;

namespace {

/// Slowdown per neighbour of a set that must never be co-located.
constexpr double kNever = 2;

/// Sum of twelve uniform numbers minus six: mean 0, standard deviation 1.
double nearly_normal(uint64_t seed) {
  base::Random random(seed);
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

}  // namespace

double ColocationTruth::error(const Tenants& tenants, const Tenants::Group& group,
                              size_t position) const {
  if (noise_ == 0) return 1;
  std::array<uint32_t, core::knowledge::kSetMax> apps{};
  for (size_t i = 0; i < group.jobs.size(); ++i) {
    apps[i] = tenants.traits(group.traits[i]).app.value;
  }
  const uint32_t mine = apps[position];
  std::sort(apps.begin(), apps.begin() + static_cast<std::ptrdiff_t>(group.jobs.size()));
  uint64_t hash = seed_ ^ (uint64_t{mine} << 32) ^ tenants.kind(group.kind).gpu_model;
  for (size_t i = 0; i < group.jobs.size(); ++i) hash = base::Random(hash ^ apps[i])();
  return base::portable_exp(noise_ * nearly_normal(hash));
}

double ColocationTruth::in_group(const Tenants& tenants, const Tenants::Group& group,
                                 core::model::JobId job) const {
  if (group.jobs.size() < 2) return 1;
  const auto position =
      static_cast<size_t>(std::ranges::find(group.jobs, job) - group.jobs.begin());
  std::array<core::model::AppId, core::knowledge::kSetMax> apps{};
  const size_t size = std::min(group.jobs.size(), apps.size());
  for (size_t i = 0; i < size; ++i) apps[i] = tenants.traits(group.traits[i]).app;
  const core::knowledge::SetPrediction set = predictor_.predict(
      knowledge_->gpu_types[tenants.kind(group.kind).gpu_model], {apps.data(), size});
  if (!set.packable()) return kNever * static_cast<double>(size - 1);
  return std::max(core::knowledge::kSlowdownMin,
                  set.mean[position] * error(tenants, group, position));
}

double ColocationTruth::by_neighbours(const Tenants& tenants, core::model::JobId job) const {
  double worst = 0;
  for (const core::model::GroupId id : tenants.groups_of(job)) {
    worst = std::max(worst, in_group(tenants, tenants.group(id), job));
  }
  return worst > 0 ? worst : 1;
}

double ColocationTruth::slowdown(const Tenants& tenants, core::model::JobId job) const {
  double worst = 0;
  for (const core::model::GroupId id : tenants.groups_of(job)) {
    const Tenants::Group& group = tenants.group(id);
    double factor = in_group(tenants, group, job);
    if (group.cap >= 0) {
      const uint32_t gpu_model = tenants.kind(group.kind).gpu_model;
      factor *= knowledge_->power[gpu_model].caps[static_cast<size_t>(group.cap)].time_factor;
    }
    worst = std::max(worst, factor);
  }
  return worst > 0 ? worst : 1;
}

}  // namespace goban::study::simulator
