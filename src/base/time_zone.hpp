// Time zones, to convert local times of records without a zone to UTC: fixed offsets and the
// system's zone files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/zone_rule.hpp"

namespace goban::base {

/// A time zone. A local time around a clock change may correspond to two UTC times, or to none.
class TimeZone {
 public:
  /// UTC.
  TimeZone() = default;
  /// "" or "UTC", "+09:00", "-0730", or a name of the zone database (Europe/Berlin; RFC 8536 files
  /// in /usr/share/zoneinfo). Errors: Usage if the zone is unknown.
  [[nodiscard]] static Result<TimeZone> load(const std::string& name);
  /// From the bytes of a zone file. Errors: BadData without a position.
  [[nodiscard]] static Result<TimeZone> parse(std::string_view bytes);

  [[nodiscard]] bool is_utc() const { return changes_.empty() && offset_s_ == 0 && !rule_; }

  /// The UTC times of a local time, in seconds since 1970. All times are within +-2^62.
  struct Moments {
    int count = 0;        ///< 0 = skipped by a clock change, 2 = it occurred twice
    int64_t first_s = 0;  ///< the earlier one
    int64_t second_s = 0;
  };
  [[nodiscard]] Moments moments_of(int64_t local_s) const;
  /// The zone's offset at a time, in seconds east of UTC.
  [[nodiscard]] int64_t offset_at(int64_t unix_s) const;

 private:
  struct Change {
    int64_t unix_s = 0;
    int64_t offset_s = 0;  ///< from then on
  };
  int64_t offset_s_ = 0;         ///< before the first change
  std::vector<Change> changes_;  ///< by time
  /// Applies from the last change on; none if the offset is constant from then on.
  std::optional<ZoneRule> rule_;
};

}  // namespace goban::base
