#include "cli/shell/moment.hpp"

#include <cmath>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/number.hpp"
#include "base/time.hpp"

namespace goban::cli {

base::Result<int64_t> parse_moment_ms(std::string_view option, const std::string& text) {
  constexpr size_t kDateSize = 10;
  constexpr int64_t kMilli_ns = 1'000'000;
  if (const auto number = base::parse_double(text)) {
    if (std::abs(*number) <= base::kMaxSeconds) return std::llround(*number * 1000);
  } else if (const auto date =
                 base::parse_date_time(text.size() == kDateSize ? text + " 00:00:00" : text)) {
    return date->unix_ns / kMilli_ns;
  }
  return base::usage_error(fmt::format("{}: '{}' is not a valid time", option, text),
                           "write 2019-04-05, 2019-04-05T12:30:00+09:00, or seconds since 1970");
}

base::Result<int64_t> parse_moment_ms(std::string_view option, const std::string& text,
                                      int64_t fallback) {
  if (text.empty()) return fallback;
  return parse_moment_ms(option, text);
}

}  // namespace goban::cli
