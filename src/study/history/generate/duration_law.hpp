// A distribution of durations that meets published numbers all at once: least, largest, mean,
// standard deviation, and points of the distribution function.
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

/// What is known of a population of durations; all in seconds.
struct DurationFacts {
  double min_s = 0;
  double max_s = 0;
  double mean_s = 0;
  double sd_s = 0;
  /// Strictly between the extremes, both numbers rising. The median is one with share 0.5.
  std::vector<CdfPoint> points{};
};

/// The facts of what is left of `count` durations without the least and the largest. A law for the
/// others keeps the moments of all when the extremes are put back, however far out they lie.
/// count > 2.
[[nodiscard]] DurationFacts without_extremes(const DurationFacts& facts, int64_t count);

/// Among all distributions that meet the facts the one nearest (in Kullback and Leibler's sense) to
/// durations whose logarithm is uniform between two known points. Its density is that of the
/// log-uniform one times exp(a t + b t^2), with the mass between two points kept, and a and b are
/// found by Newton's method on the convex dual (Csiszar's I-projection on linear constraints).
class DurationLaw {
 public:
  /// Errors: BadData if no distribution meets the facts.
  [[nodiscard]] static base::Result<DurationLaw> fit(const DurationFacts& facts);

  /// The duration below which `share` of the mass lies; share in [0, 1].
  [[nodiscard]] double quantile_s(double share) const;

  /// `count` durations in rising order, one from each of `count` parts of equal mass.
  [[nodiscard]] std::vector<double> stratified_s(size_t count, base::Random& random) const;

  [[nodiscard]] double min_s() const { return cells_.front().from_s; }
  [[nodiscard]] double max_s() const { return cells_.back().to_s; }
  [[nodiscard]] double mean_s() const;
  [[nodiscard]] double sd_s() const;

 private:
  /// A piece within which the durations are uniform.
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
