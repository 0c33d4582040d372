#include "base/number.hpp"

#include <charconv>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace goban::base {
namespace {

std::string seconds(TimeNs t) {
  std::string out;
  append_seconds(out, t);
  return out;
}

TEST(Number, SecondsAreExactAndShort) {
  EXPECT_EQ(seconds(0), "0");
  EXPECT_EQ(seconds(360 * kSecond), "360");
  EXPECT_EQ(seconds(1'500'000'000), "1.5");
  EXPECT_EQ(seconds(1), "0.000000001");
  EXPECT_EQ(seconds(-1'250'000'000), "-1.25");
  for (TimeNs ms = 1; ms < 1000; ++ms) {
    std::string digits = std::to_string(1000 + ms).substr(1);
    while (digits.back() == '0') digits.pop_back();
    EXPECT_EQ(seconds(7 * kSecond + ms * kSecond / 1000), "7." + digits);
  }
  EXPECT_EQ(seconds(7 * kSecond + 1'000'001), "7.001000001");
}

TEST(Number, DoublesReadBackEqual) {
  for (const double value : {0.1, 1.0, 1e300, -2.5e-7, 25320.99375}) {
    EXPECT_EQ(parse_double(number_text(value)), value);
  }
  EXPECT_EQ(number_text(3.0), "3");
}

std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

TEST(Number, WholeDoublesAreAsShortAsAnyOther) {
  for (int value = 0; value <= 200'000; ++value) EXPECT_EQ(number_text(value), shortest(value));
  for (const double value : {-0.0, -1.0, 99'999.5, 1e5, 1e9, 1e22}) {
    EXPECT_EQ(number_text(value), shortest(value));
  }
}

TEST(Number, EveryFractionOfASecondIsWritten) {
  for (TimeNs part = 1; part < kSecond; part = part * 3 + 7) {
    std::string expected = fmt::format("12.{:09}", part);
    expected.erase(expected.find_last_not_of('0') + 1);
    EXPECT_EQ(seconds(12 * kSecond + part), expected);
    EXPECT_EQ(seconds(-12 * kSecond - part), "-" + expected);
  }
}

TEST(Number, RefusesWhatIsNotWhollyANumber) {
  for (const char* text : {"", " 1", "1 ", "1x", "nan", "inf", "0x10"}) {
    EXPECT_FALSE(parse_double(text)) << text;
  }
  EXPECT_FALSE(parse_int("1.0"));
  EXPECT_EQ(parse_int("-7"), -7);
}

TEST(Time, CeilsAndSaturates) {
  EXPECT_EQ(from_seconds_up(1e-10), 1);
  EXPECT_EQ(from_seconds_up(1e300), kNever);
  EXPECT_EQ(add_saturating(5, kNever), kNever);
  EXPECT_EQ(add_saturating(5, 6), 11);
}

}  // namespace
}  // namespace goban::base
