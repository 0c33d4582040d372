// The overview of a period, computed by hand for four hours of one hour each.
#include "serve/api/overview.hpp"

#include <gmock/gmock.h>

namespace goban::serve::api {
namespace {

using base::kHour;
using live::controller::JobResult;
using live::controller::JobStage;
using live::controller::LiveJob;
using testing::ElementsAre;

/// From hour 10 to hour 14.
constexpr OverviewPeriod kPeriod{.from_ns = 10 * kHour, .to_ns = 14 * kHour, .num_steps = 4};

LiveJob job_of(uint32_t number, base::TimeNs submit_ns, int32_t num_gpus) {
  LiveJob job{.job = core::model::JobId(number), .submit_ns = submit_ns};
  job.spec.num_gpus = num_gpus;
  return job;
}

std::vector<core::model::GpuId> gpus(std::initializer_list<uint32_t> numbers) {
  std::vector<core::model::GpuId> out;
  for (const uint32_t number : numbers) out.emplace_back(number);
  return out;
}

TEST(Overview, CountsRunsWaitsAndEnds) {
  OverviewSums sums(kPeriod);
  // Ran from hour 9 to 11.5 on two GPUs, and ended.
  LiveJob ended = job_of(0, 8 * kHour, 2);
  ended.stage = JobStage::Done;
  ended.result = JobResult::Completed;
  ended.first_start_ns = 9 * kHour;
  ended.end_ns = 23 * kHour / 2;
  ended.past = {{.run = 1,
                 .start_ns = 9 * kHour,
                 .end_ns = ended.end_ns,
                 .gpus = gpus({0, 1}),
                 .usage = {.energy_j = 500}}};
  sums.add(ended);
  // Waited from hour 10 to 12, ran for an hour, was preempted, runs again since 13.5.
  LiveJob running = job_of(1, 10 * kHour, 1);
  running.stage = JobStage::Running;
  running.first_start_ns = 12 * kHour;
  running.past = {{.run = 1, .start_ns = 12 * kHour, .end_ns = 13 * kHour, .gpus = gpus({1})}};
  running.run_start_ns = 27 * kHour / 2;
  running.gpus = gpus({2});
  sums.add(running);
  // Shares GPU 2 with it: the GPU counts once.
  LiveJob sharing = job_of(2, 27 * kHour / 2, 1);
  sharing.stage = JobStage::Running;
  sharing.first_start_ns = sharing.run_start_ns = 27 * kHour / 2;
  sharing.gpus = gpus({2});
  sums.add(sharing);
  // Is not eligible before hour 13, and waits.
  LiveJob waiting = job_of(3, 9 * kHour, 8);
  waiting.spec.begin_ns = 13 * kHour;
  sums.add(waiting);
  // Ended before the period.
  LiveJob early = job_of(4, kHour, 4);
  early.stage = JobStage::Done;
  early.end_ns = 9 * kHour;
  sums.add(early);

  const Overview out = sums.take();
  EXPECT_THAT(out.held_gpus, ElementsAre(2, 1, 1, 0.5));
  EXPECT_THAT(out.waiting_jobs, ElementsAre(1, 1, 0, 1.5));
  EXPECT_THAT(out.waiting_gpus, ElementsAre(1, 1, 0, 8.5));
  EXPECT_EQ(out.submitted, 2);
  EXPECT_THAT(out.ended, ElementsAre(testing::Pair("completed", 1)));
  EXPECT_EQ(out.waits.jobs, 2U);
  EXPECT_DOUBLE_EQ(out.waits.p50_s, 3600);
  EXPECT_DOUBLE_EQ(out.waits.max_s, 7200);
  EXPECT_DOUBLE_EQ(out.gpu_hours, 4.5);
  EXPECT_DOUBLE_EQ(out.ended_energy_j, 500);
}

TEST(Overview, OfNothingIsZero) {
  const Overview out = OverviewSums(kPeriod).take();
  EXPECT_THAT(out.held_gpus, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(out.waits.jobs, 0U);
  EXPECT_LT(out.ended_energy_j, 0);
}

}  // namespace
}  // namespace goban::serve::api
