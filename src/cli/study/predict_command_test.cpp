// goban predict, run as a program.
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using base::TestFolder;
using testing::HasSubstr;

TEST(PredictCommand, PrintsAndDrawsAReport) {
  TestFolder folder("predict_command");
  const std::string jobs = folder.path() + "/jobs.csv";
  ASSERT_EQ(shell("GOBAN trace generate --like philly --jobs 2000 --seed 5 --out " + jobs).code, 0);
  const std::string out = folder.path() + "/out";
  const Output text = shell("GOBAN predict " + jobs + " --out " + out + " 2>&1");
  ASSERT_EQ(text.code, 0) << text.out;
  EXPECT_THAT(text.out, HasSubstr("run times inside the 80 % interval"));
  EXPECT_THAT(text.out, HasSubstr("median of the user's similar runs"));
  const auto document = nlohmann::json::parse(TestFolder::read(out + "/report.json"));
  EXPECT_EQ(document["figures"].size(), 2U);
  EXPECT_THAT(TestFolder::read(out + "/tables/predict_rules.csv"), HasSubstr("this method,"));
  const Output json = shell("GOBAN predict --json " + jobs + " 2>/dev/null");
  EXPECT_EQ(nlohmann::json::parse(json.out), document);
  const Output piped = shell("GOBAN predict --json - <" + jobs + " 2>/dev/null");
  EXPECT_EQ(piped.out, json.out);
}

TEST(PredictCommand, BadInputIsNamed) {
  TestFolder folder("predict_bad_input");
  EXPECT_EQ(shell("GOBAN predict /nowhere 2>&1").code, 1);
  EXPECT_EQ(shell("GOBAN predict 2>&1").code, 2);
  const std::string jobs = folder.path() + "/jobs.csv";
  folder.write("jobs.csv", "job_id,submit_time,duration,num_gpus,user,model\na,0,60,1,u,\n");
  const Output few = shell("GOBAN predict " + jobs + " 2>&1");
  EXPECT_EQ(few.code, 0);
  EXPECT_THAT(few.out, HasSubstr("too few runs"));
}

}  // namespace
}  // namespace goban::cli
