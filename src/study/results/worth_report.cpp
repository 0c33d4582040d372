#include "study/results/worth_report.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/sheet_field.hpp"
#include "base/stacked_table.hpp"
#include "base/units.hpp"

namespace goban::study::results {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kReliableDays = 7;
constexpr int64_t kReliableSpan_days = 28;

double days_of(double span_s) { return span_s / static_cast<double>(base::kDay_s); }

ordered_json estimate_json(const Estimate& estimate) {
  ordered_json out = {{"value", estimate.value}, {"low", nullptr}, {"high", nullptr}};
  if (!estimate.half_width) return out;
  out["low"] = estimate.value - *estimate.half_width;
  out["high"] = estimate.value + *estimate.half_width;
  return out;
}

ordered_json pilot_json(const Pilot& pilot) {
  ordered_json out = {{"effect", pilot.effect},
                      {"sd_reference", pilot.sd_reference},
                      {"sd_policy", pilot.sd_policy},
                      {"days", nullptr}};
  if (pilot.days) out["days"] = *pilot.days;
  return out;
}

/// The members of a policy that compare it with the reference.
void add_changes(const Worth& worth, const PolicyWorth& policy, ordered_json& out) {
  out["saving"] = estimate_json(policy.saving);
  if (worth.prices_electricity) {
    out["electricity_saving"] = estimate_json(policy.electricity_saving);
  }
  out["gpu_saving"] = estimate_json(policy.gpu_saving);
  if (worth.is_metered) out["kwh_saved"] = estimate_json(policy.kwh_saved);
  if (worth.prices_carbon) out["carbon_kg_saved"] = estimate_json(policy.carbon_kg_saved);
  out["gpu_hours_freed"] = estimate_json(policy.gpu_hours_freed);
  out["gpus_freed"] = Worth::gpus_of(policy.gpu_hours_freed.value);
  out["wait_change_s"] = estimate_json(policy.wait_change_s);
  out["p99_jct_change_s"] = estimate_json(policy.p99_jct_change_s);
  if (policy.worst_seed) {
    out["worst_seed"] = {{"seed", policy.worst_seed->seed}, {"saving", policy.worst_seed->saving}};
  }
  if (policy.worst_account) {
    const AccountChange& worst = *policy.worst_account;
    out["worst_account"] = {{"name", worst.name},
                            {"jobs", worst.jobs},
                            {"reference_wait_s", worst.reference_wait_s},
                            {"wait_s", worst.wait_s}};
  }
  out["pilot"] = {{"cost", pilot_json(policy.cost_pilot)}, {"wait", pilot_json(policy.wait_pilot)}};
}

double uncovered_share(const Worth& worth) {
  double uncovered = 0;
  double kwh = 0;
  for (const RunCost& run : worth.histories.front().runs) {
    uncovered += run.energy.uncovered_kwh;
    kwh += run.energy.kwh;
  }
  return kwh > 0 ? uncovered / kwh : 0;
}

/// 1234.5 -> "1234", 12.34 -> "12.3", 0.0123 -> "0.0123": at least three digits.
std::string amount(double value) {
  const double size = std::abs(value);
  if (size >= 100 || value == 0) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return size >= 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.3g}", value);
}

/// "120 ±30"; "120" without an interval.
std::string with_interval(const Estimate& estimate) {
  const std::string value = amount(estimate.value);
  return estimate.half_width ? fmt::format("{} ±{}", value, amount(*estimate.half_width)) : value;
}

std::string seconds_change(const Estimate& change) {
  const auto text = [](double seconds) {
    return (seconds < 0 ? "-" : "+") + base::human_seconds(std::abs(seconds));
  };
  return change.half_width
             ? fmt::format("{} ±{}", text(change.value), base::human_seconds(*change.half_width))
             : text(change.value);
}

std::string days_text(const Pilot& pilot) {
  return pilot.days ? base::counted(*pilot.days, "day") : "no effect to show";
}

std::string pilot_text(const Worth& worth, const PolicyWorth& policy) {
  if (worth.pilot_days < 2) return "unknown, the history has no two whole days";
  return fmt::format("cost {}, wait {}", days_text(policy.cost_pilot),
                     days_text(policy.wait_pilot));
}

std::string heading(const Worth& worth) {
  std::string out = fmt::format(
      "\nWorth a year in {}: the history's {:.1f} days times {:.2f}; PUE {}, {} a GPU-hour\n",
      worth.currency, days_of(worth.span_s()), kYear_s / worth.span_s(),
      base::number_text(worth.pue), amount(worth.gpu_hour_rate));
  if (worth.resamples() > 1) {
    out += fmt::format("± is half of the 95 % interval, from {} of the history's {}\n",
                       base::counted(worth.resamples(), "resample"),
                       base::counted(worth.history_days, "day"));
  } else {
    out += "no intervals: they need two policies, two days and two --seeds\n";
  }
  if (worth.resamples() > 1 && worth.history_days < kReliableDays) {
    out += fmt::format("few days: intervals over {} are unreliable\n",
                       base::counted(worth.history_days, "day"));
  }
  if (days_of(worth.span_s()) < static_cast<double>(kReliableSpan_days)) {
    out += fmt::format("the history is shorter than {} days and may not stand for a year\n",
                       kReliableSpan_days);
  }
  if (const double share = uncovered_share(worth); share > 0) {
    out += fmt::format(
        "{:.1f} % of the energy was drawn outside the hours given, at the mean of the hour of the "
        "day\n",
        100 * share);
  }
  return out;
}

