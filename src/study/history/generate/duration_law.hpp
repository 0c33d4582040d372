// A distribution of durations that meets several published numbers together: minimum, maximum,
// mean, standard deviation, and points of the distribution function.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"

namespace goban::study::history {

/// `share` of the durations are at most `seconds`.
struct CdfPoint {
  double seconds = 0;
  double share = 0;
};

/// Known facts of a population of durations, in seconds.
struct DurationFacts {
  double min_s = 0;
  double max_s = 0;
  double mean_s = 0;
  double sd_s = 0;
  /// Strictly between the extremes, both members ascending. The median is a point with share 0.5.
  std::vector<CdfPoint> points{};
};

/// The facts of the remaining durations when the minimum and the maximum are removed from `count`
/// of them. A distribution of these keeps the moments of all when the extremes are added again,
/// however far out they lie. count > 2.
[[nodiscard]] DurationFacts without_extremes(const DurationFacts& facts, int64_t count);

/// The distribution that meets the facts and is nearest (in Kullback-Leibler divergence) to
/// durations whose logarithm is uniform between two known points. Its density is the log-uniform
/// one times exp(a t + b t^2), with the mass between two points fixed; a and b are found by
/// Newton's method on the convex dual (Csiszar's I-projection on linear constraints).
class DurationLaw {
 public:
  /// Errors: BadData if no distribution meets the facts.
  [[nodiscard]] static base::Result<DurationLaw> fit(const DurationFacts& facts);

  /// Quantile: the duration below which `share` of the mass lies; share in [0, 1].
  [[nodiscard]] double quantile_s(double share) const;

  /// `count` durations in ascending order, one from each of `count` parts of equal mass.
  [[nodiscard]] std::vector<double> stratified_s(size_t count, base::Random& random) const;

  [[nodiscard]] double min_s() const { return cells_.front().from_s; }
  [[nodiscard]] double max_s() const { return cells_.back().to_s; }
  [[nodiscard]] double mean_s() const;
  [[nodiscard]] double sd_s() const;

 private:
  /// An interval within which the durations are uniform.
  struct Cell {
    double from_s = 0;
    double to_s = 0;
    double mass = 0;
    double mass_before = 0;
  };
  friend class DurationFit;
  [[nodiscard]] static double within(const Cell& cell, double share);

  std::vector<Cell> cells_;
};

}  // namespace goban::study::history
