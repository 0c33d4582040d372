#include "base/date_time.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

int64_t ns_of(std::string_view text) {
  const auto value = parse_date_time(text);
  return value ? value->unix_ns : -1;
}

TEST(DateTime, ReadsWhatDatePrints) {  // expected: date -u -d ... +%s
  EXPECT_EQ(ns_of("2017-10-09 07:01:55"), 1507532515 * kSecond);
  EXPECT_EQ(ns_of("2020-02-29T23:59:59"), 1583020799 * kSecond);
  EXPECT_EQ(ns_of("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(ns_of("2023-03-01 00:00:05+08:00"), 1677600005 * kSecond);
  EXPECT_EQ(ns_of("2023-03-01T00:00:05-0730"), 1677655805 * kSecond);
  EXPECT_EQ(ns_of("2017-10-09 07:01:55.25"), 1507532515 * kSecond + 250'000'000);
  EXPECT_FALSE(parse_date_time("2017-10-09 07:01:55")->has_zone);
  EXPECT_TRUE(parse_date_time("2017-10-09 07:01:55Z")->has_zone);
}

TEST(DateTime, RefusesWhatIsNoDate) {
  for (const char* text :
       {"", "2017-10-09", "2017-10-09 07:01", "2017-02-29 00:00:00", "2017-13-01 00:00:00",
        "2017-00-01 00:00:00", "2017-10-09 24:00:00", "2017-10-09 07:60:00", "2017-10-09 07:01:60",
        "2017-10-09 07:01:55 ", "2017-10-09 07:01:55.", "2017-10-09 07:01:55.1234567890",
        "2017-10-09 07:01:55+8", "2017-10-09 07:01:55+24:00", "1969-12-31 23:59:59",
        "1970-01-01 00:00:00+00:01", "2999-01-01 00:00:00", "10/09/2017 07:01:55", "1507532515"}) {
    EXPECT_FALSE(parse_date_time(text)) << text;
  }
}

TEST(DateTime, TextReadsBack) {
  for (int64_t unix_s = 0; unix_s < 4'500'000'000; unix_s += 86'399 * 97) {
    const std::string text = date_time_text(unix_s * kSecond);
    EXPECT_EQ(text.substr(0, 10), date_text(unix_s * kSecond));
    EXPECT_EQ(ns_of(text), unix_s * kSecond) << text;
  }
}

}  // namespace
}  // namespace goban::base
