#include "study/history/deadlines.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::study::history {
namespace {

using base::kSecond;
using testing::HasSubstr;

core::model::JobHistory three_jobs() {
  core::model::JobHistory history;
  for (const char* name : {"a", "b", "c"}) {
    history.jobs.push_back({.request = {}, .work_s = 100});
    history.job_names.add(name);
  }
  return history;
}

std::string problem(std::string_view text) {
  core::model::JobHistory history = three_jobs();
  const auto counts = parse_deadlines(text, "d.csv", history);
  EXPECT_TRUE(history.training.empty()) << "an error changed the history";
  return counts ? std::string() : counts.error().text();
}

TEST(Deadlines, AFileReplacesThem) {
  core::model::JobHistory history = three_jobs();
  history.training.resize(3);
  history.training[2].deadline_ns = 7;
  history.training[2].epochs = 4;
  const auto counts =
      parse_deadlines("deadline_s,job\n99.5,a\n,b\n5,gone\n6,lost\n", "d.csv", history);
  ASSERT_TRUE(counts) << counts.error().text();
  EXPECT_EQ(counts->jobs, 1);
  EXPECT_EQ(counts->impossible, 1) << "99.5 s for 100 s of work";
  EXPECT_EQ(counts->unknown_jobs, 2);
  EXPECT_EQ(counts->first_unknown, "gone");
  EXPECT_EQ(history.training[0].deadline_ns, 99 * kSecond + kSecond / 2);
  EXPECT_EQ(history.training[1].deadline_ns, -1);
  EXPECT_EQ(history.training[2].deadline_ns, -1) << "not in the file";
  EXPECT_EQ(history.training[2].epochs, 4);
}

TEST(Deadlines, ProblemsNamePlaceAndRemedy) {
  EXPECT_EQ(problem("job,deadline_s\na,1\nb,-3\n"),
            "d.csv:3:3: deadline_s \"-3\" is negative (give seconds after submission, or "
            "leave it empty for no deadline)");
  EXPECT_THAT(problem("job,deadline_s\na,soon\n"), HasSubstr("d.csv:2:3: deadline_s \"soon\""));
  EXPECT_THAT(problem("job,deadline_s\na,1\na,1\n"),
              HasSubstr("d.csv:3:1: job: duplicate row for job a"));
  EXPECT_THAT(problem("job\na\n"), HasSubstr("deadline_s"));
  EXPECT_THAT(problem("job,deadline_s,slack\n"), HasSubstr("slack: unknown column"));
}

TEST(Deadlines, GavelsFactorsComeInThirds) {
  core::model::JobHistory history;
  for (int i = 0; i < 3000; ++i) history.jobs.push_back({.request = {}, .work_s = 50});
  core::model::JobHistory again = history;
  const DeadlineImport counts = draw_gavel_deadlines(history, 7);
  EXPECT_EQ(counts.jobs, 3000);
  EXPECT_EQ(counts.impossible, 0);
  std::array<int, 3> drawn{};
  for (const core::model::TrainingFacts& facts : history.training) {
    if (facts.deadline_ns == 60 * kSecond) ++drawn[0];
    if (facts.deadline_ns == 100 * kSecond) ++drawn[1];
    if (facts.deadline_ns == 500 * kSecond) ++drawn[2];
  }
  EXPECT_EQ(drawn[0] + drawn[1] + drawn[2], 3000);
  for (const int count : drawn) EXPECT_NEAR(count, 1000, 100) << "3.9 standard deviations";
  draw_gavel_deadlines(again, 7);
  EXPECT_EQ(again.training, history.training);
  draw_gavel_deadlines(again, 8);
  EXPECT_NE(again.training, history.training);
  clear_deadlines(again);
  EXPECT_EQ(again.training[0].deadline_ns, -1);
}

}  // namespace
}  // namespace goban::study::history
