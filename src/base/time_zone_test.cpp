#include "base/time_zone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/date_time.hpp"

namespace goban::base {
namespace {

using testing::HasSubstr;

int64_t seconds_of(const std::string& text) { return parse_date_time(text)->unix_ns / kSecond; }

/// The moments a local time means, as UTC texts.
std::string moments(const TimeZone& zone, const std::string& local) {
  const TimeZone::Moments moments = zone.moments_of(seconds_of(local));
  std::string out;
  if (moments.count > 0) out += date_time_text(moments.first_s * kSecond);
  if (moments.count > 1) out += " or " + date_time_text(moments.second_s * kSecond);
  return out;
}

TEST(TimeZone, FixedOffsets) {
  EXPECT_TRUE(TimeZone::load("")->is_utc());
  EXPECT_TRUE(TimeZone::load("UTC")->is_utc());
  EXPECT_EQ(moments(*TimeZone::load("+09:00"), "2019-04-05 09:00:00"), "2019-04-05 00:00:00");
  EXPECT_EQ(moments(*TimeZone::load("+9"), "2019-04-05 09:00:00"), "2019-04-05 00:00:00");
  EXPECT_EQ(moments(*TimeZone::load("-0730"), "2019-04-05 09:00:00"), "2019-04-05 16:30:00");
  for (const char* bad : {"+", "+99", "+9:0:0", "Nowhere/Atall", "../etc/passwd", "/etc/passwd"}) {
    const auto zone = TimeZone::load(bad);
    ASSERT_FALSE(zone) << bad;
    EXPECT_THAT(zone.error().text(), HasSubstr("no time zone is named")) << bad;
  }
}

/// Needs the zone database of the system.
TEST(TimeZone, TheClockSkipsAnHourAndRepeatsOne) {
  const auto berlin = TimeZone::load("Europe/Berlin");
  if (!berlin) GTEST_SKIP() << "no zone database";
  EXPECT_EQ(moments(*berlin, "2021-01-15 12:00:00"), "2021-01-15 11:00:00");
  EXPECT_EQ(moments(*berlin, "2021-07-15 12:00:00"), "2021-07-15 10:00:00");
  EXPECT_EQ(moments(*berlin, "2021-03-28 01:59:59"), "2021-03-28 00:59:59");
  EXPECT_EQ(moments(*berlin, "2021-03-28 02:30:00"), "");
  EXPECT_EQ(moments(*berlin, "2021-03-28 03:00:00"), "2021-03-28 01:00:00");
  EXPECT_EQ(moments(*berlin, "2021-10-31 01:59:59"), "2021-10-30 23:59:59");
  EXPECT_EQ(moments(*berlin, "2021-10-31 02:30:00"), "2021-10-31 00:30:00 or 2021-10-31 01:30:00");
  EXPECT_EQ(moments(*berlin, "2021-10-31 03:00:00"), "2021-10-31 02:00:00");
  EXPECT_EQ(moments(*berlin, "2020-02-29 12:00:00"), "2020-02-29 11:00:00");
  EXPECT_EQ(moments(*TimeZone::load("Asia/Tokyo"), "2019-04-05 09:00:00"), "2019-04-05 00:00:00");
  EXPECT_EQ(berlin->offset_at(seconds_of("2021-07-15 12:00:00")), 7200);
}

TEST(TimeZone, BrokenFilesAreRefused) {
  for (const std::string& bytes : {std::string(), std::string("TZif"), std::string(60, 'x'),
                                   "TZif2" + std::string(200, '\xff')}) {
    EXPECT_FALSE(TimeZone::parse(bytes));
  }
}

}  // namespace
}  // namespace goban::base
