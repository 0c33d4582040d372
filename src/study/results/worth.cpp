#include "study/results/worth.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.hpp"
#include "base/statistics/mean_interval.hpp"
#include "base/statistics/summary.hpp"

namespace goban::study::results {
namespace {

constexpr double kJoulesOfKwh = 3.6e6;
constexpr double kGramsOfKg = 1000;

double money_of(const HourlyEnergy& energy, const Prices& prices, size_t i) {
  if (!prices.electricity.known()) return 0;
  const int64_t hour = energy.first_hour() + static_cast<int64_t>(i);
  return energy.joules()[i] / kJoulesOfKwh * prices.pue *
         prices.electricity.at(hour, prices.utc_offset_h);
}

/// Scales what accumulates to a year.
RunCost in_a_year(RunCost cost, double span_s) {
  const double factor = span_s > 0 ? kYear_s / span_s : 0;
  for (double* value : {&cost.energy.kwh, &cost.energy.money, &cost.energy.carbon_kg,
                        &cost.energy.uncovered_kwh, &cost.gpu_hours, &cost.gpu_money}) {
    *value *= factor;
  }
  return cost;
}

/// a - b, where what rounding left of equal values is 0.
double difference(double a, double b) {
  constexpr double kRounding = 1e-12;
  return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)) ? 0 : a - b;
}

/// `value` of reference - policy in a year, of the recorded history with its interval.
template <typename Value>
Estimate saved(const Worth& worth, size_t policy, const Value& value) {
  const auto of = [&](const PricedHistory& history) {
    return difference(value(in_a_year(history.runs[worth.reference], history.span_s)),
                      value(in_a_year(history.runs[policy], history.span_s)));
  };
  std::vector<double> resampled;
  for (size_t i = 1; i < worth.histories.size(); ++i) resampled.push_back(of(worth.histories[i]));
  return estimate(of(worth.histories.front()), resampled);
}

Estimate opposite(Estimate saved) {
  saved.value = saved.value == 0 ? 0 : -saved.value;  // not -0
  return saved;
}

std::optional<SeedSaving> worst_seed(const Worth& worth, size_t policy) {
  std::optional<SeedSaving> worst;
  for (const PricedHistory& history : worth.histories) {
    if (!history.seed) continue;
    const double saving =
        difference(in_a_year(history.runs[worth.reference], history.span_s).money(),
                   in_a_year(history.runs[policy], history.span_s).money());
    if (!worst || saving < worst->saving) worst = SeedSaving{*history.seed, saving};
  }
  return worst;
}

}  // namespace

EnergyCost energy_cost(const HourlyEnergy& energy, const Prices& prices) {
  EnergyCost cost;
  for (size_t i = 0; i < energy.joules().size(); ++i) {
    const int64_t hour = energy.first_hour() + static_cast<int64_t>(i);
    const double kwh = energy.joules()[i] / kJoulesOfKwh * prices.pue;
    cost.kwh += kwh;
    cost.money += money_of(energy, prices, i);
    if (prices.carbon_g.known()) {
      cost.carbon_kg += kwh * prices.carbon_g.at(hour, prices.utc_offset_h) / kGramsOfKg;
    }
    const bool covered = prices.electricity.covers(hour) && prices.carbon_g.covers(hour);
    if (!covered) cost.uncovered_kwh += kwh;
  }
  return cost;
}

std::vector<double> electricity_by_day(const HourlyEnergy& energy, const Prices& prices,
                                       base::TimeNs first_ns, size_t days) {
  std::vector<double> money(days);
  for (size_t i = 0; i < energy.joules().size(); ++i) {
    const base::TimeNs begin_ns = energy.begin_of(i);
    const base::TimeNs end_ns = energy.begin_of(i + 1);
    const double per_s = money_of(energy, prices, i) / base::to_seconds(end_ns - begin_ns);
    base::TimeNs from_ns = std::max(begin_ns, first_ns);
    while (from_ns < end_ns) {
      const auto day = static_cast<size_t>((from_ns - first_ns) / base::kDay);
      if (day >= days) return money;
      const base::TimeNs to_ns =
          std::min(end_ns, first_ns + static_cast<base::TimeNs>(day + 1) * base::kDay);
      money[day] += per_s * base::to_seconds(to_ns - from_ns);
      from_ns = to_ns;
    }
  }
  return money;
}

