// The presets: from files to files.
#include "study/rivals/presets.hpp"

#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "study/rivals/replay.hpp"

namespace goban::study::rivals {
namespace {

using base::TestFolder;
using testing::HasSubstr;

class RivalPresets : public testing::Test {
 protected:
  /// Two jobs that ask for a node each; the rates say nothing of fewer GPUs.
  RivalPresets() {
    options_.cluster = "1x8";
    options_.format = "elasticflow";
    options_.jobs = folder_.write(
        "trace.csv",
        "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
        "0,0,10000,m,0,8,8,300,0\n1,0,10000,m,0,8,8,200,0\n");
    options_.rates = folder_.write("rates.csv", "model,batch_size,num_gpus,steps_per_s\nm,8,8,1\n");
    options_.out = folder_ / "out";
    options_.policies = {"elasticflow-themis"};
    options_.decisions = true;
  }
  [[nodiscard]] std::string problem() const {
    const auto run = run_rivals(options_);
    return run ? "" : run.error().text();
  }

  TestFolder folder_{"rival_presets"};
  RivalOptions options_;
};

TEST_F(RivalPresets, RestartCostsAreShockwaves) {
  options_.restart_cost_s = 30;
  EXPECT_THAT(problem(), HasSubstr("--restart-cost: the programs of elasticflow"));
  options_.format = "shockwave";
  EXPECT_EQ(real_gpus(options_)->restart_s, std::vector<double>{30});
  options_.restart_cost_s = -1;
  EXPECT_FALSE(real_gpus(options_));
}

// The leases are those of ElasticFlow.ThemisByHand.
TEST_F(RivalPresets, WritesWhatWasDecided) {
  const auto run = run_rivals(options_);
  ASSERT_TRUE(run) << run.error().text();
  ASSERT_EQ(run->size(), 1U);
  EXPECT_EQ(run->front().decisions, 4U);
  EXPECT_EQ(run->front().placements, 3U);
  EXPECT_EQ(run->front().computations, 3U);
  EXPECT_STREQ(run->front().shares, "own solver");
  EXPECT_EQ(run->front().mean_jct_s, 490);
  EXPECT_EQ(run->front().makespan_s, 540);
  const std::string out = options_.out + "/elasticflow-themis/";
  EXPECT_EQ(TestFolder::read(out + "jobs.csv"),
            "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions\n"
            "0,0,0,540,540,240,8,1\n"
            "1,0,240,440,440,240,8,0\n");
  EXPECT_EQ(TestFolder::read(out + "decisions.jsonl"),
            "[0, [[0, [0, 1, 2, 3, 4, 5, 6, 7]]], []]\n"
            "[240, [[1, [0, 1, 2, 3, 4, 5, 6, 7]]], []]\n"
            "[480, [[0, [0, 1, 2, 3, 4, 5, 6, 7]]], [1]]\n"
            "[720, [], [0]]\n");
  EXPECT_THAT(TestFolder::read(out + "rows.csv"),
              HasSubstr("\n440,1,8,0,9223372036854775808,440,"));
}

TEST_F(RivalPresets, RecordedSharesSetTheOrder) {
  // The second job first: it ends at 200 s, within its first lease.
  const std::string record = "[0, [[0, 0.4], [1, 0.6]]]\n[240, [[0, 1]]]\n[480, [[0, 1]]]\n";
  options_.shares = folder_.write("shares.jsonl", record);
  const auto run = run_rivals(options_);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_STREQ(run->front().shares, "recorded");
  EXPECT_EQ(run->front().mean_jct_s, (540 + 200) / 2);
  folder_.write("shares.jsonl", record + "[720, [[0, 1]]]\n");
  EXPECT_THAT(problem(), HasSubstr("shares.jsonl:4: shares after the last computation"));
  folder_.write("shares.jsonl", "[0, [[0, 0.4], [1, 0.6]]]\n[240, [[1, 0.5]]]\n");
  EXPECT_THAT(problem(), HasSubstr("shares.jsonl:2: job 0 is due as number 0"));
}

TEST_F(RivalPresets, NamesWhatDoesNotFit) {
  options_.policies = {"gavel-allox"};
  EXPECT_THAT(problem(), HasSubstr("gavel-allox is not a policy of format elasticflow"));
  options_.policies = {"elasticflow-edf"};
  EXPECT_THAT(problem(), HasSubstr("rates.csv: steps_per_s: no rate of m with batch size 8 on 1"));
  options_.policies = {"elasticflow-gandiva"};
  options_.cluster = "8x4";
  EXPECT_THAT(problem(), HasSubstr("--cluster: '8x4' does not fit format elasticflow (give Nx8"));
  options_.cluster = "1x8";
  options_.rates = folder_ / "absent.csv";
  EXPECT_THAT(problem(), HasSubstr("absent.csv"));
  options_.rates.clear();
  EXPECT_THAT(problem(), HasSubstr("--rates is required"));
}

}  // namespace
}  // namespace goban::study::rivals
