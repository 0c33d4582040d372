// Numbers as ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace goban::base {

/// The numbers, ascending, as ranges: "0-3,6".
[[nodiscard]] inline std::string ranges_text(std::vector<int32_t> numbers) {
  std::ranges::sort(numbers);
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace goban::base
