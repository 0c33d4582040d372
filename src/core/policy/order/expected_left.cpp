#include "core/policy/order/expected_left.hpp"

#include <algorithm>
#include <array>

namespace goban::core::policy {
namespace {

using base::TimeNs;

/// Assumed for a job without forecast and limit.
constexpr TimeNs kUnknownRun_ns = base::kHour;

/// A point of the predicted distribution: the share of runs that are shorter.
struct Point {
  double run_ns = 0;
  double share = 0;
};

/// Between the quantiles the distribution is linear. Beyond the last one it has a heavy tail: a job
/// is expected to go on for half as long as it has run.
double median_given(const std::array<Point, 4>& points, double passed_ns) {
  if (passed_ns >= points.back().run_ns) return passed_ns * 1.5;
  const auto* above = std::ranges::upper_bound(points, passed_ns, {}, &Point::run_ns);
  const Point& below = *(above - 1);
  const double part = (passed_ns - below.run_ns) / (above->run_ns - below.run_ns);
  const double passed = below.share + part * (above->share - below.share);
  const double wanted = passed + (1 - passed) / 2;
  const auto* next = std::ranges::lower_bound(points, wanted, {}, &Point::share);
  if (next == points.end()) return points.back().run_ns;
  const Point& last = *(next - 1);
  const double step = (wanted - last.share) / (next->share - last.share);
  return last.run_ns + step * (next->run_ns - last.run_ns);
}

}  // namespace

TimeNs expected_left_ns(const model::JobState& job, TimeNs now) {
  const TimeNs limit = job.request.walltime_limit_ns;
  const TimeNs attained = job.attained_ns(now);
  double total = static_cast<double>(limit > 0 ? limit : std::max(kUnknownRun_ns, 2 * attained));
  if (job.forecast.known()) {
    const model::RunForecast& f = job.forecast;
    total = attained == 0 ? static_cast<double>(f.p50_ns)
                          : median_given({{{0, 0},
                                           {static_cast<double>(f.p10_ns), 0.1},
                                           {static_cast<double>(f.p50_ns), 0.5},
                                           {static_cast<double>(f.p90_ns), 0.9}}},
                                         static_cast<double>(attained));
    if (limit > 0) total = std::min(total, static_cast<double>(limit));
  }
  constexpr double kMost_ns = 9e18;
  return std::max<TimeNs>(static_cast<TimeNs>(std::min(total, kMost_ns)) - attained, 0);
}

}  // namespace goban::core::policy
