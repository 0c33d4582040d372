// Resampled histories: whole days, in order, with what belongs to their jobs.
#include "study/history/resample.hpp"

#include <gtest/gtest.h>
#include <set>

namespace goban::study::history {
namespace {

using base::kDay;
using base::kHour;

/// Three jobs on the first day from 5:00 on, none on the second, two on the third; the last two of
/// the first day are an array.
core::model::JobHistory three_days() {
  core::model::JobHistory history;
  const auto add = [&](base::TimeNs submit_ns, double work_s) {
    core::model::Job job;
    job.request.submit_ns = submit_ns;
    job.request.user = core::model::UserId(history.users.intern("ann"));
    job.work_s = work_s;
    if (work_s == 2 || work_s == 3) job.request.array = core::model::ArrayId(0u);
    history.job_names.add(std::to_string(history.jobs.size()));
    history.jobs.push_back(job);
    history.training.push_back({.deadline_ns = base::from_seconds(work_s)});
    history.recorded.push_back({.start_ns = submit_ns});
  };
  history.arrays.push_back({.max_running = 1});
  add(5 * kHour, 1);
  add(6 * kHour, 2);
  add(28 * kHour, 3);
  add(2 * kDay + 5 * kHour, 4);
  add(2 * kDay + 20 * kHour, 5);
  return history;
}

TEST(Resample, DrawsWholeDaysAndKeepsTheTimeOfTheDay) {
  const core::model::JobHistory history = three_days();
  ASSERT_EQ(days_of(history), 3);
  const base::TimeNs begin_ns = 5 * kHour;
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const core::model::JobHistory drawn = resampled_days(history, seed);
    sizes.insert(drawn.jobs.size());
    ASSERT_EQ(drawn.job_names.size(), drawn.jobs.size());
    ASSERT_EQ(drawn.training.size(), drawn.jobs.size());
    EXPECT_TRUE(drawn.recorded.empty());
    std::set<size_t> arrays;
    base::TimeNs before_ns = 0;
    for (size_t i = 0; i < drawn.jobs.size(); ++i) {
      const core::model::Job job = drawn.jobs[i];
      const auto original = static_cast<size_t>(job.work_s) - 1;
      EXPECT_EQ((job.request.submit_ns - history.jobs[original].request.submit_ns) % kDay, 0);
      EXPECT_GE(job.request.submit_ns, std::max(before_ns, begin_ns));
      EXPECT_LT(job.request.submit_ns, begin_ns + 3 * kDay);
      before_ns = job.request.submit_ns;
      EXPECT_EQ(drawn.training[i].deadline_ns, base::from_seconds(job.work_s));
      EXPECT_EQ(drawn.job_names[i], std::to_string(original));
      EXPECT_EQ(job.request.array.valid(), job.work_s == 2 || job.work_s == 3);
      if (job.work_s == 2) {
        EXPECT_TRUE(arrays.insert(job.request.array.index()).second);
      }
      // The tasks of an array stay together.
      if (job.work_s == 3) {
        EXPECT_EQ(job.request.array, drawn.jobs[i - 1].request.array);
      }
    }
    EXPECT_EQ(drawn.arrays.size(), arrays.size()) << "an array drawn twice is two";
  }
  // Days of 3, 0 and 2 jobs, three times each.
  EXPECT_EQ(sizes, (std::set<size_t>{0, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Resample, TheSeedDecides) {
  const core::model::JobHistory history = three_days();
  const auto submits = [&](uint64_t seed) {
    std::vector<base::TimeNs> out;
    for (const core::model::Job& job : resampled_days(history, seed).jobs) {
      out.push_back(job.request.submit_ns);
    }
    return out;
  };
  EXPECT_EQ(submits(3), submits(3));
  std::set<std::vector<base::TimeNs>> all;
  for (uint64_t seed = 0; seed < 50; ++seed) all.insert(submits(seed));
  EXPECT_GT(all.size(), 10U) << "of 27";
  EXPECT_EQ(days_of({}), 0);
  EXPECT_TRUE(resampled_days({}, 1).jobs.empty());
}

}  // namespace
}  // namespace goban::study::history
