// The part `edf` against the published plan that it follows (study/rivals), which was checked line
// by line against its artifact.
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "base/random.hpp"
#include "core/policy/size/gpu_plan.hpp"
#include "study/rivals/elastic_plan.hpp"
#include "study/rivals/elasticflow.hpp"

namespace goban::study::rivals {
namespace {

using core::model::SpeedLevel;
using core::policy::GpuPlan;

/// Both plans get the same jobs. They are compared up to the first job whose end falls on a time
/// that the plan has already: there the artifact overwrites what is planned
/// (docs/studies/rivals.md).
size_t compare(uint64_t seed) {
  base::Random random(seed);
  const auto gpus = static_cast<int32_t>(8 + 8 * random.below(16));
  const double now_s = static_cast<double>(random.below(100'000));
  const auto slot_ns = base::from_seconds(kElasticSlotS);
  ElasticPlan published(now_s, gpus);
  GpuPlan ours(base::from_seconds(now_s), gpus, slot_ns);
  std::set<double> taken{now_s};
  const uint64_t jobs = 2 + random.below(12);
  for (uint64_t i = 0; i < jobs; ++i) {
    ElasticLevels levels;
    std::vector<SpeedLevel> mine;
    double rate = 0.5 + random.uniform() * 20;
    const int32_t most = std::min<int32_t>(gpus, 1 << random.below(7));
    for (int32_t n = 1; n <= most; n *= 2) {
      levels.rates.emplace_back(n, rate);
      mine.push_back({n, rate});
      rate *= 1.05 + 0.9 * random.uniform();
    }
    const double left = 1000 + random.uniform() * 400'000;
    const PlannedJob wanted = published.add(levels, left);
    const GpuPlan::Planned got = ours.add(mine, left);
    EXPECT_EQ(got.gpus_now, wanted.gpus_now) << "seed " << seed << ", job " << i;
    const double end_s = base::to_seconds(got.end_ns);
    EXPECT_LE(end_s, wanted.end_s + 1e-6) << "seed " << seed << ", job " << i;
    EXPECT_GT(end_s, wanted.end_s - 1 - 1e-6) << "the artifact rounds up to a second";
    const double slot_end_s =
        now_s + std::ceil((wanted.end_s - now_s) / kElasticSlotS) * kElasticSlotS;
    if (!taken.insert(slot_end_s).second) return i + 1;
  }
  return jobs;
}

TEST(EdfPart, PlansAsElasticFlowWhereItKeepsItsOwnRules) {
  size_t compared = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) compared += compare(seed);
  EXPECT_GT(compared, 6'000u) << "several jobs of each plan are compared";
}

}  // namespace
}  // namespace goban::study::rivals
