#include "core/policy/run_luck.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"
#include "base/random.hpp"

namespace goban::core::policy {
namespace {

using base::TimeNs;

constexpr double kOfUser = 0.9;  ///< of the variance, as measured on six histories
constexpr double kDeviationsTo90 = 1.2815515655446004;

/// About standard normal, and the same on every machine: the sum of twelve uniform numbers.
double normal(uint64_t seed) {
  constexpr int kDraws = 12;
  base::Random random(seed);
  double sum = -kDraws / 2.0;
  for (int i = 0; i < kDraws; ++i) sum += random.uniform();
  return sum;
}

// The normal distribution function by a logistic of a cubic (error at most 0.0002), whose inverse
// is exact.
constexpr double kLinear = 1.5976;
constexpr double kCubic = 0.070565992;

double level_of(double deviations) {
  const double x = std::clamp(deviations, -8.0, 8.0);
  return 1 / (1 + base::portable_exp(-(kLinear * x + kCubic * x * x * x)));
}

double deviations_at(double level) {
  const double y = base::portable_log(level / (1 - level));
  // The real root of kCubic x^3 + kLinear x = y (Cardano).
  const double half_q = y / (2 * kCubic);
  const double third_p = kLinear / (3 * kCubic);
  const double root = std::sqrt(half_q * half_q + third_p * third_p * third_p);
  const auto cube_root = [](double value) {
    if (value == 0) return 0.0;
    const double size = base::portable_exp(base::portable_log(std::abs(value)) / 3);
    return value < 0 ? -size : size;
  };
  return cube_root(half_q + root) + cube_root(half_q - root);
}

/// ln(run time) is normal on either side of the median, with the widths of the forecast.
struct Widths {
  double median = 0;
  double below = 0;
  double above = 0;

  explicit Widths(const model::RunForecast& forecast) {
    const auto ln = [](TimeNs time) {
      return base::portable_log(static_cast<double>(std::max<TimeNs>(time, base::kSecond)));
    };
    constexpr double kLeast = 0.01;
    median = ln(forecast.p50_ns);
    below = std::max((median - ln(forecast.p10_ns)) / kDeviationsTo90, kLeast);
    above = std::max((ln(forecast.p90_ns) - median) / kDeviationsTo90, kLeast);
  }
  [[nodiscard]] double run_ns(double deviations) const {
    constexpr double kMost_ln = 43;  // 150 years
    const double width = deviations < 0 ? below : above;
    return base::portable_exp(std::min(median + deviations * width, kMost_ln));
  }
  [[nodiscard]] double deviations(double run_ns) const {
    const double off = base::portable_log(std::max(run_ns, 1.0)) - median;
    return off / (off < 0 ? below : above);
  }
};

double drawn_ns(const model::RunForecast& forecast, double luck, double passed_ns) {
  constexpr double kBeyond = 0.995;
  constexpr double kLevelMost = 1 - 1e-9;
  const Widths widths(forecast);
  if (passed_ns <= 0) return widths.run_ns(luck);
  const double passed = level_of(widths.deviations(passed_ns));
  const double level = level_of(luck);
  if (passed > kBeyond) return passed_ns * (1 + level) + 60.0 * base::kSecond;
  return widths.run_ns(deviations_at(std::min(passed + level * (1 - passed), kLevelMost)));
}

}  // namespace

TimeNs RunLuck::run_ns(const model::JobState& job, TimeNs now) const {
  constexpr double kMost_ns = 4e18;
  const TimeNs passed = job.attained_ns(now);
  const TimeNs limit = job.request.walltime_limit_ns;
  const TimeNs least = passed + base::kSecond;
  if (!job.forecast.known() && limit <= 0) return base::kNever;
  const uint64_t of_job = base::Random(seed_ ^ (uint64_t{job.job.value} << 20U))();
  const uint64_t of_user = base::Random(seed_ ^ ~uint64_t{job.request.user.value})();
  const double own = normal(of_job);
  const double luck = std::sqrt(kOfUser) * normal(of_user) + std::sqrt(1 - kOfUser) * own;
  // Without a forecast any time up to the limit is as likely.
  const double total =
      job.forecast.known()
          ? drawn_ns(job.forecast, luck, static_cast<double>(passed))
          : static_cast<double>(passed) + level_of(luck) * static_cast<double>(limit - passed);
  TimeNs out = std::max(static_cast<TimeNs>(std::min(total, kMost_ns)), least);
  if (limit > 0) out = std::min(out, std::max(limit, least));
  return out;
}

}  // namespace goban::core::policy
