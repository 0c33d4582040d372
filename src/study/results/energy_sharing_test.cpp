// Energy of random runs in which jobs share GPUs, nodes sleep and power is limited.
#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck.h>

#include "core/scheduler/test_sharing_run.hpp"
#include "study/results/energy_recorder.hpp"

namespace goban::study::results {
namespace {

/// Counts events that must occur for the property to be meaningful.
class Seen final : public simulator::Observer {
 public:
  void acted(TimeNs /*now*/, const core::model::Action& action,
             const core::scheduler::Core&) override {
    rests += action.kind == core::model::ActionKind::Rest ? 1 : 0;
    caps += action.kind == core::model::ActionKind::Cap && action.cap >= 0 ? 1 : 0;
  }
  int64_t rests = 0;
  int64_t caps = 0;
  int64_t shared = 0;
};

EnergyRecorder recorder_of(core::scheduler::SharingRun& run, Seen& seen) {
  return {run.history, *run.cluster, run.options.knowledge, run.composition.rests_nodes(), &seen};
}

TEST(EnergySharingProperty, JobsIdleAndTransitionsAreTheCluster) {
  Seen seen;
  EXPECT_TRUE(rc::check([&] {
    core::scheduler::SharingRun run =
        core::scheduler::draw_sharing_run(*rc::gen::arbitrary<uint64_t>(), {});
    RC_LOG() << run.composition.name << "\n";
    EnergyRecorder recorder = recorder_of(run, seen);
    const auto result = run.simulate(&recorder);
    if (!result) RC_FAIL(result.error().message);
    const core::knowledge::EnergyAccount& account = recorder.account();
    const double jobs = std::accumulate(account.job_j.begin(), account.job_j.end(), 0.0);
    for (const core::knowledge::EnergyTotals& totals : account.totals) {
      const double parts_j = jobs + totals.idle_j + totals.rest_j + totals.transition_j;
      RC_ASSERT(std::abs(parts_j - totals.cluster_j) <= 1e-9 * std::max(1.0, totals.cluster_j));
    }
    for (size_t i = 0; i < run.history.jobs.size(); ++i) RC_ASSERT(account.job_j[i] > 0);
    for (const simulator::SharedOutcome& each : result->shared) seen.shared += each.shared;
  }));
  // A hundred runs may have no power limit: others are added until all was seen.
  for (uint64_t seed = 0; seed < 1000 && seen.caps == 0; ++seed) {
    core::scheduler::SharingRun run = core::scheduler::draw_sharing_run(seed, {});
    EnergyRecorder recorder = recorder_of(run, seen);
    EXPECT_TRUE(run.simulate(&recorder).has_value());
  }
  EXPECT_GT(seen.shared, 0);
  EXPECT_GT(seen.rests, 0);
  EXPECT_GT(seen.caps, 0);
}

}  // namespace
}  // namespace goban::study::results
