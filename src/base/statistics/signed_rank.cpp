#include "base/statistics/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace goban::base::statistics {
namespace {

constexpr double kTail = 0.025;

/// The number of the ordered means of pairs at which the interval begins, from 0; none if even all
/// differences of one sign are too likely. With fair signs, the rank sum is below c + 1 with a
/// probability of at most kTail.
std::optional<size_t> cut(size_t count) {
  const size_t most = count * (count + 1) / 2;
  std::vector<double> chance(most + 1);  // of each rank sum
  chance[0] = 1;
  for (size_t rank = 1; rank <= count; ++rank) {
    for (size_t sum = most + 1; sum-- > 0;) {
      chance[sum] = (chance[sum] + (sum >= rank ? chance[sum - rank] : 0)) / 2;
    }
  }
  double below = 0;
  size_t at = 0;
  while (at <= most && below + chance[at] <= kTail) below += chance[at++];
  if (at == 0) return std::nullopt;
  return at - 1;
}

/// ln of the probability of `hits` of `trials`.
double ln_chance(size_t hits, size_t trials, double rate) {
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(trials);
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(rate) +
         (n - k) * std::log1p(-rate);
}

}  // namespace

std::optional<SignedRankInterval> signed_rank_interval_95(std::span<const double> differences) {
  if (differences.size() < kSignedRankLeast) return std::nullopt;
  const auto at = cut(differences.size());
  if (!at) return std::nullopt;
  std::vector<double> means;
  means.reserve(differences.size() * (differences.size() + 1) / 2);
  for (size_t i = 0; i < differences.size(); ++i) {
    for (size_t j = i; j < differences.size(); ++j) {
      means.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::ranges::sort(means);
  const size_t half = means.size() / 2;
  const double middle = means.size() % 2 == 1 ? means[half] : (means[half - 1] + means[half]) / 2;
  return SignedRankInterval{middle, means[*at], means[means.size() - 1 - *at]};
}

double rate_upper_95(size_t hits, size_t trials) {
  constexpr double kChance = 0.05;
  constexpr int kHalvings = 60;
  if (hits >= trials) return 1;
  double low = 0;
  double high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double rate = (low + high) / 2;
    double chance = 0;
    for (size_t k = 0; k <= hits; ++k) chance += std::exp(ln_chance(k, trials, rate));
    (chance > kChance ? low : high) = rate;
  }
  return high;
}

}  // namespace goban::base::statistics
