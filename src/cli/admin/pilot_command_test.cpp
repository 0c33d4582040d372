// goban pilot, run as a program: what a plan and a simulated pilot refuse.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;

TEST(PilotCommand, APlanThatNoDaemonWouldStartIsRefused) {
  const auto refusal = [](const std::string& options, int code) {
    const Output out = shell("GOBAN pilot plan " + options + " 2>&1");
    EXPECT_EQ(out.code, code) << out.out;
    return out.out;
  };
  EXPECT_THAT(refusal("--policy-a fifo --policy-b nosuch", 2), HasSubstr("nosuch"));
  EXPECT_THAT(refusal("--policy-a fifo --policy-b srtf", 3), HasSubstr("only in simulation"));
  EXPECT_THAT(refusal("--policy-a easy-backfill+packed --policy-b packed+easy-backfill", 3),
              HasSubstr("the same policy"));
  EXPECT_THAT(refusal("--policy-a fifo --policy-b goban --seed 9223372036854775808", 3),
              HasSubstr("seed"));
  EXPECT_THAT(refusal("--policy-a fifo --policy-b goban --users ann", 3), HasSubstr("nodes"));
  EXPECT_THAT(refusal("--policy-a fifo --policy-b goban --nodes n1", 3), HasSubstr("users"));
}

TEST(PilotCommand, APlanCanBeLimited) {
  const Output out = shell(
      "GOBAN pilot plan --policy-a fifo --policy-b goban --nodes n1,n2 --users ann "
      "--accounts vision 2>&1");
  ASSERT_EQ(out.code, 0) << out.out;
  EXPECT_THAT(out.out,
              HasSubstr("decides on nodes n1, n2 about the jobs of ann and accounts vision\n"));
}

TEST(PilotCommand, SimulatesWhatADaemonWouldRunOnly) {
  base::TestFolder folder("pilot_command");
  std::string rows = "job_id,submit_time,duration,num_gpus,user\n";
  for (int day = 0; day < 3; ++day)
    rows += std::to_string(day) + "," + std::to_string(day * 86400) + ",60,1,u\n";
  folder.write("jobs.csv", rows);
  const std::string command =
      "GOBAN pilot simulate --cluster 1x8 --period 1h --settle 0s --pairs 6 --pilots 2 --jobs " +
      folder.path() + "/jobs.csv --policy ";
  for (const char* policies : {"fifo,srtf", "fifo,best-pair"}) {
    EXPECT_EQ(shell(command + policies + " 2>&1").code, 3) << policies;
  }
  const Output text = shell(command + "fifo,goban 2>/dev/null");
  ASSERT_EQ(text.code, 0);
  EXPECT_THAT(text.out, testing::Not(HasSubstr("1.00"))) << "no pilot measured a ratio";
  const Output json = shell(command + "fifo,goban --json 2>/dev/null");
  EXPECT_TRUE(nlohmann::json::parse(json.out)["with_effect"]["ratio"].is_null());
}

}  // namespace
}  // namespace goban::cli
