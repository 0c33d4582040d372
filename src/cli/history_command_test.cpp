// goban history through the program.
#include <fstream>
#include <gmock/gmock.h>

#include "cli/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct HistoryCommand : testing::Test {
  Output goban(const std::string& arguments) const {
    return shell("cd " + folder.path() + " && GOBAN " + arguments + " 2>&1 < /dev/null");
  }
  TestFolder folder{"history"};
};

TEST_F(HistoryCommand, ForgetAsksFirst) {
  std::ofstream(folder.path() + "/jobs")
      << "JobID|User|Account|Submit|Start|End|State|AllocTRES|NodeList\n"
         "1|ann|acc|2020-03-30T10:00:00|2020-03-30T10:01:00|2020-03-30T11:00:00|COMPLETED|"
         "cpu=8,gres/gpu=2,mem=1G,node=1|g1\n"
         "2|ben|acc|2020-03-30T10:00:00|2020-03-30T10:01:00|2020-03-30T11:00:00|COMPLETED|"
         "cpu=8,gres/gpu=2,mem=1G,node=1|g1\n";
  ASSERT_EQ(goban("history import jobs --store s.db").code, 0);
  const Output asked = goban("history forget ann --store s.db");
  EXPECT_EQ(asked.code, 2);
  EXPECT_THAT(asked.out, HasSubstr("1 jobs and 0 daily sums of ann"));
  EXPECT_THAT(asked.out, HasSubstr("--yes"));
  EXPECT_THAT(goban("history export --plain --store s.db").out, HasSubstr("ann"));
  const Output done = goban("history forget ann --store s.db --yes");
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.out, HasSubstr("1 jobs and 0 daily sums are forgotten-"));
  const Output left = goban("history export --plain --store s.db");
  EXPECT_THAT(left.out, Not(HasSubstr(",ann,")));
  EXPECT_THAT(left.out, HasSubstr(",ben,"));
  EXPECT_THAT(goban("history forget ann --store s.db").out, HasSubstr("no job of ann"));
}

}  // namespace
}  // namespace goban::cli
