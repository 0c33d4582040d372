// Detects changes of a GPU's speed in its measurements.
// Page's CUSUM (Biometrika 1954) in the form of Lorden (Ann. Math. Statist. 1971): a sum of
// log-evidence that is bounded below by 0 and raises an alarm at h has a mean time between false
// alarms of at least e^h, if the evidence e of a measurement has E[e] <= 1 without a change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace goban::core::knowledge {

struct ChangeOptions {
  /// Lower bound on the mean number of measurements of one GPU and kernel between false alarms.
  double false_alarm_every = 1000;
};

/// Lower bound of session_sigma(): smaller differences are irrelevant.
inline constexpr double kChangeSigmaMin = 0.005;

/// Standard deviation of log(time) between measurements of the same GPU, estimated from successive
/// differences of several series (`log_times`, by GPU), so that changes hardly affect it. It is
/// enlarged if there are few differences. At least kChangeSigmaMin.
[[nodiscard]] double session_sigma(std::span<const std::vector<double>> log_times);

struct Change {
  size_t at = 0;         ///< first measurement of the new level
  size_t found = 0;      ///< measurement at which the alarm was raised
  double log_ratio = 0;  ///< new level - old level; positive = slower
};

/// All changes of one series of log times, in order. Detection restarts at each change. A single
/// outlier raises no alarm. After about 8 measurements, a lasting step of five sigma or more is
/// found at its second measurement, one of 2.5 sigma at about its seventh, one of 1.2 sigma or less
/// never. The bound on false alarms holds for tails up to those of Student's t with 3 degrees of
/// freedom and a known sigma; for an estimate by session_sigma() it was simulated
/// (change_point_test.cpp).
[[nodiscard]] std::vector<Change> find_changes(std::span<const double> log_times, double sigma,
                                               const ChangeOptions& options = {});

}  // namespace goban::core::knowledge
