#include "serve/daemon/score_evidence.hpp"

#include <gmock/gmock.h>

namespace goban::serve::daemon {
namespace {

using core::knowledge::TimeSource;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kApplication = 7;

/// Two GPUs for 100 s; 200 steps of 0.4 and 0.2 s.
live::controller::LiveJob gang() {
  live::controller::LiveJob job;
  job.spec.owner.uid = 1001;
  job.spec.app_class = 1;
  job.result = live::controller::JobResult::Completed;
  live::controller::PastRun run{.run = 1, .start_ns = base::kSecond, .end_ns = 101 * base::kSecond};
  run.gpus = {core::model::GpuId(3U), core::model::GpuId(5U)};
  run.ranks = {{.rank = 0, .ranks = 2, .steps = 200, .busy_s = 80, .wait_s = 5},
               {.rank = 1, .ranks = 2, .steps = 200, .busy_s = 40, .wait_s = 45}};
  job.past = {run};
  return job;
}

live::controller::LiveJob single() {
  live::controller::LiveJob job = gang();
  job.past[0].gpus.pop_back();
  job.past[0].ranks.clear();
  job.progress.step = 500;
  return job;
}

TEST(ScoreEvidence, EachRankSpeaksOfItsGpu) {
  const auto runs = evidence_of(gang(), kApplication);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].source, TimeSource::RankCompute);
  EXPECT_EQ(runs[0].user, 1001U);
  EXPECT_EQ(runs[0].application, kApplication);
  EXPECT_EQ(runs[0].app_class.value, 1);
  EXPECT_THAT(runs[0].gpus, ElementsAre(core::model::GpuId(3U), core::model::GpuId(5U)));
  EXPECT_THAT(runs[0].step_s, ElementsAre(0.4, 0.2));
  EXPECT_FALSE(runs[0].shared);
}

TEST(ScoreEvidence, WhatCannotBeSaysNothing) {
  const auto says = [](const std::function<void(live::controller::LiveJob&)>& change) {
    live::controller::LiveJob job = gang();
    change(job);
    return evidence_of(job, kApplication);
  };
  EXPECT_THAT(says([](auto& job) { job.past[0].ranks[0].busy_s = 120; }), IsEmpty())
      << "longer than the run took by the daemon's clock";
  EXPECT_THAT(says([](auto& job) { job.past[0].ranks[1].busy_s = 1; }), IsEmpty());
  EXPECT_THAT(says([](auto& job) { job.past[0].ranks[1].steps = 9; }), IsEmpty());
  EXPECT_THAT(says([](auto& job) { job.past[0].ranks.pop_back(); }), IsEmpty());
  EXPECT_THAT(says([](auto& job) { job.past[0].ranks[1].rank = 0; }), IsEmpty());
  EXPECT_THAT(says([](auto& job) { job.past[0].start_ns = -1; }), IsEmpty());
  EXPECT_THAT(says([](auto& job) { job.spec.resource_type = "half"; }), IsEmpty());
  EXPECT_THAT(evidence_of(gang(), 0), IsEmpty()) << "the application is unknown";
}

TEST(ScoreEvidence, AloneMeansAllTheTime) {
  live::controller::LiveJob job = gang();
  job.past[0].shared = true;
  EXPECT_TRUE(evidence_of(job, kApplication)[0].shared);
}

TEST(ScoreEvidence, ProgressSpeaksOfOneGpuAndComparesWithItsLike) {
  const auto runs = evidence_of(single(), kApplication);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].source, TimeSource::Progress);
  EXPECT_NE(runs[0].application, kApplication);
  EXPECT_THAT(runs[0].step_s, ElementsAre(0.2));
  live::controller::LiveJob failed = single();
  failed.result = live::controller::JobResult::Failed;
  EXPECT_THAT(evidence_of(failed, kApplication), IsEmpty());
  live::controller::LiveJob wide = single();
  wide.past[0].gpus = gang().past[0].gpus;
  EXPECT_THAT(evidence_of(wide, kApplication), IsEmpty()) << "an all-reduce hides the slow rank";
}

}  // namespace
}  // namespace goban::serve::daemon
