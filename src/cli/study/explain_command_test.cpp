// Explanations, run as a program: a replay reports what happened in the run itself.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/csv.hpp"
#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;

class ExplainCommandTest : public testing::Test {
 protected:
  ExplainCommandTest()
      : folder_(std::string("explain_") +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  base::TestFolder folder_;
};

TEST_F(ExplainCommandTest, AgreesWithWhatTheRunWrote) {
  const std::string jobs = folder_.path() + "/jobs.csv";
  ASSERT_EQ(shell("GOBAN trace generate --like poisson --jobs 300 --gpus 16 --load 1.2 --walltimes "
                  "--out " +
                  jobs)
                .code,
            0);
  const std::string out = folder_.path() + "/out";
  ASSERT_EQ(shell("GOBAN simulate --cluster 4x4 --jobs " + jobs +
                  " --locality-penalty 1.4 --seed 3 --policy "
                  "las+pal,easy-backfill+random,pal-artifact,slurm-multifactor --out " +
                  out + " 2>&1")
                .code,
            0);
  for (const char* policy :
       {"las+pal", "easy-backfill+random", "pal-artifact", "slurm-multifactor"}) {
    const std::string run = out + "/" + policy;
    const std::string text = base::TestFolder::read(run + "/jobs.csv");
    base::CsvReader csv(text, "jobs.csv");
    for (int row = 0; csv.next(); ++row) {
      if (row % 29 != 0) continue;
      const std::string job(csv.field(*csv.column("job_id")));
      const auto number = [&](const char* column) {
        return std::stod(std::string(csv.field(*csv.column(column))));
      };
      const auto story =
          nlohmann::json::parse(shell("GOBAN explain --json --run " + run + " --job " + job).out);
      ASSERT_FALSE(story["launches"].empty()) << policy << " " << job;
      EXPECT_EQ(story["launches"][0]["at_s"], number("start_s")) << policy << " " << job;
      EXPECT_EQ(story["finish_s"], number("finish_s")) << policy << " " << job;
      EXPECT_EQ(story["stops"].size(), number("preemptions")) << policy << " " << job;
      EXPECT_EQ(story["launches"].size(), story["stops"].size() + 1) << policy << " " << job;
      double waited = 0;
      for (const auto& wait : story["waits"]) {
        waited += wait["to_s"].get<double>() - wait["from_s"].get<double>();
      }
      EXPECT_NEAR(waited, number("wait_s"), 1e-6) << policy << " " << job;
      for (const auto& launch : story["launches"]) {
        EXPECT_EQ(launch["gpus"].size(), number("num_gpus"));
        if (std::string(policy) != "las+pal" || number("num_gpus") == 1) continue;
        int chosen = 0;
        for (const auto& entry : launch["entries"]) {
          chosen += entry["chosen"] ? 1 : 0;
          // Entries tried before the chosen one did not fit.
          if (chosen == 0) {
            EXPECT_LT(entry["free_gpus"], number("num_gpus"));
          }
        }
        EXPECT_EQ(chosen, 1) << policy << " " << job;
      }
    }
  }
}

TEST_F(ExplainCommandTest, ChangedInputsAndStandardInputAreRefused) {
  const std::string jobs =
      folder_.write("jobs.csv", "job_id,submit_time,duration,num_gpus,user\na,0,60,2,u\n");
  const std::string out = folder_.path() + "/out";
  const std::string line = " --cluster 1x2 --policy fifo+packed --out " + out + " >/dev/null 2>&1";
  ASSERT_EQ(shell("GOBAN simulate --jobs " + jobs + line).code, 0);
  const std::string explain = "GOBAN explain --run " + out + "/fifo+packed --job a 2>&1";
  EXPECT_EQ(shell(explain).code, 0);
  folder_.write("jobs.csv", "job_id,submit_time,duration,num_gpus,user\na,0,61,2,u\n");
  const Output changed = shell(explain);
  EXPECT_EQ(changed.code, 3);
  EXPECT_THAT(changed.out, HasSubstr("jobs.csv: the file changed since the run was made"));
  ASSERT_EQ(shell("cat " + jobs + " | GOBAN simulate --jobs -" + line).code, 0);
  EXPECT_THAT(shell(explain).out, HasSubstr("standard input"));
  folder_.write("run.json", "{\"goban_run\": 99}");
  const Output later = shell("GOBAN explain --run " + folder_.path() + " --job a 2>&1");
  EXPECT_EQ(later.code, 3);
  EXPECT_THAT(later.out, HasSubstr("unsupported version 99"));
}

}  // namespace
}  // namespace goban::cli