/// What one policy changes, below the table.
std::string details(const Worth& worth, const PolicyWorth& policy) {
  std::string out = fmt::format("  {}\n", policy.policy);
  if (policy.worst_seed) {
    out += fmt::format("    worst seed: {} saves {} {}\n", policy.worst_seed->seed,
                       amount(policy.worst_seed->saving), worth.currency);
  }
  if (policy.worst_account) {
    const AccountChange& worst = *policy.worst_account;
    out += fmt::format(
        "    worst account: {} waits {} on average, before {} ({})\n",
        worst.name.empty() ? "(no name)" : worst.name, base::human_seconds(worst.wait_s),
        base::human_seconds(worst.reference_wait_s), base::counted(worst.jobs, "job"));
  }
  if (worth.gpu_price && policy.gpu_hours_freed.value != 0) {
    const double gpus = Worth::gpus_of(policy.gpu_hours_freed.value);
    out += fmt::format("    GPU-hours {}: as many as {} GPUs have, which cost {} {}\n",
                       gpus > 0 ? "freed" : "used in addition", amount(std::abs(gpus)),
                       amount(std::abs(gpus) * *worth.gpu_price), worth.currency);
  }
  return out + fmt::format("    pilot that shows it: {}\n", pilot_text(worth, policy));
}

}  // namespace

std::string worth_json(const Worth& worth) {
  ordered_json policies = ordered_json::array();
  for (size_t i = 0; i < worth.policies.size(); ++i) {
    const PolicyWorth& policy = worth.policies[i];
    ordered_json one = {{"policy", policy.policy}, {"cost", policy.year.money()}};
    if (worth.prices_electricity) one["electricity"] = policy.year.energy.money;
    one["gpu_cost"] = policy.year.gpu_money;
    if (worth.is_metered) one["kwh"] = policy.year.energy.kwh;
    if (worth.prices_carbon) one["carbon_kg"] = policy.year.energy.carbon_kg;
    one["gpu_hours"] = policy.year.gpu_hours;
    one["avg_wait_s"] = policy.year.avg_wait_s;
    one["p99_jct_s"] = policy.year.p99_jct_s;
    one["deadline_misses"] = policy.deadline_misses;
    if (i != worth.reference) add_changes(worth, policy, one);
    policies.push_back(std::move(one));
  }
  ordered_json out = {{"currency", worth.currency},
                      {"pue", worth.pue},
                      {"gpu_hour_rate", worth.gpu_hour_rate},
                      {"gpu_price", nullptr},
                      {"span_s", worth.span_s()},
                      {"year_factor", kYear_s / worth.span_s()},
                      {"resamples", worth.resamples()},
                      {"history_days", worth.history_days},
                      {"pilot_days", worth.pilot_days},
                      {"deadline_jobs", worth.deadline_jobs},
                      {"uncovered_share", uncovered_share(worth)},
                      {"policies", std::move(policies)}};
  if (worth.gpu_price) out["gpu_price"] = *worth.gpu_price;
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string worth_table(const Worth& worth, size_t terminal_width) {
  std::vector<std::string> names = {"policy", "cost", "saving"};
  if (worth.is_metered) names.emplace_back("kWh saved");
  if (worth.prices_carbon) names.emplace_back("kg CO2 saved");
  names.insert(names.end(), {"GPU-hours freed", "average wait", "p99 JCT"});
  if (worth.deadline_jobs > 0) names.emplace_back("deadlines missed");
  std::vector<base::StackedTable::Column> columns;
  for (std::string& name : names) {
    columns.push_back({.title = std::move(name), .right = !columns.empty(), .gap = 2});
  }
  base::StackedTable table(std::move(columns));
  std::string below;
  for (size_t i = 0; i < worth.policies.size(); ++i) {
    const PolicyWorth& policy = worth.policies[i];
    const bool itself = i == worth.reference;
    std::vector<std::string> row = {policy.policy, amount(policy.year.money())};
    const auto add = [&](const std::string& text) { row.push_back(itself ? "-" : text); };
    add(with_interval(policy.saving));
    if (worth.is_metered) add(with_interval(policy.kwh_saved));
    if (worth.prices_carbon) add(with_interval(policy.carbon_kg_saved));
    add(with_interval(policy.gpu_hours_freed));
    add(seconds_change(policy.wait_change_s));
    add(seconds_change(policy.p99_jct_change_s));
    if (worth.deadline_jobs > 0) {
      row.push_back(fmt::format("{} of {}", policy.deadline_misses, worth.deadline_jobs));
    }
    table.add(std::move(row));
    if (!itself) below += details(worth, policy);
  }
  return heading(worth) + table.text(terminal_width) + below;
}

base::Status write_worth_csv(const std::string& path, const Worth& worth) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  std::string& out = file->buffer();
  out +=
      "policy,seed,span_days,cost,electricity,gpu_cost,kwh,carbon_kg,gpu_hours,avg_wait_s,"
      "p99_jct_s\n";
  for (const PricedHistory& history : worth.histories) {
    const double factor = kYear_s / history.span_s;
    for (size_t i = 0; i < history.runs.size(); ++i) {
      const RunCost& run = history.runs[i];
      base::append_sheet_field(out, worth.policies[i].policy);
      out += ',' + (history.seed ? std::to_string(*history.seed) : std::string());
      const auto add = [&out](bool is_known, double value) {
        out += ',';
        if (is_known) base::append_number(out, value);
      };
      add(true, days_of(history.span_s));
      add(true, run.money() * factor);
      add(worth.prices_electricity, run.energy.money * factor);
      add(true, run.gpu_money * factor);
      add(worth.is_metered, run.energy.kwh * factor);
      add(worth.prices_carbon, run.energy.carbon_kg * factor);
      add(true, run.gpu_hours * factor);
      add(true, run.avg_wait_s);
      add(true, run.p99_jct_s);
      out += '\n';
    }
  }
  return file->commit();
}

}  // namespace goban::study::results
