// Dates of accounting records as text, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace goban::base {

/// A time as written in a record.
struct DateTime {
  TimeNs unix_ns = 0;  ///< since 1970, read as UTC if there is no zone
  bool has_zone = false;
};

/// Reads `2017-10-09 07:01:55`, optionally with `T` instead of the blank, a fraction of up to nine
/// digits, and a zone (`Z`, `+08:00`, `+0800`). nullopt for anything else, for dates that do not
/// exist, and for dates outside 1970 to 2115 (kMaxSeconds).
[[nodiscard]] std::optional<DateTime> parse_date_time(std::string_view text);

/// `2017-10-09 07:01:55`, in UTC, truncated to seconds. The time must not be before 1970.
[[nodiscard]] std::string date_time_text(TimeNs unix_ns);
/// `2017-10-09`, likewise.
[[nodiscard]] std::string date_text(TimeNs unix_ns);

/// The time at which the clocks of this process's zone (`TZ`) show `local_ns`, a time written
/// without a zone and read as UTC; in whole seconds. In the hour that a clock change skips or
/// repeats, one of the possible times.
[[nodiscard]] TimeNs local_to_unix(TimeNs local_ns);
/// What these clocks show at a time, in the same form.
[[nodiscard]] TimeNs unix_to_local(TimeNs unix_ns);

/// 2000-01-01. Inputs whose time origin is unknown: times from here on are taken as Unix times.
inline constexpr TimeNs kUnixTimesFrom = 946'684'800 * kSecond;

}  // namespace goban::base
