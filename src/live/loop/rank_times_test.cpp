// Per-rank times stay with the run: in the journal, the job table, and snapshots.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;

controller::Site one_node() { return test_site(1, 2, "fifo+packed"); }

const std::vector<RankTimes> kRanks = {
    {.rank = 0, .ranks = 2, .steps = 100, .busy_s = 41.2, .wait_s = 6.1, .data_s = 1.3},
    {.rank = 1, .ranks = 2, .steps = 100, .busy_s = 0.1 + 0.2, .wait_s = 47}};

const RunPace kPace = {.steps = {.done = 99, .over_s = 33.1},
                       .epochs = {.done = 0.75, .over_s = 0.1 + 0.2}};

TEST(RankTimes, StayWithTheRunThroughJournalAndSnapshot) {
  controller::Controller controller(one_node());
  const RunId run{.job = JobId(0U), .run = 1};
  controller.apply(
      {.at_ns = kSecond, .input = controller::Submit{.jobs = {job::JobSpec{.num_gpus = 2}}}});
  (void)controller.decide(kSecond);
  const auto report = [&](Report sent, TimeNs at) {
    sent.run = run;
    const auto read = controller::parse_input(
        controller::to_text({.at_ns = at, .input = controller::EngineReport{std::move(sent)}}));
    ASSERT_TRUE(read) << read.error().text();
    controller.apply(*read);
  };
  report({.kind = ReportKind::Started}, 2 * kSecond);
  report({.kind = ReportKind::Progress, .progress = {.step = 9, .input_stall_pct = 12.5}},
         3 * kSecond);
  report({.kind = ReportKind::Ended, .exit_code = 0, .ranks = kRanks, .pace = kPace}, 90 * kSecond);
  ASSERT_EQ(controller.book().find(run.job)->past.size(), 1U);
  EXPECT_EQ(controller.book().find(run.job)->past[0].ranks, kRanks);
  EXPECT_EQ(controller.book().find(run.job)->past[0].pace, kPace);
  EXPECT_EQ(controller.book().find(run.job)->progress.input_stall_pct, 12.5);
  controller::Controller again(one_node());
  const auto restored = again.restore(controller.snapshot());
  ASSERT_TRUE(restored) << restored.error().text();
  EXPECT_EQ(again.book().find(run.job)->past[0].ranks, kRanks);
  EXPECT_EQ(again.book().find(run.job)->past[0].pace, kPace);
  EXPECT_EQ(again.book().find(run.job)->progress.input_stall_pct, 12.5);
  EXPECT_FALSE(again.book().find(run.job)->past[0].shared);
}

}  // namespace
}  // namespace goban::live::loop
