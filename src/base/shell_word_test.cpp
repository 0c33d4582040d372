#include "base/shell_word.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

TEST(ShellWord, QuotesWithinQuotesAreEscaped) {
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word("it's; rm"), R"('it'\''s; rm')");
  EXPECT_EQ(shell_quoted("plain"), "'plain'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(ShellWord, PlainTextIsShownWithoutQuotes) {
  EXPECT_EQ(shell_word("user@host:/a_b/c-d.e,f=1+2%"), "user@host:/a_b/c-d.e,f=1+2%");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("~"), "'~'");
  EXPECT_EQ(shell_word("gründlich"), "'gründlich'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace goban::base
