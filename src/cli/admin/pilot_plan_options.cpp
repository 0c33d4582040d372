#include "cli/admin/pilot_plan_options.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "core/policy/pilot_policies.hpp"

namespace goban::cli {
namespace {

void add_duration(Command& c, const char* name, base::TimeNs& value, const std::string& help) {
  c.add_option_function(
       name,
       [&value, name](const std::vector<std::string>& values) {
         const auto span = base::parse_duration(values.front());
         if (!span) refuse_value(name, span.error().text());
         value = *span;
       },
       help + " (default " + base::duration_text(value) + ")")
      ->type_name("TIME");
}

}  // namespace

base::Status check_policies(const core::pilot::Plan& plan, bool knows_a) {
  const auto b = core::policy::compose(plan.policy_b);
  if (!b) return base::failure(b.error());
  if (auto fits = core::policy::check_pilot_policy("policy_b", *b); !fits) return fits;
  const auto a = core::policy::compose(plan.policy_a);
  // The daemon may be of another release.
  if (!a) return knows_a ? base::failure(a.error()) : base::Status{};
  if (auto fits = core::policy::check_pilot_policy("policy_a", *a); !fits) return fits;
  if (!core::policy::decide_alike(*a, *b)) return {};
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = "policy_b"},
                        fmt::format("{} and {} are the same policy", plan.policy_a, plan.policy_b),
                        "name two different policies");
}

void add_plan_options(Command& c, core::pilot::Plan& plan) {
  add_duration(c, "--period", plan.period_ns, "Length of a period, such as 12h or 7d");
  add_duration(c, "--settle", plan.settle_ns,
               "Jobs submitted within this time of the start of a period are not compared");
  c.add_option("--pairs", plan.pairs, "Pairs of periods, one of each policy")
      ->range(1, 183)
      ->capture_default_str();
  c.add_option("--seed", plan.seed,
               "Random seed that determines which policy comes first in each pair")
      ->capture_default_str();
  c.add_option("--effect", plan.effect, "The smallest gain that matters, as a share of the wait")
      ->range(0.001, 0.999)
      ->capture_default_str();
  c.add_option("--stop-slowdown", plan.stop.slowdown,
               "Fall back to A if the mean slowdown is this many times that of A")
      ->range(1.0, 1000.0)
      ->capture_default_str();
  c.add_option("--stop-misses", plan.stop.misses,
               "Fall back to A if the share of late or killed jobs exceeds that of A by this much")
      ->range(0.0, 1.0)
      ->capture_default_str();
  c.add_option("--stop-errors", plan.stop.errors,
               "Fall back to A if the share of failed jobs exceeds that of A by this much")
      ->range(0.0, 1.0)
      ->capture_default_str();
  c.add_option("--stop-jobs", plan.stop.jobs,
               "Number of jobs of each policy from which on these rules apply")
      ->range(int64_t{1}, int64_t{1'000'000'000})
      ->capture_default_str();
}

}  // namespace goban::cli
