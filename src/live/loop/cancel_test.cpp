// Who wants a job gone for good has the last word, whatever else stops it.
#include <gtest/gtest.h>

#include "live/test_site.hpp"
#include "live/test_world.hpp"

namespace goban::live {
namespace {

TEST(Cancelled, AJobDoesNotComeBackFromANodeThatFails) {
  const Site site = test_site(2, 1, "fifo");
  MemoryLog log;
  FaultyEngine engine(site.cluster, 1);
  Turns turns(site, log, engine);
  TimeNs now = 1'000 * base::kSecond;
  const auto step = [&](std::vector<Input> inputs) {
    now += base::kSecond;
    engine.advance(now);
    return turns.turn(std::move(inputs), now);
  };
  const JobId job(0U);
  engine.fates[job] = {.takes_ns = 1'000'000 * base::kSecond};
  ASSERT_TRUE(step({Submit{.jobs = {JobSpec{.num_gpus = 2}}}})[0]);
  const auto stage = [&] { return turns.controller().book().find(job)->stage; };
  for (int i = 0; i < 20; ++i) (void)step({});
  ASSERT_EQ(stage(), JobStage::Running);
  // Its other node is lost, its process on this one is told to stop, and then somebody cancels it.
  (void)step({EngineReport{{.kind = ReportKind::NodeDown, .node = NodeId(1U)}}});
  ASSERT_EQ(stage(), JobStage::Stopping);
  ASSERT_TRUE(step({Cancel{.job = job, .by = {.is_operator = true}}})[0]);
  (void)step({EngineReport{{.kind = ReportKind::NodeUp, .node = NodeId(1U)}}});
  for (int i = 0; i < 20; ++i) (void)step({});
  EXPECT_EQ(stage(), JobStage::Done);
  EXPECT_EQ(turns.controller().book().find(job)->result, JobResult::Cancelled);
}

}  // namespace
}  // namespace goban::live
