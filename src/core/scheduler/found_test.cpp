// Resources that somebody else gave away: nothing is placed there, and what collides is withdrawn.
#include <gmock/gmock.h>

#include "core/model/cluster_presets.hpp"
#include "core/policy/compose.hpp"
#include "core/scheduler/core_image.hpp"

namespace goban::core::scheduler {
namespace {

using model::ActionKind;
using model::EventKind;
using model::FoundAllocation;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimeNs kFoundHour = 3600 * base::kSecond;
constexpr JobId kStranger(100U);

/// Two nodes of two GPUs.
struct Found : testing::Test {
  JobId submit(int32_t gpus, TimeNs walltime = 0) {
    model::JobRequest request;
    request.num_gpus = gpus;
    request.walltime_limit_ns = walltime;
    const JobId job(submitted++);
    (void)core.apply(
        {.kind = EventKind::JobSubmitted, .at_ns = now, .job = job, .request = &request});
    return job;
  }
  std::vector<JobId> find(const FoundAllocation& held, JobId by = kStranger) {
    std::vector<JobId> stopped;
    for (const Action& each :
         core.apply({.kind = EventKind::JobFound, .at_ns = now, .job = by, .found = &held})) {
      EXPECT_EQ(each.kind, ActionKind::Preempt);
      stopped.push_back(each.job);
    }
    return stopped;
  }
  void leave(JobId by = kStranger) {
    (void)core.apply({.kind = EventKind::FoundOver, .at_ns = now, .job = by});
  }
  std::vector<JobId> decide() { return core.decide(now).placed; }
  std::vector<uint32_t> gpus_of(JobId job) {
    std::vector<uint32_t> out;
    for (const GpuId gpu : core.allocation(job).gpus) out.push_back(gpu.value);
    return out;
  }

