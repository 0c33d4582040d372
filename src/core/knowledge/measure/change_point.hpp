// When did a GPU become slower or faster: change detection over its measurements.
// Page's CUSUM (Biometrika 1954) in the form of Lorden (Ann. Math. Statist. 1971): a sum of
// log-evidence that starts again at 0 and alarms at h has a mean time between false alarms of at
// least e^h, whenever the evidence e of a measurement has E[e] <= 1 without a change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace goban::core::knowledge {

struct ChangeOptions {
  /// Measurements of one GPU and kernel between false alarms, on average, at least.
  double false_alarm_every = 1000;
};

/// Scatter of log times between measurements, least: smaller differences are of no interest.
inline constexpr double kChangeSigmaMin = 0.005;

/// sigma of log(time) between measurements of the same GPU, from successive differences of several
/// series (`log_times`, by GPU), so that changes do not count as scatter. With few differences it
/// is larger, as little is known then. At least kChangeSigmaMin.
[[nodiscard]] double session_sigma(std::span<const std::vector<double>> log_times);

struct Change {
  size_t at = 0;         ///< first measurement of the new level
  size_t found = 0;      ///< measurement with which the alarm was raised
  double log_ratio = 0;  ///< new level - old level; above 0 = slower
};

/// All changes of one series of log times, in order. After each the watch begins anew with the new
/// level. A single odd measurement raises no alarm; a step of five sigma or more that lasts is
/// found with its second measurement once some 8 have been made, one of 2.5 sigma with about its
/// seventh, of 1.2 sigma or less not at all. The bound of false alarms holds for scatter with tails
/// up to those of Student's t with 3 degrees of freedom and a known sigma; with one from
/// session_sigma() it was simulated (change_point_test.cpp).
[[nodiscard]] std::vector<Change> find_changes(std::span<const double> log_times, double sigma,
                                               const ChangeOptions& options = {});

}  // namespace goban::core::knowledge
