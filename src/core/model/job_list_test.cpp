// Compares the compact list with a plain vector of jobs.
#include "core/model/job_list.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "base/random.hpp"

namespace goban::core::model {
namespace {

Job draw_job(base::Random& random) {
  const auto any = [&random](uint64_t most) { return static_cast<uint32_t>(random.below(most)); };
  Job job;
  job.request = {.submit_ns = static_cast<TimeNs>(random.below(1'000'000)),
                 .walltime_limit_ns = static_cast<TimeNs>(random.below(3)),
                 .num_gpus = static_cast<int32_t>(random.below(3)),
                 .priority = static_cast<int32_t>(random.below(2)) - 1,
                 .stays = random.below(2) == 0,
                 .instances = static_cast<int32_t>(random.below(2)),
                 .model = ModelId(any(3)),
                 .user = UserId(any(100)),
                 .account = AccountId(any(2)),
                 .partition = PartitionId(any(2)),
                 .qos = QosId(any(2)),
                 .array = random.below(2) == 0 ? ArrayId{} : ArrayId(any(2)),
                 .resource_type = ResourceTypeId(any(2)),
                 .app_class = AppClass{static_cast<uint8_t>(random.below(2))},
                 .app = AppId(any(2)),
                 .reservation = ReservationId(any(2))};
  job.work_s = random.uniform();
  return job;
}

TEST(JobList, HoldsWhatWasPut) {
  base::Random random(7);
  std::vector<Job> jobs;
  JobList list;
  for (int i = 0; i < 20'000; ++i) {
    jobs.push_back(draw_job(random));
    list.push_back(jobs.back());
  }
  for (int i = 0; i < 500; ++i) {
    const size_t at = random.below(jobs.size());
    jobs[at] = draw_job(random);
    list.put(at, jobs[at]);
  }
  jobs.resize(jobs.size() + 1);
  list.resize(list.size() + 1);
  const JobList copy = list;
  ASSERT_EQ(copy.size(), jobs.size());
  size_t at = 0;
  for (const Job& job : copy) {
    ASSERT_EQ(job.request, jobs[at].request) << at;
    ASSERT_EQ(job.work_s, jobs[at++].work_s);
  }
  EXPECT_EQ(copy.back().request, JobRequest{});
}

TEST(JobList, NeedsThirtyTwoBytesPerJob) {
  JobList list;
  list.reserve(1000);
  EXPECT_EQ(list.reserved().size(), 32'000);
}

}  // namespace
}  // namespace goban::core::model
