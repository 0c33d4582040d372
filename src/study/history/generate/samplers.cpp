#include "study/history/generate/samplers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/portable_math.hpp"

namespace goban::study::history {
namespace {

using base::Random;

constexpr int64_t kHour_s = 3'600;
constexpr std::array<int64_t, 10> kLimits_s = {
    kHour_s / 2,  kHour_s,      2 * kHour_s,  4 * kHour_s,  8 * kHour_s,
    12 * kHour_s, 24 * kHour_s, 48 * kHour_s, 72 * kHour_s, 168 * kHour_s};

}  // namespace

size_t WeightedChoice::draw(Random& random) const {
  const auto found = std::ranges::upper_bound(ends_, random.uniform() * ends_.back());
  return std::min(static_cast<size_t>(found - ends_.begin()), ends_.size() - 1);
}

double draw_exponential(Random& random) { return -base::portable_log(1 - random.uniform()); }

double draw_normal(Random& random) {
  while (true) {
    const double x = 2 * random.uniform() - 1;
    const double y = 2 * random.uniform() - 1;
    const double s = x * x + y * y;
    if (s > 0 && s < 1) return x * std::sqrt(-2 * base::portable_log(s) / s);
  }
}

int64_t draw_pareto(Random& random, double exponent, int64_t most) {
  const double value = base::portable_exp(draw_exponential(random) / exponent);
  return value >= static_cast<double>(most) ? most : static_cast<int64_t>(value);
}

std::vector<int64_t> quotas(const std::vector<double>& weights, int64_t total) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> result;
  std::vector<double> remainders;
  int64_t left = total;
  for (const double weight : weights) {
    const double exact = weight / sum * static_cast<double>(total);
    result.push_back(std::min(static_cast<int64_t>(std::floor(exact)), left));
    remainders.push_back(exact - std::floor(exact));
    left -= result.back();
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  for (size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    if (weights[order[i]] == 0) continue;
    ++result[order[i]];
    --left;
  }
  return result;
}

std::vector<double> zipf_weights(int32_t count, double exponent) {
  std::vector<double> weights;
  weights.reserve(static_cast<size_t>(count));
  for (int32_t k = 0; k < count; ++k) {
    weights.push_back(base::portable_exp(-exponent * base::portable_log(k + 1.0)));
  }
  return weights;
}

double zipf_exponent(int32_t count, int32_t top, double share) {
  constexpr int kSteps = 60;
  double low = 0;
  double high = 10;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    const std::vector<double> weights = zipf_weights(count, middle);
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double first = std::accumulate(weights.begin(), weights.begin() + top, 0.0);
    (first < share * all ? low : high) = middle;
  }
  return (low + high) / 2;
}

int64_t customary_limit_s(double seconds) {
  for (const int64_t limit : kLimits_s) {
    if (seconds <= static_cast<double>(limit)) return limit;
  }
  return static_cast<int64_t>(std::ceil(seconds / (24 * kHour_s))) * 24 * kHour_s;
}

int64_t customary_limit_below_s(double seconds) {
  int64_t below = 0;
  for (const int64_t limit : kLimits_s) {
    if (static_cast<double>(limit) < seconds) below = limit;
  }
  return below;
}

}  // namespace goban::study::history