bool Estimate::is_shown() const { return half_width && std::abs(value) > *half_width; }

Estimate estimate(double recorded, std::span<const double> resampled) {
  Estimate out{recorded, {}};
  if (resampled.size() < 2) return out;
  // Of the mean; the spread of single histories is wider by the root of their number.
  const auto of_mean = base::statistics::mean_interval_95(resampled);
  out.half_width = of_mean->half_width * std::sqrt(static_cast<double>(resampled.size()));
  return out;
}

Pilot pilot(std::span<const double> reference_days, std::span<const double> policy_days) {
  constexpr double kTwoSided95 = 1.959964;
  constexpr double kPower80 = 0.841621;
  constexpr double kDaysMax = 1e9;
  constexpr double kDaysLeast = 2;
  using base::statistics::SigmaRule;
  Pilot out;
  if (reference_days.size() < 2 || policy_days.size() < 2) return out;
  out.effect = *base::statistics::mean(reference_days) - *base::statistics::mean(policy_days);
  out.sd_reference = *base::statistics::standard_deviation(reference_days, SigmaRule::Sample);
  out.sd_policy = *base::statistics::standard_deviation(policy_days, SigmaRule::Sample);
  const double variance = out.sd_reference * out.sd_reference + out.sd_policy * out.sd_policy;
  const double sum = kTwoSided95 + kPower80;
  const double days =
      sum * sum * variance / (out.effect * out.effect) + kTwoSided95 * kTwoSided95 / 4;
  if (out.effect == 0 || !(days <= kDaysMax)) return out;
  out.days = 2 * static_cast<int64_t>(std::max(kDaysLeast, std::ceil(days)));
  return out;
}

std::optional<AccountChange> worst_change(std::span<const AccountMetrics> reference,
                                          std::span<const AccountMetrics> policy) {
  std::map<std::string_view, double> before_s;
  for (const AccountMetrics& account : reference) before_s[account.name] = account.avg_wait_s;
  std::optional<AccountChange> worst;
  const auto growth_s = [](const AccountChange& change) {
    return change.wait_s - change.reference_wait_s;
  };
  for (const AccountMetrics& account : policy) {
    const auto before = before_s.find(account.name);
    if (before == before_s.end()) continue;
    const AccountChange change{account.name, account.jobs, before->second, account.avg_wait_s};
    const bool is_worse = !worst || growth_s(change) > growth_s(*worst) ||
                          (growth_s(change) == growth_s(*worst) && change.name < worst->name);
    if (is_worse) worst = change;
  }
  return worst;
}

void compare_costs(Worth& worth) {
  GOBAN_CHECK(!worth.histories.empty());
  const PricedHistory& recorded = worth.histories.front();
  worth.policies.resize(recorded.runs.size());
  for (size_t i = 0; i < worth.policies.size(); ++i) {
    PolicyWorth& policy = worth.policies[i];
    policy.year = in_a_year(recorded.runs[i], recorded.span_s);
    if (i == worth.reference) continue;
    policy.saving = saved(worth, i, [](const RunCost& run) { return run.money(); });
    policy.electricity_saving =
        saved(worth, i, [](const RunCost& run) { return run.energy.money; });
    policy.gpu_saving = saved(worth, i, [](const RunCost& run) { return run.gpu_money; });
    policy.kwh_saved = saved(worth, i, [](const RunCost& run) { return run.energy.kwh; });
    policy.carbon_kg_saved =
        saved(worth, i, [](const RunCost& run) { return run.energy.carbon_kg; });
    policy.gpu_hours_freed = saved(worth, i, [](const RunCost& run) { return run.gpu_hours; });
    policy.wait_change_s =
        opposite(saved(worth, i, [](const RunCost& run) { return run.avg_wait_s; }));
    policy.p99_jct_change_s =
        opposite(saved(worth, i, [](const RunCost& run) { return run.p99_jct_s; }));
    policy.worst_seed = worst_seed(worth, i);
  }
}

}  // namespace goban::study::results
