// A cancellation takes precedence over every other stop.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

TEST(Cancelled, AJobDoesNotComeBackFromANodeThatFails) {
  const controller::Site site = test_site(2, 1, "fifo");
  MemoryLog log;
  FaultyEngine engine(site.cluster, 1);
  CommitCycle turns(site, log, engine);
  TimeNs now = 1'000 * base::kSecond;
  const auto step = [&](std::vector<controller::Input> inputs) {
    now += base::kSecond;
    engine.advance(now);
    return turns.turn(std::move(inputs), now);
  };
  const JobId job(0U);
  engine.fates[job] = {.takes_ns = 1'000'000 * base::kSecond};
  ASSERT_TRUE(step({controller::Submit{.jobs = {job::JobSpec{.num_gpus = 2}}}})[0]);
  const auto stage = [&] { return turns.controller().book().find(job)->stage; };
  for (int i = 0; i < 20; ++i) (void)step({});
  ASSERT_EQ(stage(), controller::JobStage::Running);
  // Its other node is lost, its process on this one is ordered to stop, and then it is cancelled.
  (void)step({controller::EngineReport{{.kind = ReportKind::NodeDown, .node = NodeId(1U)}}});
  ASSERT_EQ(stage(), controller::JobStage::Stopping);
  ASSERT_TRUE(step({controller::Cancel{.job = job, .by = {.is_operator = true}}})[0]);
  (void)step({controller::EngineReport{{.kind = ReportKind::NodeUp, .node = NodeId(1U)}}});
  for (int i = 0; i < 20; ++i) (void)step({});
  EXPECT_EQ(stage(), controller::JobStage::Done);
  EXPECT_EQ(turns.controller().book().find(job)->result, controller::JobResult::Cancelled);
}

}  // namespace
}  // namespace goban::live::loop