  model::Cluster cluster = model::make_preset("2x2").value();
  knowledge::PmScores scores = knowledge::PmScores::uniform(4);
  knowledge::LocalityPenalties penalties{cluster, 1.5};
  policy::RunContext context{};
  Core core{policy::SpeedModel{&cluster, &scores, &penalties},
            policy::compose("easy-backfill").value().make(context), context, 1};
  TimeNs now = 0;
  uint32_t submitted = 0;
};

TEST_F(Found, NothingIsPlacedWhereAnotherJobRuns) {
  EXPECT_THAT(find({.gpus = {GpuId(0U), GpuId(3U)}}), IsEmpty());
  const JobId pair = submit(2);
  EXPECT_THAT(decide(), ElementsAre(pair));
  EXPECT_THAT(gpus_of(pair), ElementsAre(1U, 2U));
  const JobId single = submit(1);
  EXPECT_THAT(decide(), IsEmpty());
  leave();
  EXPECT_THAT(decide(), ElementsAre(single));
  leave();  // once more changes nothing
}

TEST_F(Found, WhatCollidesIsWithdrawnAndWaits) {
  const JobId first = submit(1);
  const JobId second = submit(1);
  EXPECT_THAT(decide(), ElementsAre(first, second));
  const std::vector<uint32_t> gpus = gpus_of(second);
  EXPECT_THAT(find({.gpus = {GpuId(gpus.front())}}), ElementsAre(second));
  EXPECT_THAT(decide(), ElementsAre(second)) << "elsewhere";
  EXPECT_NE(gpus_of(second), gpus);
  // Two others on one GPU: both have to leave it.
  EXPECT_THAT(find({.gpus = {GpuId(gpus.front())}}, JobId(101U)), IsEmpty());
  leave();
  (void)submit(2);
  EXPECT_THAT(decide(), IsEmpty());
  leave(JobId(101U));
  EXPECT_EQ(decide().size(), 1U);
}

TEST_F(Found, ABackfillReservationCountsOnTheirEnds) {
  (void)find({.gpus = {GpuId(0U), GpuId(1U), GpuId(2U)}, .hosts = {}, .until_ns = 2 * kFoundHour});
  const JobId wide = submit(4, kFoundHour);
  const JobId longer = submit(1, 3 * kFoundHour);
  const JobId shorter = submit(1, kFoundHour);
  EXPECT_THAT(decide(), ElementsAre(shorter)) << "the long one would delay the first";
  leave();
  now = kFoundHour;
  (void)core.apply({.kind = EventKind::JobFinished, .at_ns = now, .job = shorter});
  EXPECT_THAT(decide(), ElementsAre(wide));
  EXPECT_TRUE(core.state().is_active(longer));
}

TEST_F(Found, AGpuThatIsLeftOutPreemptsNobody) {
  const JobId job = submit(2);
  EXPECT_THAT(decide(), ElementsAre(job));
  const GpuId gpu = core.allocation(job).gpus.front();
  const FoundAllocation held{.gpus = {gpu}};
  const Event left_out{.kind = EventKind::JobFound, .at_ns = now, .gpu = gpu, .found = &held};
  EXPECT_THAT(core.apply(left_out), IsEmpty());
  (void)core.apply({.kind = EventKind::JobFinished, .at_ns = now, .job = job});
  EXPECT_EQ(core.state().resources().free_gpus(), 3);
  (void)core.apply({.kind = EventKind::FoundOver, .at_ns = now, .gpu = gpu});
  EXPECT_EQ(core.state().resources().free_gpus(), 4);
}

TEST_F(Found, ClosedNodesComeBackWithoutTheirGpus) {
  (void)core.apply({.kind = EventKind::NodeLost, .at_ns = now, .node = NodeId(0U)});
  (void)find({.gpus = {GpuId(0U)}});
  EXPECT_EQ(core.state().resources().free_gpus(), 2);
  (void)core.apply({.kind = EventKind::NodeRestored, .at_ns = now, .node = NodeId(0U)});
  EXPECT_EQ(core.state().resources().free_gpus(), 3);
  leave();
  EXPECT_EQ(core.state().resources().free_gpus(), 4);
}

/// ABCI's resource types: their cores are host resources.
TEST(FoundHosts, JobsLeaveANodeThatOthersOvercommit) {
  const model::Cluster cluster = model::make_preset("abci").value();
  const knowledge::PmScores scores = knowledge::PmScores::uniform(cluster.num_gpus());
  const knowledge::LocalityPenalties penalties{cluster, 1.0};
  const policy::RunContext context{};
  Core core{policy::SpeedModel{&cluster, &scores, &penalties},
            policy::compose("fifo").value().make(context), context, 1};
  model::JobRequest request;
  request.resource_type = cluster.find_resource_type("C.large");  // half of a node's cores
  for (uint32_t job = 0; job < 2; ++job) {
    (void)core.apply({.kind = EventKind::JobSubmitted, .job = JobId(job), .request = &request});
  }
  ASSERT_EQ(core.decide(0).placed.size(), 2U);
  const NodeId node = core.allocation(JobId(0U)).hosts.front();
  ASSERT_EQ(core.allocation(JobId(1U)).hosts.front(), node);
  const FoundAllocation held{.gpus = {}, .hosts = {{.node = node, .host = {.cores = 1}}}};
  const auto forced = core.apply({.kind = EventKind::JobFound, .job = kStranger, .found = &held});
  ASSERT_EQ(forced.size(), 1U);
  EXPECT_EQ(forced.front().job, JobId(1U)) << "the one that came last";
  EXPECT_EQ(core.decide(1).placed.size(), 1U);
  EXPECT_NE(core.allocation(JobId(1U)).hosts.front(), node);
  // More than the node has is no reason to fail.
  const FoundAllocation huge{.gpus = {}, .hosts = {{.node = node, .host = {.cores = 1'000}}}};
  EXPECT_EQ(core.apply({.kind = EventKind::JobFound, .job = kStranger, .found = &huge}).size(), 1U);
  (void)core.apply({.kind = EventKind::FoundOver, .job = kStranger});
  EXPECT_TRUE(core.state().resources().idle(node));
}

}  // namespace
}  // namespace goban::core::scheduler
