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

}  // namespace goban::cli
