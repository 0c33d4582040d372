#include "site/series/reduce.hpp"

#include <algorithm>
#include <cmath>

namespace goban::site::series {
namespace {

bool inside(double x, double mean, double sd, const TrimRule& rule) {
  const double slack = rule.tolerance * std::max({1.0, std::abs(x), std::abs(mean)});
  return std::abs(x - mean) <= rule.sigmas * sd + slack;
}

__extension__ using Wide = __int128;

}  // namespace

std::optional<Reduction> reduce(std::span<const double> values, const TrimRule& rule) {
  if (values.empty()) return std::nullopt;
  Reduction result;
  result.count = values.size();
  result.mean = *base::statistics::mean(values);
  result.sd = *base::statistics::standard_deviation(values, rule.sigma);
  const auto [min, max] = std::ranges::minmax(values);
  result.min = result.trimmed_max = min;
  result.max = max;
  for (const double value : values) {
    if (value > result.trimmed_max && inside(value, result.mean, result.sd, rule)) {
      result.trimmed_max = value;
    }
  }
  return result;
}

std::optional<Reduction> reduce(const CodeCounts& counts, double quantum, const TrimRule& rule) {
  uint64_t n = 0;
  uint64_t sum = 0;
  uint64_t squares = 0;  // 65000^2 * 4e9 samples < 2^64
  uint32_t least = kLargestCode;
  uint32_t most = 0;
  for (uint32_t code = counts.low(); code <= counts.high(); ++code) {
    const uint64_t times = counts.count(static_cast<uint16_t>(code));
    if (times == 0) continue;
    n += times;
    sum += times * code;
    squares += times * code * code;
    least = std::min(least, code);
    most = code;
  }
  if (n == 0) return std::nullopt;
  const auto count = static_cast<double>(n);
  // sum of (x - mu)^2 = (n * squares - sum^2) / n
  const Wide spread = static_cast<Wide>(n) * squares - static_cast<Wide>(sum) * sum;
  const bool sample = rule.sigma == base::statistics::SigmaRule::Sample;
  const double divisor = sample ? std::max(1.0, count - 1) : count;
  Reduction result;
  result.count = n;
  const double mean = static_cast<double>(sum) / count;
  const double sd = std::sqrt(static_cast<double>(spread) / count / divisor);
  uint32_t top = most;
  while (top > least &&
         (counts.count(static_cast<uint16_t>(top)) == 0 || !inside(top, mean, sd, rule))) {
    --top;
  }
  result.mean = mean * quantum;
  result.sd = sd * quantum;
  result.min = least * quantum;
  result.max = most * quantum;
  result.trimmed_max = top * quantum;
  return result;
}

}  // namespace goban::site::series
