#include "base/time_zone.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "base/date_time.hpp"
#include "base/random.hpp"

namespace goban::base {
namespace {

using testing::HasSubstr;

int64_t seconds_of(const std::string& text) { return parse_date_time(text)->unix_ns / kSecond; }

/// The UTC times of a local time, as text.
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
    EXPECT_THAT(zone.error().text(), HasSubstr("unknown time zone")) << bad;
  }
}

/// Requires the zone database of the system.
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

void put(std::string& out, int64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

/// A zone file of version 2: (time, offset) of each change, the initial offset, and the footer.
std::string zone_file(int64_t before_s, const std::vector<std::pair<int64_t, int64_t>>& changes,
                      const std::string& footer) {
  const auto header = [](size_t times, size_t types) {
    std::string out = "TZif2" + std::string(15, '\0');
    for (const size_t count : {size_t{0}, size_t{0}, size_t{0}, times, types, size_t{4}}) {
      put(out, static_cast<int64_t>(count), 4);
    }
    return out;
  };
  const auto type = [](std::string& out, int64_t offset_s) {
    put(out, offset_s, 4);
    out += std::string(2, '\0');
  };
  const std::string name("ABC\0", 4);
  std::string out = header(0, 1) + std::string(6, '\0') + name;
  out += header(changes.size(), changes.size() + 1);
  for (const auto& [unix_s, offset_s] : changes) put(out, unix_s, 8);
  for (size_t i = 1; i <= changes.size(); ++i) out += static_cast<char>(i);
  type(out, before_s);
  for (const auto& [unix_s, offset_s] : changes) type(out, offset_s);
  return out + name + "\n" + footer + "\n";
}

TEST(TimeZone, TheFooterHoldsAfterTheLastListedChange) {
  // As zic -b slim writes Europe/Berlin: the rule of 1996 holds from its first change on.
  const std::vector<std::pair<int64_t, int64_t>> changes{{seconds_of("1996-03-31 01:00:00"), 7200},
                                                         {seconds_of("1996-10-27 01:00:00"), 3600}};
  const auto zone = TimeZone::parse(zone_file(3600, changes, "CET-1CEST,M3.5.0,M10.5.0/3"));
  ASSERT_TRUE(zone);
  EXPECT_FALSE(zone->is_utc());
  EXPECT_EQ(moments(*zone, "1996-01-15 12:00:00"), "1996-01-15 11:00:00");
  EXPECT_EQ(moments(*zone, "1996-07-15 12:00:00"), "1996-07-15 10:00:00");
  EXPECT_EQ(moments(*zone, "2024-01-15 12:00:00"), "2024-01-15 11:00:00");
  EXPECT_EQ(zone->moments_of(seconds_of("2040-07-01 12:00:00")).first_s, 2'224'749'600);
  EXPECT_EQ(moments(*zone, "2040-03-25 02:30:00"), "");
  EXPECT_EQ(moments(*zone, "2040-10-28 02:30:00"), "2040-10-28 00:30:00 or 2040-10-28 01:30:00");
  EXPECT_EQ(moments(*TimeZone::parse(zone_file(0, {}, "JST-9")), "2040-07-01 12:00:00"),
            "2040-07-01 03:00:00");
  EXPECT_TRUE(TimeZone::parse(zone_file(0, {}, "UTC0"))->is_utc());
  EXPECT_EQ(TimeZone::parse(zone_file(0, {}, ""))->offset_at(seconds_of("2040-07-01 12:00:00")), 0);
}

/// A slim file and a fat one are equivalent.
TEST(TimeZone, SlimAndFatFilesAreEqual) {
  const auto fat = TimeZone::load("Europe/Berlin");
  if (!fat) GTEST_SKIP() << "no zone database";
  const auto slim = TimeZone::parse(
      zone_file(3600, {{seconds_of("1996-10-27 01:00:00"), 3600}}, "CET-1CEST,M3.5.0,M10.5.0/3"));
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const int64_t unix_s = seconds_of("1996-11-01 00:00:00") +
                           static_cast<int64_t>(random.below(uint64_t{60} * 366 * 86'400));
    ASSERT_EQ(slim->offset_at(unix_s), fat->offset_at(unix_s)) << unix_s;
    const auto moments = slim->moments_of(unix_s);
    ASSERT_EQ(moments.count, fat->moments_of(unix_s).count) << unix_s;
    ASSERT_EQ(moments.first_s, fat->moments_of(unix_s).first_s) << unix_s;
  }
}

/// All zones of the system, from 1900 to 2500, against the C library.
TEST(TimeZone, EveryZoneAgreesWithTheCLibrary) {
  const std::filesystem::path root = "/usr/share/zoneinfo";
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().lexically_relative(root).string();
    // The zones of right/ count leap seconds, posix/ has all of them again.
    if (!at->is_regular_file() || name.starts_with("right/") || name.starts_with("posix")) continue;
    if (std::ifstream(at->path()).get() == 'T') names.push_back(name);
  }
  if (names.size() < 100) GTEST_SKIP() << "no zone database";
  const char* const was = std::getenv("TZ");
  const std::string kept = was == nullptr ? "" : was;
  Random random(2);
  for (const std::string& name : names) {
    const auto zone = TimeZone::load(name);
    if (!zone) continue;  // a table, not a zone
    setenv("TZ", (":" + name).c_str(), 1);
    tzset();
    for (int i = 0; i < 300; ++i) {
      const int64_t unix_s = seconds_of("1900-01-01 00:00:00") +
                             static_cast<int64_t>(random.below(uint64_t{600} * 365 * 86'400));
      const time_t moment = unix_s;
      tm local{};
      ASSERT_NE(localtime_r(&moment, &local), nullptr);
      ASSERT_EQ(zone->offset_at(unix_s), local.tm_gmtoff) << name << " " << unix_s;
      const auto moments = zone->moments_of(unix_s + local.tm_gmtoff);
      ASSERT_TRUE(moments.first_s == unix_s || (moments.count == 2 && moments.second_s == unix_s))
          << name << " " << unix_s;
    }
  }
  was == nullptr ? unsetenv("TZ") : setenv("TZ", kept.c_str(), 1);
  tzset();
}

TEST(TimeZone, BrokenFilesAreRefused) {
  const std::string good = zone_file(3600, {{100, 7200}}, "CET-1CEST,M3.5.0,M10.5.0/3");
  ASSERT_TRUE(TimeZone::parse(good));
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(TimeZone::parse(good.substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(TimeZone::parse(zone_file(0, {}, "CET-1CEST")));
  EXPECT_FALSE(TimeZone::parse(zone_file(27 * 3600, {}, "")));
  for (const std::string& bytes : {std::string(), std::string("TZif"), std::string(60, 'x'),
                                   "TZif2" + std::string(200, '\xff')}) {
    EXPECT_FALSE(TimeZone::parse(bytes));
  }
}

}  // namespace
}  // namespace goban::base
