// Scores measured while the scheduler runs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/knowledge/scores_file.hpp"
#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string table(double slow_first, double slow_last) {
  std::string out = "GPU_ID,PerfVar_classA,bin_classA\n";
  for (int i = 0; i < 4; ++i) {
    const double score = i == 0 ? slow_first : i == 3 ? slow_last : 1;
    out += fmt::format("{},{},{}\n", i, score, score);
  }
  return out;
}

struct ScoresTest : testing::Test {
  static controller::Site site(double slow_first = 1) {
    controller::Site out = test_site(1, 4, "fifo+pal");
    out.scores = *core::knowledge::parse_scores(table(slow_first, 1), "", 4);
    return out;
  }
  void start(double configured_slow_first = 1) {
    log.crash();
    cycle = std::make_unique<CommitCycle>(site(configured_slow_first), log, engine);
    fold = cycle->fold(log.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_EQ(fold->other, 0);
  }
  base::Result<Answer> ask(controller::Input input) {
    now += base::kSecond;
    return cycle->run({std::move(input)}, now)[0];
  }
  std::vector<GpuId> gpus_of_new_job() {
    const auto answer = ask(controller::Submit{.jobs = {job::JobSpec{.num_gpus = 1}}});
    return cycle->controller().book().find(answer->first_job)->gpus;
  }
  double score(uint32_t gpu) const { return cycle->controller().site().scores.of({0}).raw[gpu]; }

  core::model::Cluster cluster = site().cluster;
  MemoryLog log;
  FaultyEngine engine{cluster, 1};
  std::unique_ptr<CommitCycle> cycle;
  base::Result<CommitCycle::Fold> fold;
  TimeNs now = 1'000 * base::kSecond;
};

TEST_F(ScoresTest, CountFromThenOn) {
  start();
  EXPECT_THAT(gpus_of_new_job(), ElementsAre(GpuId(0U)));
  ASSERT_TRUE(ask(controller::ScoresMeasured{.table = table(1, 0.5)}));
  EXPECT_THAT(gpus_of_new_job(), ElementsAre(GpuId(3U))) << "the fast one";
  EXPECT_THAT(cycle->controller().book().find(JobId(0U))->gpus, ElementsAre(GpuId(0U)))
      << "what runs, runs on";
  EXPECT_THAT(gpus_of_new_job(), ElementsAre(GpuId(1U)));
}

TEST_F(ScoresTest, ComeBackFromTheJournalAndFromASnapshot) {
  start();
  (void)gpus_of_new_job();
  ASSERT_TRUE(ask(controller::ScoresMeasured{.table = table(1, 0.5)}));
  (void)gpus_of_new_job();
  start();
  EXPECT_EQ(fold->reproduced, 3);
  EXPECT_EQ(score(3), 0.5);
  ASSERT_TRUE(cycle->compact());
  start();
  EXPECT_EQ(fold->reproduced, 0);
  EXPECT_EQ(score(3), 0.5);
  EXPECT_THAT(gpus_of_new_job(), ElementsAre(GpuId(1U)));
}

// Newly configured scores replace measured ones.
TEST_F(ScoresTest, ConfiguredAnewTheyAreForgotten) {
  start();
  ASSERT_TRUE(ask(controller::ScoresMeasured{.table = table(1, 0.5)}));
  start(2);
  EXPECT_EQ(score(0), 2);
  EXPECT_EQ(score(3), 1);
  start();
  ASSERT_TRUE(cycle->compact());
  start(2);
  EXPECT_EQ(score(3), 1);
}

TEST_F(ScoresTest, OfAnotherClusterAreRefused) {
  start();
  const auto refused = ask(controller::ScoresMeasured{.table = "GPU_ID,PerfVar_classA\n0,1\n"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("GPU"));
  EXPECT_TRUE(log.safe.records.empty());
}

}  // namespace
}  // namespace goban::live::loop
