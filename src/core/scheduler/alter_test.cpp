// Jobs whose limit, priority or array limit changes while they wait.
#include <gmock/gmock.h>

#include "core/model/cluster_presets.hpp"
#include "core/policy/compose.hpp"
#include "core/scheduler/core.hpp"

namespace goban::core::scheduler {
namespace {

using model::EventKind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimeNs kMinute = 60 * base::kSecond;

/// A node of four GPUs.
struct AlteredSite {
  explicit AlteredSite(const char* policy)
      : core(policy::SpeedModel{&cluster, &scores, &penalties},
             policy::compose(policy).value().make(context), context, 1) {}

  JobId submit(int32_t gpus, TimeNs walltime, int32_t max_running = -1) {
    model::JobRequest request;
    request.num_gpus = gpus;
    request.walltime_limit_ns = walltime;
    if (max_running >= 0) request.array = model::ArrayId(0U);
    const JobId job(submitted++);
    (void)core.apply({.kind = EventKind::JobSubmitted,
                      .at_ns = now,
                      .job = job,
                      .request = &request,
                      .array = {.max_running = std::max(max_running, 0)}});
    return job;
  }
  void alter(JobId job, TimeNs walltime, int32_t priority) {
    model::JobRequest request;
    request.walltime_limit_ns = walltime;
    request.priority = priority;
    (void)core.apply(
        {.kind = EventKind::JobAltered, .at_ns = now, .job = job, .request = &request});
  }
  void alter_array(JobId task, int32_t max_running) {
    (void)core.apply({.kind = EventKind::ArrayAltered,
                      .at_ns = now,
                      .job = task,
                      .array = {.max_running = max_running}});
  }
  void end(JobId job) {
    (void)core.apply({.kind = EventKind::JobFinished, .at_ns = now, .job = job});
  }
  std::vector<JobId> decide() { return core.decide(now += base::kSecond).placed; }

  model::Cluster cluster = model::make_preset("1x4").value();
  knowledge::PmScores scores = knowledge::PmScores::uniform(4);
  knowledge::LocalityPenalties penalties{cluster, 1.5};
  policy::RunContext context{};
  Core core;
  TimeNs now = 0;
  uint32_t submitted = 0;
};

TEST(Alter, AHigherPriorityGoesFirst) {
  AlteredSite site("priority");
  const JobId running = site.submit(4, 0);
  EXPECT_THAT(site.decide(), ElementsAre(running));
  const JobId first = site.submit(4, 0);
  const JobId second = site.submit(4, 0);
  site.alter(second, 0, 1);
  site.end(running);
  EXPECT_THAT(site.decide(), ElementsAre(second));
  site.end(second);
  EXPECT_THAT(site.decide(), ElementsAre(first));
}

TEST(Alter, AShorterLimitFitsTheGapAndKeepsItsPlace) {
  AlteredSite site("easy-backfill");
  const JobId running = site.submit(3, 60 * kMinute);
  EXPECT_THAT(site.decide(), ElementsAre(running));
  const JobId large = site.submit(4, 10 * kMinute);
  const JobId small = site.submit(1, 90 * kMinute);
  EXPECT_THAT(site.decide(), IsEmpty()) << "it would delay the large one";
  site.alter(small, 30 * kMinute, 0);
  EXPECT_THAT(site.decide(), ElementsAre(small));
  site.submit(4, 10 * kMinute);
  site.alter(large, 5 * kMinute, 0);
  site.end(running);
  site.end(small);
  EXPECT_THAT(site.decide(), ElementsAre(large)) << "before the one that came later";
}

TEST(Alter, AnArrayMayRunMoreOrFewerTasks) {
  AlteredSite site("fifo");
  std::vector<JobId> tasks;
  for (int i = 0; i < 6; ++i) tasks.push_back(site.submit(1, 0, 1));
  EXPECT_THAT(site.decide(), ElementsAre(tasks[0]));
  site.alter_array(tasks[5], 3);
  EXPECT_THAT(site.decide(), ElementsAre(tasks[1], tasks[2]));
  site.alter_array(tasks[0], 1);
  site.end(tasks[0]);
  EXPECT_THAT(site.decide(), IsEmpty()) << "two still run";
  site.end(tasks[1]);
  EXPECT_THAT(site.decide(), IsEmpty());
  site.end(tasks[2]);
  EXPECT_THAT(site.decide(), ElementsAre(tasks[3]));
  site.alter_array(tasks[4], 0);
  EXPECT_THAT(site.decide(), ElementsAre(tasks[4], tasks[5])) << "no limit";
}

TEST(Alter, AnArrayWithoutALimitGetsOne) {
  AlteredSite site("fifo");
  std::vector<JobId> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(site.submit(2, 0, 0));
  EXPECT_THAT(site.decide(), ElementsAre(tasks[0], tasks[1]));
  site.alter_array(tasks[0], 1);
  site.end(tasks[1]);
  EXPECT_THAT(site.decide(), IsEmpty());
  EXPECT_EQ(site.core.state().demand_gpus(), 2);
  site.end(tasks[0]);
  EXPECT_THAT(site.decide(), ElementsAre(tasks[2]));
  site.end(tasks[2]);
  EXPECT_THAT(site.decide(), ElementsAre(tasks[3]));
  site.end(tasks[3]);
  EXPECT_EQ(site.core.state().demand_gpus(), 0);
}

}  // namespace
}  // namespace goban::core::scheduler
