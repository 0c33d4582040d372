#include "study/history/fillers.hpp"

#include <gtest/gtest.h>

#include "base/test_data.hpp"

namespace goban::study::history {
namespace {

using base::kSecond;

core::model::JobHistory two_jobs() {
  core::model::JobHistory history;
  for (int i = 0; i < 2; ++i) {
    core::model::Job job;
    job.request.submit_ns = (10 + i) * kSecond;
    job.request.num_gpus = i + 1;
    job.work_s = 100 + i;
    history.jobs.push_back(job);
  }
  return history;
}

TEST(Fillers, ReplayTheTraceAfterItsLastJob) {
  const auto source = FillerSource::parse("k,inter_arrival_s\n0,5\n1,0.5\n2,7\n", "f.csv");
  ASSERT_TRUE(source) << source.error().text();
  const core::model::JobHistory history = two_jobs();
  ASSERT_EQ(source->size(), 3u);
  EXPECT_EQ(source->job(0, history)->request.submit_ns, 16 * kSecond);
  EXPECT_EQ(source->job(1, history)->request.submit_ns, 16 * kSecond + kSecond / 2);
  const auto third = source->job(2, history);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->request.submit_ns, 23 * kSecond + kSecond / 2);
  EXPECT_EQ(third->request.num_gpus, 1);
  EXPECT_EQ(third->work_s, 100);
  EXPECT_EQ(source->job(3, history).error().text(),
            "f.csv: all 3 filler jobs were used (give a longer list of inter-arrival times)");
  EXPECT_FALSE(source->job(0, core::model::JobHistory()));
}

std::string problem(std::string_view text) {
  const auto source = FillerSource::parse(text, "f.csv");
  return source ? "" : source.error().text();
}

TEST(Fillers, Problems) {
  EXPECT_EQ(problem("k,inter_arrival_s\n0,5\n2,5\n"),
            "f.csv:3:1: k: found 2, expected 1 (number the rows 0, 1, 2, ...)");
  EXPECT_EQ(problem("k,inter_arrival_s\n0,-5\n"),
            "f.csv:2:3: inter_arrival_s \"-5\" is negative "
            "(give seconds since the previous filler)");
  EXPECT_EQ(problem("k,inter_arrival_s\n0,4e9\n1,4e9\n"),
            "f.csv:3:3: inter_arrival_s: submit times of fillers exceed 4.6e9 seconds (end the "
            "list here)");
  EXPECT_EQ(problem("k,inter_arrival_s\n0\n"),
            "f.csv:2: inter_arrival_s is empty "
            "(give seconds since the previous filler)");
  EXPECT_NE(problem("k,gap\n0,1\n"), "");
  EXPECT_NE(problem(""), "");
}

TEST(FillersGolden, ArtifactsInterArrivals) {
  const auto path = base::test_data("pal/reference/replay_interarrivals_seed1_load2.csv");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto source = FillerSource::read(*path);
  ASSERT_TRUE(source) << source.error().text();
  const core::model::JobHistory history = two_jobs();
  EXPECT_EQ(source->job(0, history)->request.submit_ns, (11 + 260) * kSecond);
  EXPECT_EQ(source->job(1, history)->request.submit_ns, (11 + 260 + 3385) * kSecond);
}

}  // namespace
}  // namespace goban::study::history
