// Parses arbitrary bytes as a zone file and as a TZ string: rejected, or a zone whose conversions
// in both directions agree.
#include "base/time_zone.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/check.hpp"
#include "base/time.hpp"

namespace {

constexpr int64_t kYear_s = int64_t{366} * 24 * goban::base::kHour_s;

void check_rule(const goban::base::ZoneRule& rule, int64_t unix_s) {
  GOBAN_CHECK(std::abs(rule.offset_at(unix_s)) <= 26 * goban::base::kHour_s);
  if (!rule.has_daylight_saving()) return;
  const auto changes = rule.changes_near(unix_s);
  GOBAN_CHECK(std::ranges::is_sorted(changes));
  GOBAN_CHECK(changes.front() <= unix_s);
}

void check_zone(const goban::base::TimeZone& zone, int64_t local_s) {
  const auto moments = zone.moments_of(local_s);
  GOBAN_CHECK(moments.count >= 0 && moments.count <= 2);
  if (moments.count > 0) {
    GOBAN_CHECK(moments.first_s + zone.offset_at(moments.first_s) == local_s);
  }
  if (moments.count > 1) {
    GOBAN_CHECK(moments.first_s < moments.second_s);
    GOBAN_CHECK(moments.second_s + zone.offset_at(moments.second_s) == local_s);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto rule = goban::base::ZoneRule::parse(bytes);
  const auto zone = goban::base::TimeZone::parse(bytes);
  for (int64_t i = -40; i < 200; ++i) {
    const int64_t time_s = i * (kYear_s / 4 + 7 * goban::base::kHour_s);
    if (rule) check_rule(*rule, time_s);
    if (zone) check_zone(*zone, time_s);
  }
  return 0;
}
