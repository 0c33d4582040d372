#include "core/knowledge/durations/start_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/portable_math.hpp"

namespace goban::core::knowledge {
namespace {

using base::TimeNs;
using model::StartInterval;

constexpr size_t kStartsKept = 200;
constexpr size_t kStartsMin = 20;
constexpr double kOutside = 0.2;  ///< of an 80 % interval
constexpr double kStep = 0.01;    ///< by which one start changes the levels
constexpr double kOutsideLeast = 0.02;
constexpr double kOutsideMost = 0.4;
constexpr double kClearly = 0.1;
constexpr double kSlack_ns = 60.0 * base::kSecond;
/// Of a wait for which no end was forecast.
constexpr TimeNs kBeyond_ns = 60 * base::kDay;

double wait_ln(TimeNs at_ns, TimeNs made_ns) {
  const TimeNs wait = at_ns == base::kNever ? kBeyond_ns : std::max<TimeNs>(at_ns - made_ns, 0);
  return base::portable_log(static_cast<double>(wait) + kSlack_ns);
}

TimeNs later_by(TimeNs at_ns, TimeNs made_ns, double by) {
  if (at_ns == base::kNever) return base::kNever;
  constexpr double kMost_ns = 4e18;
  const double wait =
      std::min(base::portable_exp(wait_ln(at_ns, made_ns) + by) - kSlack_ns, kMost_ns);
  return made_ns + std::max<TimeNs>(static_cast<TimeNs>(wait), 0);
}

}  // namespace

void StartCalibration::learn(const StartForecastAt& raw, TimeNs start_ns) {
  const double actual = wait_ln(start_ns, raw.made_ns);
  const bool moved_held = raw.moved.holds(start_ns);
  errors_.push_back({.low = actual - wait_ln(raw.interval.p10_ns, raw.made_ns),
                     .middle = actual - wait_ln(raw.interval.p50_ns, raw.made_ns),
                     .high = actual - wait_ln(raw.interval.p90_ns, raw.made_ns),
                     .raw_held = raw.interval.holds(start_ns),
                     .moved_held = moved_held});
  if (errors_.size() > kStartsKept) errors_.pop_front();
  if (errors_.size() < kStartsMin) return;
  outside_ += kStep * (kOutside - (moved_held ? 0.0 : 1.0));
  outside_ = std::clamp(outside_, kOutsideLeast, kOutsideMost);
  const auto miss = [&](bool Errors::* held) {
    const auto count = static_cast<double>(std::ranges::count(errors_, true, held));
    return std::abs(count / static_cast<double>(errors_.size()) - (1 - kOutside));
  };
  is_raw_ = miss(&Errors::raw_held) + kClearly < miss(&Errors::moved_held);
}

StartCalibration StartCalibration::with_overdue(const std::vector<StartForecastAt>& waiting,
                                                TimeNs now) const {
  constexpr size_t kOverdueMax = kStartsKept / 2;
  StartCalibration out = *this;
  size_t taken = 0;
  for (const StartForecastAt& each : waiting) {
    if (now <= each.interval.p90_ns || taken == kOverdueMax) continue;
    out.learn(each, now);
    ++taken;
  }
  return out;
}

StartInterval StartCalibration::calibrated(const StartForecastAt& raw) const {
  return is_raw_ ? raw.interval : moved(raw);
}

StartInterval StartCalibration::shown(const StartForecastAt& made) const {
  return is_raw_ ? made.interval : made.moved;
}

StartInterval StartCalibration::moved(const StartForecastAt& raw) const {
  if (errors_.size() < kStartsMin) return raw.interval;
  const auto quantile = [&](double Errors::* which, double level) {
    std::vector<double> sorted;
    sorted.reserve(errors_.size());
    for (const Errors& each : errors_) sorted.push_back(each.*which);
    const auto at = static_cast<std::ptrdiff_t>(level * static_cast<double>(sorted.size() - 1));
    std::ranges::nth_element(sorted, sorted.begin() + at);
    return sorted[static_cast<size_t>(at)];
  };
  StartInterval out;
  out.p50_ns = later_by(raw.interval.p50_ns, raw.made_ns, quantile(&Errors::middle, 0.5));
  out.p10_ns = later_by(raw.interval.p10_ns, raw.made_ns, quantile(&Errors::low, outside_ / 2));
  out.p90_ns =
      later_by(raw.interval.p90_ns, raw.made_ns, quantile(&Errors::high, 1 - outside_ / 2));
  out.p10_ns = std::min(out.p10_ns, out.p50_ns);
  out.p90_ns = std::max(out.p90_ns, out.p50_ns);
  return out;
}

}  // namespace goban::core::knowledge
