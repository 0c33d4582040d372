#include "cli/shell/moment.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/number.hpp"
#include "base/time.hpp"

namespace goban::cli {

base::Result<int64_t> parse_moment_ms(std::string_view option, const std::string& text) {
  constexpr size_t kDateSize = 10;
  if (const auto number = base::parse_double(text)) {
    if (std::abs(*number) <= base::kMaxSeconds) return std::llround(*number * 1000);
  } else if (const auto date =
                 base::parse_date_time(text.size() == kDateSize ? text + " 00:00:00" : text)) {
    return date->unix_ns / base::kMillisecond;
  }
  return base::usage_error(fmt::format("{}: '{}' is not a valid time", option, text),
                           "write 2019-04-05, 2019-04-05T12:30:00+09:00, or seconds since 1970");
}

base::Result<int64_t> parse_moment_ms(std::string_view option, const std::string& text,
                                      int64_t fallback) {
  if (text.empty()) return fallback;
  return parse_moment_ms(option, text);
}

std::string with_local_times(std::string_view text) {
  constexpr std::string_view kZone = " UTC";
  constexpr size_t kTimeSize = std::string_view("2026-12-01 08:00:00").size();
  std::string out;
  for (size_t zone = text.find(kZone); zone != std::string_view::npos; zone = text.find(kZone)) {
    const size_t begin = zone - std::min(zone, kTimeSize);
    out += text.substr(0, begin);
    const std::string_view time = text.substr(begin, zone - begin);
    const auto date = base::parse_date_time(time);
    out += date ? base::date_time_text(base::unix_to_local(date->unix_ns))
                : fmt::format("{}{}", time, kZone);
    text.remove_prefix(zone + kZone.size());
  }
  return out.append(text);
}

}  // namespace goban::cli
