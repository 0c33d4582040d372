// The median, as in numpy: the mean of the two middle values if their number is even.
#pragma once

#include <algorithm>
#include <vector>

#include "base/check.hpp"

namespace goban::core::knowledge {

/// Median of at least one value. Cost: linear.
[[nodiscard]] inline double median(std::vector<double> values) {
  GOBAN_CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::ranges::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

}  // namespace goban::core::knowledge
