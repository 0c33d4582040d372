// Start times in Slurm's forms; the local zone is set by each test.
#include "live/job/begin_time.hpp"

#include <cstdlib>
#include <ctime>
#include <gmock/gmock.h>

#include "base/date_time.hpp"

namespace goban::live::job {
namespace {

using base::kSecond;
using base::TimeNs;

/// 2026-11-23 10:00:00 UTC.
constexpr TimeNs kNow = 1'795'428'000 * kSecond + 5;

struct BeginTime : testing::Test {
  void SetUp() override { set_zone("UTC0"); }
  void TearDown() override { set_zone(old_.empty() ? nullptr : old_.c_str()); }
  static void set_zone(const char* zone) {
    if (zone == nullptr) {
      ::unsetenv("TZ");
    } else {
      ::setenv("TZ", zone, 1);
    }
    ::tzset();
  }
  static std::string read(std::string_view text) {
    const auto begin = parse_begin(text, kNow);
    if (!begin) return begin.error().text();
    return *begin == 0 ? "now" : base::date_time_text(*begin);
  }

 private:
  std::string old_ = ::getenv("TZ") == nullptr ? "" : ::getenv("TZ");
};

TEST_F(BeginTime, TheFormsOfSlurm) {
  EXPECT_EQ(read("16:00"), "2026-11-23 16:00:00");
  EXPECT_EQ(read("16:00:30"), "2026-11-23 16:00:30");
  EXPECT_EQ(read("9:30"), "2026-11-24 09:30:00") << "the next such time";
  EXPECT_EQ(read("2026-12-01"), "2026-12-01 00:00:00");
  EXPECT_EQ(read("2026-12-01T08:15"), "2026-12-01 08:15:00");
  EXPECT_EQ(read("2026-12-01T08:15:20"), "2026-12-01 08:15:20");
  EXPECT_EQ(read("2026-12-01T08:15:20+09:00"), "2026-11-30 23:15:20");
  EXPECT_EQ(read("2020-01-01"), "2020-01-01 00:00:00") << "it is eligible at once";
  EXPECT_EQ(read("now"), "now");
  EXPECT_EQ(read("now+1hour"), "2026-11-23 11:00:00");
  EXPECT_EQ(read("now+60"), "2026-11-23 10:01:00");
  EXPECT_EQ(read("now + 2 minutes"), "2026-11-23 10:02:00");
  EXPECT_EQ(read("NOW+2weeks"), "2026-12-07 10:00:00");
  EXPECT_EQ(read("tomorrow"), "2026-11-24 00:00:00");
  EXPECT_EQ(read("today"), "2026-11-23 00:00:00");
  EXPECT_EQ(read("teatime"), "2026-11-23 16:00:00");
  EXPECT_EQ(read("midnight"), "2026-11-24 00:00:00");
}

TEST_F(BeginTime, IsLocal) {
  set_zone("XYZ-9");  // east of UTC: there it is 19:00
  EXPECT_EQ(read("16:00"), "2026-11-24 07:00:00");
  EXPECT_EQ(read("20:00"), "2026-11-23 11:00:00");
  EXPECT_EQ(read("tomorrow"), "2026-11-23 15:00:00");
  EXPECT_EQ(read("2026-12-01T08:15"), "2026-11-30 23:15:00");
  EXPECT_EQ(read("2026-12-01T08:15:00Z"), "2026-12-01 08:15:00");
}

TEST_F(BeginTime, OtherTextsAreRefused) {
  for (const char* text : {"", "soon", "25:00", "16", "16:00:61", "2026-13-01", "2026-12-01T",
                           "2026-12-01x08:15", "now+", "now-1hour", "now+1fortnight", "now+1x",
                           "now+99999999999999999999", "now+5000000000", "1200"}) {
    EXPECT_THAT(read(text), testing::HasSubstr("not a valid start time")) << text;
  }
}

}  // namespace
}  // namespace goban::live::job
