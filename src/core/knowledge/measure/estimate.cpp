#include "core/knowledge/measure/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "core/knowledge/median.hpp"

namespace goban::core::knowledge {
namespace {

constexpr std::array<std::string_view, kNumKernels> kNames{"compute", "mixed", "memory"};

/// The largest r with P(Binomial(n, 1/2) <= r - 1) <= alpha: the r-th smallest of n values is above
/// the median with at most this probability. 0 = none.
size_t sure_rank(size_t n, double alpha) {
  double term = std::pow(0.5, static_cast<double>(n));
  double sum = 0;
  for (size_t r = 0; r < n; ++r) {
    sum += term;
    if (sum > alpha) return r;
    term *= static_cast<double>(n - r) / static_cast<double>(r + 1);
  }
  return n;
}

}  // namespace

std::string_view kernel_name(Kernel kernel) { return kNames[static_cast<size_t>(kernel)]; }

std::optional<Kernel> parse_kernel(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Kernel>(found - kNames.begin());
}

TimeEstimate estimate_time(std::span<const double> block_s) {
  std::vector<double> sorted(block_s.begin(), block_s.end());
  std::ranges::sort(sorted);
  TimeEstimate out{.time_s = median(sorted), .blocks = static_cast<uint32_t>(sorted.size())};
  const size_t rank = sure_rank(sorted.size(), (1 - kIntervalLevel) / 2);
  if (rank == 0) return out;
  out.low_s = sorted[rank - 1];
  out.high_s = sorted[sorted.size() - rank];
  return out;
}

std::optional<double> lower_bound(std::span<const double> block_s, double alpha) {
  std::vector<double> sorted(block_s.begin(), block_s.end());
  std::ranges::sort(sorted);
  const size_t rank = sure_rank(sorted.size(), alpha);
  if (rank == 0) return std::nullopt;
  return sorted[rank - 1];
}

}  // namespace goban::core::knowledge
