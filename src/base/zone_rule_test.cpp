#include "base/zone_rule.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "base/date_time.hpp"

namespace goban::base {
namespace {

int64_t seconds_of(const std::string& text) { return parse_date_time(text)->unix_ns / kSecond; }

/// Hours east of UTC at a time of UTC.
double hours_at(const char* rule, const std::string& utc) {
  return static_cast<double>(ZoneRule::parse(rule).value().offset_at(seconds_of(utc))) / 3600;
}

TEST(ZoneRule, WithoutDaylightSaving) {
  EXPECT_EQ(hours_at("UTC0", "2040-07-01 12:00:00"), 0);
  EXPECT_EQ(hours_at("JST-9", "2040-07-01 12:00:00"), 9);
  EXPECT_EQ(hours_at("<-0330>3:30", "2040-07-01 12:00:00"), -3.5);
  EXPECT_EQ(hours_at("<+1245>-12:45:00", "2040-07-01 12:00:00"), 12.75);
  EXPECT_FALSE(ZoneRule::parse("JST-9")->has_daylight_saving());
}

TEST(ZoneRule, WeekdaysOfMonths) {
  const char* const berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_EQ(hours_at(berlin, "2040-03-25 00:59:59"), 1);
  EXPECT_EQ(hours_at(berlin, "2040-03-25 01:00:00"), 2);
  EXPECT_EQ(hours_at(berlin, "2040-10-28 00:59:59"), 2);
  EXPECT_EQ(hours_at(berlin, "2040-10-28 01:00:00"), 1);
  const char* const new_york = "EST5EDT,M3.2.0,M11.1.0";
  EXPECT_EQ(hours_at(new_york, "2040-03-11 06:59:59"), -5);
  EXPECT_EQ(hours_at(new_york, "2040-03-11 07:00:00"), -4);
  EXPECT_EQ(hours_at(new_york, "2040-11-04 06:00:00"), -5);
  const char* const sydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";  // summer around the new year
  EXPECT_EQ(hours_at(sydney, "2040-01-01 00:00:00"), 11);
  EXPECT_EQ(hours_at(sydney, "2040-07-01 00:00:00"), 10);
  EXPECT_EQ(hours_at(sydney, "2040-12-31 23:59:59"), 11);
}

TEST(ZoneRule, HoursBeyondTheDayAndNegativeSavings) {
  const char* const gaza = "EET-2EEST,M3.4.4/50,M10.4.4/50";
  EXPECT_EQ(hours_at(gaza, "2040-03-23 23:59:59"), 2);  // Thursday the 22nd + 50 hours
  EXPECT_EQ(hours_at(gaza, "2040-03-24 00:00:00"), 3);
  const char* const nuuk = "<-02>2<-01>,M3.5.0/-1,M10.5.0/0";
  EXPECT_EQ(hours_at(nuuk, "2040-03-25 00:59:59"), -2);
  EXPECT_EQ(hours_at(nuuk, "2040-03-25 01:00:00"), -1);
  const char* const dublin = "IST-1GMT0,M10.5.0,M3.5.0/1";  // winter is the other time
  EXPECT_EQ(hours_at(dublin, "2040-01-15 00:00:00"), 0);
  EXPECT_EQ(hours_at(dublin, "2040-07-15 00:00:00"), 1);
}

TEST(ZoneRule, DaysOfTheYear) {
  EXPECT_EQ(hours_at("AAA0BBB,J60/0,J300/0", "2040-02-29 23:59:59"), 0);  // March 1 in every year
  EXPECT_EQ(hours_at("AAA0BBB,J60/0,J300/0", "2040-03-01 00:00:00"), 1);
  EXPECT_EQ(hours_at("AAA0BBB,J60/0,J300/0", "2041-03-01 00:00:00"), 1);
  EXPECT_EQ(hours_at("AAA0BBB,59/0,300/0", "2040-02-29 00:00:00"), 1);
  EXPECT_EQ(hours_at("AAA0BBB,59/0,300/0", "2041-02-28 23:59:59"), 0);
  const char* const always = "XXX3EDT4,0/0,J365/23";  // RFC 8536, section 3.3.1
  for (const char* utc : {"2040-01-01 02:59:59", "2040-01-01 03:00:00", "2040-06-01 00:00:00"}) {
    EXPECT_EQ(hours_at(always, utc), -4) << utc;
  }
}

TEST(ZoneRule, YearsRepeatForEver) {
  const ZoneRule berlin = ZoneRule::parse("CET-1CEST,M3.5.0,M10.5.0/3").value();
  constexpr int64_t kCycle_s = int64_t{146'097} * 86'400;
  const int64_t july_s = seconds_of("2040-07-01 12:00:00");
  for (const int64_t cycles : {-5, -1, 1, 1000}) {
    EXPECT_EQ(berlin.offset_at(july_s + cycles * kCycle_s), 7200) << cycles;
  }
  EXPECT_EQ(berlin.offset_at(INT64_MAX) % 3600, 0);
  EXPECT_EQ(berlin.offset_at(INT64_MIN) % 3600, 0);
  const auto changes = berlin.changes_near(july_s);
  EXPECT_TRUE(std::ranges::is_sorted(changes));
  EXPECT_EQ(changes[4], seconds_of("2040-03-25 01:00:00"));
  EXPECT_EQ(changes[5], seconds_of("2040-10-28 01:00:00"));
}

TEST(ZoneRule, RefusesOthers) {
  for (const char* text :
       {"", "CET", "CE-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0/3 ", "CET-25",
        "CET-1:60", "<CET-1", "<+1>-1", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J9", "CET-1CEST,J366,J9", "CET-1CEST,366,9",
        "CET-1CEST,M3.5.0/168,M10.5.0", "CET-99999999999999999999"}) {
    EXPECT_FALSE(ZoneRule::parse(text)) << text;
  }
}

}  // namespace
}  // namespace goban::base
