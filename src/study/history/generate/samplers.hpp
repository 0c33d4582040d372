// Shared by the generators of histories: random choices, random variables and quotas. Every
// function gives the same numbers on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace goban::study::history {

/// Draws an index in proportion to its weight.
class WeightedChoice {
 public:
  void add(double weight) { ends_.push_back((ends_.empty() ? 0 : ends_.back()) + weight); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] double total() const { return ends_.back(); }
  [[nodiscard]] size_t draw(base::Random& random) const;

 private:
  std::vector<double> ends_;
};

/// Exponential with mean 1.
[[nodiscard]] double draw_exponential(base::Random& random);

/// Standard normal, by Marsaglia's polar method; the second value of each pair is not used.
[[nodiscard]] double draw_normal(base::Random& random);

/// Integers from 1 to `most` with P(X >= k) = k^-exponent up to there (Pareto tail).
[[nodiscard]] int64_t draw_pareto(base::Random& random, double exponent, int64_t most);

/// Random permutation, uniform over all orders (Fisher-Yates).
template <typename T>
void shuffle(std::vector<T>& values, base::Random& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

/// Integers proportional to the weights that add up to `total` (largest remainder method; ties go
/// to the first). Weights are not negative and not all zero.
[[nodiscard]] std::vector<int64_t> quotas(const std::vector<double>& weights, int64_t total);

/// Weights 1 / (k + 1)^exponent for k = 0, 1, ..., count - 1.
[[nodiscard]] std::vector<double> zipf_weights(int32_t count, double exponent);

/// The Zipf exponent at which the first `top` of `count` have `share` of the weights (bisection).
[[nodiscard]] double zipf_exponent(int32_t count, int32_t top, double share);

/// The smallest customary limit of at least `seconds`; beyond the last one, a multiple of a day.
[[nodiscard]] int64_t customary_limit_s(double seconds);

/// The largest customary limit below `seconds`; 0 if there is none.
[[nodiscard]] int64_t customary_limit_below_s(double seconds);

}  // namespace goban::study::history
