#include "core/pilot/outcomes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::core::pilot {
namespace {

double share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double Outcome::slowdown() const {
  const double run_s = std::max({held_s, expected_s, kShortRun_s});
  return (wait_s + run_s) / run_s;
}

void Outcomes::add(const Outcome& outcome, bool is_judged) {
  ++jobs;
  missed += outcome.missed ? 1 : 0;
  failed += outcome.failed ? 1 : 0;
  gpu_hours += outcome.held_s * outcome.gpus / static_cast<double>(base::kHour_s);
  if (!is_judged) return;
  ++judged;
  wait_s += outcome.wait_s;
  slowdown += outcome.slowdown();
}

void Outcomes::add(const Outcomes& other) {
  jobs += other.jobs;
  missed += other.missed;
  failed += other.failed;
  gpu_hours += other.gpu_hours;
  judged += other.judged;
  wait_s += other.wait_s;
  slowdown += other.slowdown;
}

Outcomes of_arm(const Plan& plan, std::span<const Outcomes> periods, Arm arm) {
  Outcomes sum;
  for (size_t i = 0; i < periods.size(); ++i) {
    if (plan.arm(static_cast<int32_t>(i)) == arm) sum.add(periods[i]);
  }
  return sum;
}

std::optional<Harm> find_harm(const StopRules& rules, const Outcomes& of_a, const Outcomes& of_b) {
  if (std::min(of_a.judged, of_b.judged) >= rules.jobs) {
    const double mean_a = of_a.slowdown / static_cast<double>(of_a.judged);
    const double mean_b = of_b.slowdown / static_cast<double>(of_b.judged);
    if (mean_b > rules.slowdown * mean_a) return Harm{"slowdown", mean_a, mean_b};
  }
  if (std::min(of_a.jobs, of_b.jobs) < rules.jobs) return std::nullopt;
  const double missed_a = share(of_a.missed, of_a.jobs);
  const double missed_b = share(of_b.missed, of_b.jobs);
  if (missed_b - missed_a > rules.misses) return Harm{"misses", missed_a, missed_b};
  const double failed_a = share(of_a.failed, of_a.jobs);
  const double failed_b = share(of_b.failed, of_b.jobs);
  if (failed_b - failed_a > rules.errors) return Harm{"errors", failed_a, failed_b};
  return std::nullopt;
}

std::string harm_text(const Harm& harm) {
  if (std::string_view(harm.rule) == "slowdown") {
    return fmt::format("slowdown: {:.2f} on average under B, {:.2f} under A", harm.of_b, harm.of_a);
  }
  return fmt::format("{}: {:.1f} % of the jobs under B, {:.1f} % under A", harm.rule,
                     100 * harm.of_b, 100 * harm.of_a);
}

}  // namespace goban::core::pilot
