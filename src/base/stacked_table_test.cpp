#include "base/stacked_table.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

StackedTable sample() {
  StackedTable table({{.title = "policy", .right = false},
                      {.title = "avg JCT", .width_min = 10, .gap = 2},
                      {.title = "gain"},
                      {.title = "busy", .gap = 3}});
  table.add({"fifo", "5.0 h", "-", "80 %"});
  table.add({"las+pal", "4.0 h", "+20 ±1 %", "91 %"});
  return table;
}

TEST(StackedTable, WithoutALimitItIsOneTable) {
  EXPECT_EQ(sample().text(),
            "policy      avg JCT     gain   busy\n"
            "fifo          5.0 h        -   80 %\n"
            "las+pal       4.0 h +20 ±1 %   91 %\n");
  EXPECT_EQ(sample().text(35), sample().text()) << "it has 35 characters";
}

TEST(StackedTable, WhatDoesNotFitFollowsBelowWithTheFirstColumn) {
  EXPECT_EQ(sample().text(34),
            "policy      avg JCT     gain\n"
            "fifo          5.0 h        -\n"
            "las+pal       4.0 h +20 ±1 %\n"
            "\n"
            "policy    busy\n"
            "fifo      80 %\n"
            "las+pal   91 %\n");
}

TEST(StackedTable, AVeryNarrowTerminalShowsTwoColumnsEach) {
  const std::string text = sample().text(3);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3 * 3 + 2);
}

}  // namespace
}  // namespace goban::base
