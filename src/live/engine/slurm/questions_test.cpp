#include "live/engine/slurm/questions.hpp"

#include <gtest/gtest.h>

namespace goban::live::engine::slurm {
namespace {

TEST(Questions, ComeLessOftenWhereNothingHappens) {
  const Rhythm rhythm;
  EXPECT_EQ(pause_s(rhythm, 0, 0.01), 1);
  EXPECT_EQ(pause_s(rhythm, 5, 0.01), 1);
  EXPECT_EQ(pause_s(rhythm, 7, 0.01), 2);
  EXPECT_EQ(pause_s(rhythm, 10, 0.01), 5);
  EXPECT_EQ(pause_s(rhythm, 1000, 0.01), 5);
  EXPECT_EQ(pause_s({.poll_s = 10, .rest_s = 2}, 1000, 0), 10) << "at rest not more often";
}

TEST(Questions, ComeRarelyWhereChangesAreSeenOtherwise) {
  const Rhythm rhythm;
  EXPECT_EQ(pause_s(rhythm, 1, 0.01, true), 1);
  EXPECT_EQ(pause_s(rhythm, 2, 0.01, true), 30);
  EXPECT_EQ(pause_s({.poll_s = 60, .rest_s = 60}, 2, 0.01, true), 60);
}

TEST(Questions, JobsThatComeGoOrChangeAreNews) {
  const std::vector<JobRow> before = {{.job = 1, .state = "PENDING"}, {.job = 2}};
  std::vector<JobRow> now = before;
  now[1].start_ns = 5;
  EXPECT_FALSE(has_news(before, now));
  now[0].state = "RUNNING";
  EXPECT_TRUE(has_news(before, now));
  EXPECT_TRUE(has_news(before, std::span(before).first(1)));
}

TEST(Questions, ComeLessOftenWhereSlurmIsSlow) {
  const Rhythm rhythm;
  EXPECT_EQ(pause_s(rhythm, 0, 2), 6);
  EXPECT_EQ(pause_s(rhythm, 0, 100), 30);
  EXPECT_EQ(pause_s({.poll_s = 60, .rest_s = 60}, 0, 100), 60);
}

TEST(Questions, AJobThatRanMayWaitAgain) {
  std::vector<JobRow> before(2);
  before[0] = {.job = 1, .state = "RUNNING"};
  before[1] = {.job = 2, .state = "PENDING"};
  std::vector<JobRow> now = before;
  EXPECT_FALSE(waits_again(before, now));
  EXPECT_FALSE(waits_again({}, now));
  now[0].state = "COMPLETED";
  EXPECT_FALSE(waits_again(before, now));
  now[0].state = "PENDING";
  EXPECT_TRUE(waits_again(before, now));
}

TEST(Questions, NodesAreAskedForWhereSlurmSaysThatTheyAreNotThere) {
  std::vector<JobRow> rows(1);
  rows[0] = {.job = 1, .state = "PENDING", .priority = 9};
  rows[0].reason = "ReqNodeNotAvail, May be reserved";
  EXPECT_TRUE(lacks_its_nodes(rows));
  rows[0].priority = 0;  // taken back
  EXPECT_FALSE(lacks_its_nodes(rows));
  rows[0].priority = 9;
  rows[0].reason = "Resources";
  EXPECT_FALSE(lacks_its_nodes(rows));
}

}  // namespace
}  // namespace goban::live::engine::slurm
