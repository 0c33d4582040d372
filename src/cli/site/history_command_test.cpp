// goban history, run as a program.
#include <fstream>
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"
#include "site/store/job_store.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct HistoryCommand : testing::Test {
  Output goban(const std::string& arguments) const {
    return shell("cd " + folder.path() + " && GOBAN " + arguments + " 2>&1 < /dev/null");
  }
  base::TestFolder folder{"history"};
};

TEST_F(HistoryCommand, ForgetAsksFirst) {
  std::ofstream(folder.path() + "/jobs")
      << "JobID|User|Account|Submit|Start|End|State|AllocTRES|NodeList\n"
         "1|ann|acc|2020-03-30T10:00:00|2020-03-30T10:01:00|2020-03-30T11:00:00|COMPLETED|cpu=8,"
         "gres/gpu=2,mem=1G,node=1|g1\n"
         "2|ben|acc|2020-03-30T10:00:00|2020-03-30T10:01:00|2020-03-30T11:00:00|COMPLETED|cpu=8,"
         "gres/gpu=2,mem=1G,node=1|g1\n";
  ASSERT_EQ(goban("history import jobs --store s.db").code, 0);
  const Output asked = goban("history forget ann --store s.db");
  EXPECT_EQ(asked.code, 2);
  EXPECT_THAT(asked.out, HasSubstr("1 job and 0 daily sums of ann"));
  EXPECT_THAT(asked.out, HasSubstr("--yes"));
  EXPECT_THAT(goban("history export --plain --store s.db").out, HasSubstr("ann"));
  const Output done = goban("history forget ann --store s.db --yes");
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.out, HasSubstr("1 job and 0 daily sums now belong to forgotten-"));
  const Output left = goban("history export --plain --store s.db");
  EXPECT_THAT(left.out, Not(HasSubstr(",ann,")));
  EXPECT_THAT(left.out, HasSubstr(",ben,"));
  EXPECT_THAT(goban("history forget ann --store s.db").out, HasSubstr("no jobs of ann"));
}

TEST_F(HistoryCommand, WhatADaemonAppendsIsNoImport) {
  site::records::AccountingRecord record;
  record.id = "1";
  record.job_number = 1;
  record.user = "ann";
  record.submit_ns = record.start_ns = 1'700'000'000 * base::kSecond;
  record.end_ns = record.start_ns + base::kSecond;
  record.state = site::records::RecordedState::Completed;
  record.num_gpus = 1;
  {
    auto store = site::store::JobStore::open(folder.path() + "/s.db", true);
    ASSERT_TRUE(store) << store.error().text();
    const auto written = store->append({&record, 1}, "goban");
    ASSERT_TRUE(written) << written.error().text();
  }
  const Output status = goban("history status --store s.db");
  EXPECT_THAT(status.out,
              HasSubstr("1 job, 0 of them unfinished; 0 imports, 0 of them interrupted"));
}

TEST_F(HistoryCommand, ForgetAlsoEmptiesTheStateFolder) {
  ASSERT_EQ(
      shell("mkdir -p " + folder.path() + "/state/journal " + folder.path() + "/state/profiles")
          .code,
      0);
  std::ofstream(folder.path() + "/jobs")
      << "JobID|User|Account|Submit|Start|End|State|AllocTRES|NodeList\n"
         "1|ann|acc|2020-03-30T10:00:00|2020-03-30T10:01:00|2020-03-30T11:00:00|COMPLETED|cpu=8,"
         "gres/gpu=2,mem=1G,node=1|g1\n";
  ASSERT_EQ(goban("history import jobs --store s.db").code, 0);
  for (const char* name : {"51234-aa", "51235-bb"}) {
    std::ofstream(folder.path() + "/state/profiles/" + name + ".json") << "{}";
  }
  const std::string forget = "history forget no-such-user-here --store s.db --yes";
  EXPECT_EQ(goban(forget + " --uid 51234").code, 2) << "of which folder?";
  const Output unknown = goban(forget + " --state state");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.out, HasSubstr("--uid"));
  const Output done = goban(forget + " --state state --uid 51234");
  EXPECT_EQ(done.code, 0) << done.out;
  EXPECT_THAT(done.out, HasSubstr("removed 1 job profiles"));
  const std::string left = shell("ls " + folder.path() + "/state/profiles").out;
  EXPECT_EQ(left, "51235-bb.json\n");
}

}  // namespace
}  // namespace goban::cli
