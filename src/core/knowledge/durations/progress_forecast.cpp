#include "core/knowledge/durations/progress_forecast.hpp"

#include <algorithm>

namespace goban::core::knowledge {

using base::TimeNs;

model::RunForecast forecast_from_progress(const ReportedWork& work, TimeNs limit_ns) {
  constexpr double kShareMin = 0.05;
  constexpr double kShortest = 0.8;
  constexpr double kLongest = 1.25;
  constexpr double kMost_ns = 4e18;
  if (!(work.share >= kShareMin) || work.attained_ns < base::kMinute) return {};
  const double share = std::min(work.share, 1.0);
  const double left = static_cast<double>(work.attained_ns) * (1 - share) / share;
  const auto total = [&](double factor, TimeNs more) {
    const double ns = static_cast<double>(work.attained_ns) + factor * left;
    const TimeNs out = static_cast<TimeNs>(std::min(ns, kMost_ns)) + more;
    return limit_ns > 0 ? std::min(out, std::max(limit_ns, work.attained_ns)) : out;
  };
  return {.p10_ns = total(kShortest, 0),
          .p50_ns = total(1, 0),
          .p90_ns = total(kLongest, base::kMinute)};
}

}  // namespace goban::core::knowledge
