// Back-tests, run as a program: a simulated history is reproduced without error.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;

class BacktestCommandTest : public testing::Test {
 protected:
  BacktestCommandTest()
      : folder_(std::string("backtest_") +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {}

  /// Simulates, back-tests the simulated history, and returns the back-test of `policy`.
  nlohmann::json replay(const std::string& policy, const std::string& options) const {
    const std::string out = folder_.path() + "/out";
    const Output first =
        shell("GOBAN simulate " + options + " --policy " + policy + " --out " + out + " 2>&1");
    EXPECT_EQ(first.code, 0) << first.out;
    const std::string history = out + "/" + policy + "/history.csv";
    const size_t jobs = options.find("--jobs ");
    const size_t end = options.find(' ', jobs + 7);
    const std::string again = options.substr(0, jobs) + "--jobs " + history + options.substr(end);
    const Output second = shell("GOBAN simulate " + again + " --policy fifo+spread --backtest " +
                                policy + " --json 2>/dev/null");
    EXPECT_EQ(second.code, 0) << again;
    return nlohmann::json::parse(second.out);
  }

  static void expect_no_error(const nlohmann::json& document, const std::string& policy) {
    const nlohmann::json& test = document["backtest"];
    EXPECT_EQ(document["reference"], policy);
    EXPECT_EQ(test["policy"], policy);
    EXPECT_GT(test["jobs"], 0) << policy;
    EXPECT_EQ(test["without_start"], 0) << policy;
    for (const char* name :
         {"error_abs_mean_s", "error_abs_p50_s", "error_abs_p90_s", "error_mean_s", "wait_error",
          "wait_error_low", "wait_error_high", "jct_error", "jct_error_low", "jct_error_high"}) {
      EXPECT_EQ(test[name], 0) << policy << " " << name;
    }
    EXPECT_EQ(test["within_10percent"], 1) << policy;
    EXPECT_EQ(document["runs"][0]["gain_jct_error"], 0) << policy;
  }

  base::TestFolder folder_;
};

TEST_F(BacktestCommandTest, AHistorySimulatedByOurselvesHasNoError) {
  const std::string jobs = folder_.path() + "/jobs.csv";
  ASSERT_EQ(shell("GOBAN trace generate --like poisson --jobs 600 --gpus 32 --load 1.1 --walltimes "
                  "--out " +
                  jobs)
                .code,
            0);
  const std::string options = "--cluster 8x4 --jobs " + jobs + " --seed 5";
  for (const char* policy :
       {"fifo+packed", "easy-backfill+packed", "conservative-backfill+spread", "skip+random",
        "srtf+pal", "las+pal", "las+packed+non-sticky", "pal-artifact", "slurm-multifactor"}) {
    expect_no_error(replay(policy, options), policy);
  }
}

TEST_F(BacktestCommandTest, LimitsPenaltiesTypesAndFailuresDoNotDisturbIt) {
  // Exceeded walltime limits, resource types, priorities, names with commas, a node failure.
  const std::string cluster =
      folder_.write("cluster.toml",
                    "[[nodes]]\ncount = 4\ngpus = 4\ncores = 16\nnodes_per_rack = 2\n"
                    "[[resource_type]]\nname = \"half\"\ngpus = 2\ncores = 8\nmax_instances = 4\n"
                    "walltime_default = \"5m\"\n"
                    "[[resource_type]]\nname = \"cpu\"\ncores = 8\nmax_instances = 2\n");
  std::string text =
      "job_id,submit_time,duration,num_gpus,user,model,class,priority,walltime_s,resource_type,"
      "instances,account,qos\n";
  for (int i = 0; i < 200; ++i) {
    const std::string id = "\"job," + std::to_string(i) + "\"";
    const std::string submit = std::to_string(i * 37) + ".125";
    const std::string work = std::to_string(40 + i * 53 % 900) + ".5";
    const bool typed = i % 5 == 0;
    const bool cpu = i % 10 == 0;
    text += id + "," + submit + "," + work + ",";
    text += typed ? "" : std::to_string(1 + i % 9);
    text += ",\"Doe, " + std::to_string(i % 7) + "\",m" + std::to_string(i % 3) + ",";
    text += i % 2 == 0 ? "A," : "B,";
    text += std::to_string(i % 3) + ",";
    text += i % 4 == 0 ? "" : "300";
    text += typed ? (cpu ? ",cpu,1" : ",half,2") : ",,";
    text += ",physics,high\n";
  }
  const std::string jobs = folder_.write("jobs.csv", text);
  const std::string incidents = folder_.write(
      "incidents.toml", "[[failure]]\nnode = \"node0001\"\nat = \"20m\"\nrepair_after = \"30m\"\n");
  const std::string options = "--cluster " + cluster + " --jobs " + jobs + " --incidents " +
                              incidents + " --locality-penalty 1.5 --restart-cost 20";
  for (const char* policy : {"priority+packed", "las+pal", "easy-backfill+pal"}) {
    const auto document = replay(policy, options);
    EXPECT_GT(document["runs"][0]["timed_out"], 0);
    expect_no_error(document, policy);
  }
}

TEST_F(BacktestCommandTest, TheFirstPolicyIsTheSitesIfNoneIsNamed) {
  const std::string jobs = folder_.write("jobs.csv",
                                         "job_id,submit_time,duration,num_gpus,user,start_time\n"
                                         "a,0,100,4,u,20\n"
                                         "b,10,100,4,u,120\n"
                                         "c,20,100,4,u,\n");
  const std::string line = "GOBAN simulate --cluster 1x4 --jobs " + jobs;
  const Output run = shell(line + " --policy fifo+packed,las+packed --backtest --json 2>/dev/null");
  ASSERT_EQ(run.code, 0);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["reference"], "fifo+packed");
  EXPECT_EQ(document["backtest"]["jobs"], 2);
  EXPECT_EQ(document["backtest"]["without_start"], 1);
  // Recorded waits 20 and 110, simulated 0 and 90.
  EXPECT_EQ(document["backtest"]["error_mean_s"], -20);
  EXPECT_NEAR(document["backtest"]["wait_error"].get<double>(), -40.0 / 130, 1e-12);
  EXPECT_EQ(document["runs"].size(), 2u);
  EXPECT_FALSE(document["runs"][1]["gain_jct_claimed"]);

