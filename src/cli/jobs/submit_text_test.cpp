// Text that is not valid UTF-8 is rejected or omitted, never passed on altered.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "cli/jobs/test_fake_daemon.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;

class SubmitText : public testing::Test {
 public:
  Output submit(const std::string& before, const std::string& words) const {
    return shell("cd " + folder.path() + " && " + before + " GOBAN submit --server " +
                 folder.path() + "/s " + words + " 2>&1");
  }
  base::TestFolder folder{"submit_text"};
  FakeDaemon daemon{folder.path() + "/s", {{"POST /v1/jobs", R"({"job": 7, "jobs": [7]})"}}};
};

TEST_F(SubmitText, ScriptsAreRefusedWithTheirLine) {
  folder.write("latin.sh",
               "#!/bin/sh\n# fine\ncd /data/\xfc"
               "bung\n");
  const Output run = submit("", "latin.sh");
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.out, HasSubstr("latin.sh:3: the script is not valid UTF-8 on this line"));
  EXPECT_THAT(run.out, HasSubstr("iconv"));
  EXPECT_THAT(run.out, HasSubstr("--wrap"));
  EXPECT_TRUE(daemon.asked().empty());
}

TEST_F(SubmitText, ArgumentsAndNamesAreRefused) {
  folder.write("job.sh",
               "#!/bin/sh\n# \xc3\xbc"
               "bung\n");
  EXPECT_EQ(submit("", "job.sh \xc3\xbc").code, 0) << "UTF-8 is fine";
  Output run = submit("", "job.sh fine \"$(printf 'a\\377')\"");
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.out, HasSubstr("argument 2 ('a\\xff') is not valid UTF-8"));
  run = submit("", "-J \"$(printf 'a\\377')\" job.sh");
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.out, HasSubstr("name: is not valid UTF-8"));
}

TEST_F(SubmitText, VariablesAreLeftOutWithAWarning) {
  const Output run = submit("GOOD=\xc3\xbc BAD=\"$(printf 'a\\377')\"", "--wrap true");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(
      run.out,
      HasSubstr("warning: environment variables omitted because they are not valid UTF-8: BAD\n"));
  const auto body = nlohmann::json::parse(daemon.last_body());
  EXPECT_EQ(body["env"]["GOOD"], "\xc3\xbc");
  EXPECT_FALSE(body["env"].contains("BAD"));
}

}  // namespace
}  // namespace goban::cli
