#include "cli/shell/text_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::cli {
namespace {

TextTable sample() {
  TextTable table({{"JOB", true, 20}, {"NAME", false, 60}, {"STATE", false, 16}});
  table.add({"7", "a-name-of-thirty-characters-xx", "failed"});
  table.paint(2, Colour::Bad);
  table.add({"12", "b", ""});
  return table;
}

TEST(TextTable, WithoutATerminalItIsAsWideAsItsContents) {
  EXPECT_EQ(sample().text(),
            "JOB  NAME                            STATE\n"
            "  7  a-name-of-thirty-characters-xx  failed\n"
            " 12  b\n");
}

TEST(TextTable, OnATerminalTheWidestTextIsShortened) {
  const std::string text = sample().text({.width = 24, .coloured = false});
  EXPECT_EQ(text,
            "JOB  NAME         STATE\n"
            "  7  a-name-of-~  failed\n"
            " 12  b\n");
}

TEST(TextTable, ColoursSurroundTheTextOnly) {
  EXPECT_THAT(sample().text({.width = 0, .coloured = true}),
              testing::HasSubstr("xx  \x1b[31mfailed\x1b[0m\n"));
}

TEST(TextTable, WhatDoesNotFitFollowsBelow) {
  EXPECT_EQ(sample().text({.width = 18, .coloured = false}),
            "JOB  NAME\n"
            "  7  a-name-of-th~\n"
            " 12  b\n"
            "\n"
            "JOB  STATE\n"
            "  7  failed\n"
            " 12\n");
}

TEST(TextTable, EmptyColumnsAreLeftOutWhereRoomIsShort) {
  TextTable table({{"JOB", true}, {"REASON"}, {"WHERE"}});
  table.add({"7", "", "node-001"});
  EXPECT_EQ(table.text({.width = 21}), "JOB  REASON  WHERE\n  7          node-001\n");
  EXPECT_EQ(table.text({.width = 20}), "JOB  WHERE\n  7  node-001\n");
}

TEST(TextTable, AVeryNarrowTerminalLeavesEightCharacters) {
  EXPECT_THAT(sample().text({.width = 5, .coloured = false}), testing::HasSubstr("  7  a-name-~"));
}

TEST(Wrapped, LinesAreBrokenBetweenWords) {
  EXPECT_EQ(wrapped("one two three four\nfive\n", 0), "one two three four\nfive\n");
  EXPECT_EQ(wrapped("one two three four\nfive\n", 18), "one two three four\nfive\n");
  EXPECT_EQ(wrapped("one two three four\nfive\n", 12), "one two\n  three four\nfive\n");
  EXPECT_EQ(wrapped("gründlich geübt", 10), "gründlich\n  geübt");
  EXPECT_EQ(wrapped("unbreakable-word and", 8), "unbreakable-word\n  and");
}

TEST(Wrapped, CommandsStayWhole) {
  const std::string line = "Replay: goban simulate --cluster 4x4 --jobs jobs.csv";
  EXPECT_EQ(wrapped(line, 20), line);
}

TEST(Wrapped, DescriptionsStayBesideTheirNames) {
  EXPECT_EQ(wrapped("  abci    1088 nodes in 32 racks\n", 22),
            "  abci    1088 nodes\n          in 32 racks\n");
}

}  // namespace
}  // namespace goban::cli
