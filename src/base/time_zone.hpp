// Local times of records that name no zone, as UTC: fixed offsets and the system's zone files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/zone_rule.hpp"

namespace goban::base {

/// A time zone. Local times around a change of the clock may mean two moments, or none.
class TimeZone {
 public:
  /// UTC.
  TimeZone() = default;
  /// "" or "UTC", "+09:00", "-0730", or a name of the zone database (Europe/Berlin, RFC 8536 files
  /// below /usr/share/zoneinfo). Errors: Usage if there is no such zone.
  [[nodiscard]] static Result<TimeZone> load(const std::string& name);
  /// From the bytes of a zone file. Errors: BadData without a place.
  [[nodiscard]] static Result<TimeZone> parse(std::string_view bytes);

  [[nodiscard]] bool is_utc() const { return changes_.empty() && offset_s_ == 0 && !rule_; }

  /// What a wall clock time may mean, in seconds since 1970 UTC. Times are within 2^62 everywhere.
  struct Moments {
    int count = 0;        ///< 0 = the clock skipped it, 2 = it came twice
    int64_t first_s = 0;  ///< the earlier one
    int64_t second_s = 0;
  };
  [[nodiscard]] Moments moments_of(int64_t local_s) const;
  /// Seconds that the zone is east of UTC at a moment.
  [[nodiscard]] int64_t offset_at(int64_t unix_s) const;

 private:
  struct Change {
    int64_t unix_s = 0;
    int64_t offset_s = 0;  ///< from then on
  };
  int64_t offset_s_ = 0;         ///< before the first change
  std::vector<Change> changes_;  ///< by time
  /// From the last change on; none if the offset stays then.
  std::optional<ZoneRule> rule_;
};

}  // namespace goban::base
