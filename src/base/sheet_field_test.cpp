#include "base/sheet_field.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

TEST(SheetField, TextThatLooksLikeAFormulaStaysText) {
  const auto cell = [](std::string_view text) {
    std::string out;
    append_sheet_field(out, text);
    return out;
  };
  EXPECT_EQ(cell("=1+1"), "'=1+1");
  EXPECT_EQ(cell("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(cell("-2+3"), "'-2+3");
  EXPECT_EQ(cell("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
  EXPECT_EQ(cell("\t=1"), "'\t=1");
  EXPECT_EQ(cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(cell("+-5"), "'+-5");
  for (const char* same : {"-5", "-1.5e-3", "+7", "-", "", "plain", "a=b", "5-3", "user-1"}) {
    EXPECT_EQ(cell(same), same);
  }
}

}  // namespace
}  // namespace goban::base
