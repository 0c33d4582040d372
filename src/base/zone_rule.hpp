// The rule of a zone after the last change that its file lists: the POSIX TZ string at the file's
// end (POSIX 8.3, with the hours of RFC 8536, section 3.3.1), such as `CET-1CEST,M3.5.0,M10.5.0/3`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace goban::base {

/// A standard time, and optionally a daylight saving time between two dates of every year.
class ZoneRule {
 public:
  /// nullopt if the text is not a TZ string, or names a daylight saving time without its dates.
  [[nodiscard]] static std::optional<ZoneRule> parse(std::string_view text);

  [[nodiscard]] bool has_daylight_saving() const { return has_daylight_saving_; }
  /// The zone's offset in seconds east of UTC, at a time in seconds since 1970 UTC.
  [[nodiscard]] int64_t offset_at(int64_t unix_s) const;
  /// The clock changes from two years before the year of a time to the year after it, ascending.
  /// The time is within +-2^62; the zone has daylight saving time.
  using Changes = std::array<int64_t, 8>;
  [[nodiscard]] Changes changes_near(int64_t unix_s) const;

 private:
  friend class ZoneRuleParser;
  /// A day of every year, and seconds from its beginning (may be negative, or beyond the day).
  struct Day {
    enum class Kind : uint8_t { MonthWeekDay, WithoutLeapDay, WithLeapDay };
    Kind kind = Kind::WithLeapDay;
    uint8_t month = 0;
    uint8_t week = 0;    ///< 5 = the last one
    uint16_t day = 0;    ///< of the week (0 = Sunday); of the year, from 1 or from 0
    int32_t time_s = 0;  ///< by the clock before the change
  };
  /// A clock change.
  struct Change {
    int64_t unix_s = 0;
    bool to_daylight_saving = false;
    friend auto operator<=>(const Change&, const Change&) = default;
  };
  [[nodiscard]] static int64_t local_seconds(const Day& day, int year);
  [[nodiscard]] std::array<Change, 8> around(int64_t moment_s) const;

  int64_t standard_s_ = 0;  ///< east of UTC
  int64_t daylight_s_ = 0;
  bool has_daylight_saving_ = false;
  Day start_;
  Day end_;
};

}  // namespace goban::base
