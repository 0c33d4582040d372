#include "site/store/pseudonyms.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::site::store {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

TEST(Pseudonyms, HideNamesAndKeepWhoIsEqual) {
  Pseudonyms names("key");
  records::AccountingRecord record;
  record.user = record.account = "ann";
  record.job_name = "secret";
  record.command_line = "srun secret";
  record.partition = "gpu";
  const std::array<std::string_view, 2> software = {"cuda/12", "/home/ann/x.sif"};
  record.software = software;
  const auto hidden = names.hide(record);
  EXPECT_THAT(std::string(hidden.user), MatchesRegex("u[0-9a-f]+"));
  EXPECT_EQ(hidden.user.size(), 13u);
  EXPECT_NE(hidden.user.substr(1), hidden.account.substr(1));
  EXPECT_EQ(hidden.partition, "gpu");
  EXPECT_EQ(hidden.job_name, "");
  EXPECT_EQ(hidden.command_line, "");
  EXPECT_EQ(hidden.group, "");
  EXPECT_THAT(hidden.software, ElementsAre("cuda/12", "x.sif"));
  EXPECT_EQ(names.hide(record).user, hidden.user);
  EXPECT_NE(Pseudonyms("other").hide(record).user, hidden.user);
  record.user = "bob";
  EXPECT_NE(names.hide(record).user, hidden.user);
}

}  // namespace
}  // namespace goban::site::store
