// Counts in sentences.
#pragma once

#include <concepts>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace goban::base {

/// "1 job", "2 jobs", "0 jobs". `many` is the plural where it is not `one` with an s, also with a
/// verb: counted(n, "job was", "jobs were").
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}
/// The same for a whole number that came as JSON.
[[nodiscard]] inline std::string counted(double count, std::string_view one,
                                         std::string_view many = {}) {
  return counted(static_cast<int64_t>(count), one, many);
}

}  // namespace goban::base
