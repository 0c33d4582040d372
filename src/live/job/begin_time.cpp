#include "live/job/begin_time.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/date_time.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::job {
namespace {

using base::kSecond;

struct NamedHour {
  std::string_view name;
  int hour;
};
constexpr auto kHours = std::to_array<NamedHour>(
    {{"midnight", 0}, {"elevenses", 11}, {"noon", 12}, {"fika", 15}, {"teatime", 16}});

struct Unit {
  std::string_view name;  ///< longer forms and plurals begin with it
  std::string_view full;
  int64_t seconds;
};
constexpr auto kUnits = std::to_array<Unit>({{"s", "seconds", 1},
                                             {"m", "minutes", 60},
                                             {"h", "hours", 3600},
                                             {"d", "days", 86'400},
                                             {"w", "weeks", 604'800}});

/// The part of a text in front of another: "+2hours" of "now+2hours"; nothing if it differs.
std::optional<std::string_view> behind(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  return base::trimmed(text.substr(word.size()));
}

/// "+2hours", "+ 90": seconds.
std::optional<int64_t> span_s(std::string_view text) {
  if (!text.starts_with('+')) return std::nullopt;
  text = base::trimmed(text.substr(1));
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = base::parse_int(text.substr(0, digits));
  const std::string_view name = base::trimmed(text.substr(digits));
  constexpr int64_t kCountMax = 5'000'000'000;
  if (digits == 0 || !count || *count > kCountMax) return std::nullopt;
  if (name.empty()) return count;
  for (const Unit& unit : kUnits) {
    if (name.starts_with(unit.name) && unit.full.starts_with(name)) return *count * unit.seconds;
  }
  return std::nullopt;
}

/// "16:00", "16:00:30": time of day.
std::optional<TimeNs> hour_ns(std::string_view text) {
  for (const NamedHour& each : kHours) {
    if (each.name == text) return each.hour * base::kHour;
  }
  constexpr size_t kShort = 5;
  const std::string seconds = text.size() <= kShort ? ":00" : "";
  const std::string padded = text.find(':') == 1 ? "0" : "";
  const auto time = base::parse_date_time("1970-01-01 " + padded + std::string(text) + seconds);
  if (!time || time->has_zone) return std::nullopt;
  return time->unix_ns / kSecond * kSecond;
}

std::optional<TimeNs> date_ns(std::string text) {
  constexpr size_t kDate = 10;
  constexpr size_t kMinutes = 16;
  if (text.size() == kDate) text += "t00:00";
  if (text.size() == kMinutes) text += ":00";
  if (text.size() <= kDate || (text[kDate] != 't' && text[kDate] != ' ')) return std::nullopt;
  text[kDate] = ' ';
  if (text.ends_with('z')) text.back() = 'Z';
  const auto date = base::parse_date_time(text);
  if (!date) return std::nullopt;
  const TimeNs whole = date->unix_ns / kSecond * kSecond;
  return date->has_zone ? whole : base::local_to_unix(whole);
}

}  // namespace

base::Result<TimeNs> parse_begin(std::string_view text, TimeNs now_ns) {
  const std::string word = base::lowered(base::trimmed(text));
  const TimeNs now = now_ns / kSecond * kSecond;
  const TimeNs today = base::unix_to_local(now) / base::kDay * base::kDay;
  std::optional<TimeNs> begin;
  if (const auto rest = behind(word, "now")) {
    const auto seconds = rest->empty() ? std::optional<int64_t>(0) : span_s(*rest);
    const bool in_range =
        seconds && static_cast<double>(*seconds) + base::to_seconds(now) < base::kMaxSeconds;
    if (in_range) begin = *seconds == 0 ? 0 : now + *seconds * kSecond;
  } else if (word == "today") {
    begin = base::local_to_unix(today);
  } else if (word == "tomorrow") {
    begin = base::local_to_unix(today + base::kDay);
  } else if (const auto hour = hour_ns(word)) {
    begin = base::local_to_unix(today + *hour);
    if (*begin <= now_ns) begin = base::local_to_unix(today + base::kDay + *hour);
  } else {
    begin = date_ns(word);
  }
  if (begin && *begin >= 0) return *begin;
  return refused_value(text, "not a valid start time",
                       "write it as 16:00, 2026-12-01, 2026-12-01T08:00, now+2hours or tomorrow");
}

}  // namespace goban::live::job