  const Output text = shell(line + " --policy fifo+packed,las+packed --backtest 2>&1");
  EXPECT_THAT(text.out, HasSubstr("not claimed"));
  EXPECT_THAT(text.out, HasSubstr("Back-test of fifo+packed: 2 jobs of 1 day"));
}

TEST_F(BacktestCommandTest, WarmupIsSimulatedButNotCounted) {
  const std::string jobs = folder_.write("jobs.csv",
                                         "job_id,submit_time,duration,num_gpus,user,start_time\n"
                                         "a,100,100,4,u,150\n"
                                         "b,110,100,4,u,250\n"
                                         "c,400,100,4,u,400\n");
  const Output run = shell("GOBAN simulate --cluster 1x4 --jobs " + jobs +
                           " --policy fifo+packed --backtest --warmup 1m --json 2>/dev/null");
  ASSERT_EQ(run.code, 0);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["backtest"]["in_warmup"], 2);
  EXPECT_EQ(document["backtest"]["jobs"], 1);
  EXPECT_EQ(document["backtest"]["error_abs_mean_s"], 0);
  EXPECT_EQ(document["runs"][0]["jobs"], 1);
  EXPECT_EQ(document["runs"][0]["avg_jct_s"], 100);
  EXPECT_EQ(document["runs"][0]["makespan_s"], 400);
}

TEST_F(BacktestCommandTest, ARecordWithoutStartsIsRefused) {
  const std::string jobs =
      folder_.write("jobs.csv", "job_id,submit_time,duration,num_gpus,user\na,0,100,4,u\n");
  const std::string line = "GOBAN simulate --cluster 1x4 --jobs " + jobs + " --policy fifo+packed ";
  const Output run = shell(line + "--backtest 2>&1");
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.out, HasSubstr("no counted job has a recorded start"));
  EXPECT_EQ(shell(line + "--warmup 1d 2>&1").code, 2);
  EXPECT_EQ(shell(line + "--warmup soon 2>&1").code, 2);
  EXPECT_EQ(shell(line + "--backtest nonsense 2>&1").code, 2);
}

}  // namespace
}  // namespace goban::cli
