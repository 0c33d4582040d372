// Times on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::cli {

/// "2019-04-05", "2019-04-05T12:30:00+09:00" (UTC without a zone) or seconds since 1970, as
/// milliseconds since 1970. Errors: Usage, naming the option.
[[nodiscard]] base::Result<int64_t> parse_moment_ms(std::string_view option,
                                                    const std::string& text);
/// The same; `fallback` for an empty text.
[[nodiscard]] base::Result<int64_t> parse_moment_ms(std::string_view option,
                                                    const std::string& text, int64_t fallback);

/// The text with every time in UTC, such as "2026-12-01 08:00:00 UTC", written as the clocks of
/// this process's zone show it, without a zone. The daemon does not know the zone of its callers.
[[nodiscard]] std::string with_local_times(std::string_view text);

}  // namespace goban::cli
