#include "core/knowledge/measure/change_point.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/knowledge/median.hpp"

namespace goban::core::knowledge {
namespace {

/// One CUSUM: the evidence of a measurement is exp(tilt * z - allowance), z clipped to +-kClip.
struct Detector {
  double tilt;
  /// ln E[exp(tilt * clip(z))] where z = t_3 scaled to the median absolute deviation of a standard
  /// normal (factor 0.6745 / 0.7649), by numerical integration. For a normal z it is smaller
  /// (tilt^2 / 2), so the bound holds for it as well.
  double allowance;
};
constexpr double kClip = 5;
constexpr std::array kDetectors{
    Detector{1, 1.168827},  // small steps that last
    Detector{2, 5.184841},  // large steps, early
};
constexpr std::array kSigns{1.0, -1.0};

/// Variance of a median of n values / that of one value, about pi / (2 n).
constexpr double kMedianVariance = 1.5708;
constexpr double kMadToSd = 1.4826;

struct Cusum {
  double sum = 0;
  size_t since = 0;  ///< the measurement at which the sum left 0
  /// Adds evidence; true = alarm.
  bool add(double evidence, size_t at, double limit) {
    if (sum <= 0) {
      sum = 0;
      since = at;
    }
    sum += evidence;
    return sum >= limit;
  }
};

using Cusums = std::array<Cusum, kSigns.size() * kDetectors.size()>;

}  // namespace

double session_sigma(std::span<const std::vector<double>> log_times) {
  std::vector<double> steps;
  for (const std::vector<double>& series : log_times) {
    for (size_t i = 1; i < series.size(); ++i) steps.push_back(std::abs(series[i] - series[i - 1]));
  }
  if (steps.empty()) return kChangeSigmaMin;
  const auto count = static_cast<double>(steps.size());
  const double sigma = kMadToSd * median(std::move(steps)) / std::sqrt(2.0);
  return std::max(kChangeSigmaMin, sigma * (1 + 2 / std::sqrt(count)));
}

std::vector<Change> find_changes(std::span<const double> log_times, double sigma,
                                 const ChangeOptions& options) {
  std::vector<Change> changes;
  Cusums cusums;
  const double limit = std::log(options.false_alarm_every * static_cast<double>(cusums.size()));
  size_t begin = 0;  // of the current level
  for (size_t i = 1; i < log_times.size(); ++i) {
    if (i == begin) continue;
    const std::vector<double> before(log_times.begin() + static_cast<std::ptrdiff_t>(begin),
                                     log_times.begin() + static_cast<std::ptrdiff_t>(i));
    const double level = median(before);
    const double known = std::sqrt(1 + kMedianVariance / static_cast<double>(before.size()));
    const double z = std::clamp((log_times[i] - level) / (sigma * known), -kClip, kClip);
    std::optional<size_t> onset;
    for (size_t c = 0; c < cusums.size(); ++c) {
      const Detector& detector = kDetectors[c / kSigns.size()];
      const double evidence = detector.tilt * kSigns[c % kSigns.size()] * z - detector.allowance;
      if (cusums[c].add(evidence, i, limit)) onset = std::max(onset.value_or(0), cusums[c].since);
    }
    if (!onset) continue;
    const auto at = static_cast<std::ptrdiff_t>(*onset);
    const double old_level =
        median({log_times.begin() + static_cast<std::ptrdiff_t>(begin), log_times.begin() + at});
    const double new_level =
        median({log_times.begin() + at, log_times.begin() + static_cast<std::ptrdiff_t>(i) + 1});
    changes.push_back({.at = *onset, .found = i, .log_ratio = new_level - old_level});
    begin = *onset;
    cusums = {};
  }
  return changes;
}

}  // namespace goban::core::knowledge
