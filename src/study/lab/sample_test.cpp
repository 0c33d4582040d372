#include "study/lab/sample.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace goban::study::lab {
namespace {

using base::kDay;
using base::kHour;

/// Three jobs on each of four days, from hour 6 on.
core::model::JobHistory four_days() {
  core::model::JobHistory history;
  for (int64_t i = 0; i < 12; ++i) {
    core::model::Job job;
    job.request.submit_ns = (i / 3) * kDay + (i % 3 + 6) * kHour;
    job.request.num_gpus = static_cast<int32_t>(i) + 1;
    history.jobs.push_back(job);
    history.job_names.add(std::to_string(i));
    history.recorded.push_back({.start_ns = job.request.submit_ns + 5});
  }
  return history;
}

TEST(LabSample, FirstJobsCountFromTheFirst) {
  EXPECT_EQ(first_jobs(four_days(), kDay).size(), 3U);
  EXPECT_EQ(first_jobs(four_days(), kDay + 1).size(), 4U);
  EXPECT_TRUE(first_jobs({}, kDay).empty());
}

TEST(LabSample, ResampledDaysAreWholeAndOfAllKinds) {
  const auto days = four_days();
  std::set<int32_t> seen;
  std::set<std::vector<int32_t>> draws;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto drawn = take_jobs(days, history::drawn_blocks(days, kDay, seed));
    ASSERT_EQ(drawn.jobs.size(), 12U);
    std::vector<int32_t> gpus;
    for (size_t i = 0; i < 12; ++i) {
      const auto job = drawn.jobs[i];
      const auto at = static_cast<int64_t>(i);
      EXPECT_EQ(job.request.submit_ns, (at / 3) * kDay + (at % 3 + 6) * kHour);
      EXPECT_EQ((job.request.num_gpus - 1) % 3, at % 3);
      EXPECT_EQ(drawn.recorded[i].start_ns, job.request.submit_ns + 5);
      EXPECT_EQ(drawn.job_names[i], std::to_string(job.request.num_gpus - 1));
      gpus.push_back(job.request.num_gpus);
      seen.insert(job.request.num_gpus);
    }
    draws.insert(gpus);
  }
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_GT(draws.size(), 10U);
}

}  // namespace
}  // namespace goban::study::lab
