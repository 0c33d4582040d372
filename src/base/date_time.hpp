// Dates of accounting records as text, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace goban::base {

/// A moment as a record writes it.
struct DateTime {
  TimeNs unix_ns = 0;  ///< since 1970, read as UTC if there is no zone
  bool has_zone = false;
};

/// Reads `2017-10-09 07:01:55`, with `T` for the blank, a fraction of up to nine digits, and a zone
/// (`Z`, `+08:00`, `+0800`) if given. None for anything else, and for dates that do not exist or
/// lie outside of 1970..2115 (kMaxSeconds).
[[nodiscard]] std::optional<DateTime> parse_date_time(std::string_view text);

/// `2017-10-09 07:01:55`, in UTC, whole seconds; for times since 1970.
[[nodiscard]] std::string date_time_text(TimeNs unix_ns);

/// Earliest time taken as one since 1970 where an input may count from anywhere: 2000-01-01.
inline constexpr TimeNs kUnixTimesFrom = 946'684'800 * kSecond;

}  // namespace goban::base
