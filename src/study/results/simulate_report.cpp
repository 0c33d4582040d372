#include "study/results/simulate_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/sheet_field.hpp"
#include "base/stacked_table.hpp"
#include "base/units.hpp"
#include "study/results/worth_report.hpp"

namespace goban::study::results {

using base::append_number;
using base::append_seconds;
using base::human_seconds;

namespace {

constexpr size_t kTimeWidth = 10;
constexpr size_t kKwhWidth = 12;

void append_field(std::string& out, const char* name, double value) {
  out += fmt::format(", \"{}\": ", name);
  append_number(out, value);
}
void append_field(std::string& out, const char* name, int64_t value) {
  out += fmt::format(", \"{}\": {}", name, value);
}

void append_field(std::string& out, const char* name, const std::optional<double>& value) {
  if (value) return append_field(out, name, *value);
  out += fmt::format(", \"{}\": null", name);
}

std::string name_json(const std::string& name) {
  return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_name(std::string& out, const char* name, const std::string& value) {
  out += fmt::format(", \"{}\": {}", name, name_json(value));
}

/// 0.1234 -> "+12.3 %", with the error of a back-test "+12.3 ±1.5 %"; "?" if there is no error.
std::string gain_text(const Gain& gain, bool tested) {
  std::string out = fmt::format("{:+.1f}", 100 * gain.gain);
  if (tested) out += gain.error ? fmt::format(" ±{:.1f}", 100 * *gain.error) : " ±?";
  return out + " %";
}

std::string claim_text(const Gain& jct, const Gain& wait) {
  if (jct.claimed && wait.claimed) return "JCT, wait";
  if (jct.claimed) return "JCT";
  return wait.claimed ? "wait" : "not claimed";
}

void append_mean(std::string& out, const char* name, const MeanError& mean) {
  const std::string key(name);
  append_field(out, (key + "_recorded_s").c_str(), mean.recorded_s);
  append_field(out, (key + "_simulated_s").c_str(), mean.simulated_s);
  append_field(out, (key + "_error").c_str(), mean.relative);
  append_field(out, (key + "_error_low").c_str(), mean.low);
  append_field(out, (key + "_error_high").c_str(), mean.high);
}

void append_gain(std::string& out, const char* name, const Gain& gain, bool tested) {
  const std::string key(name);
  append_field(out, key.c_str(), gain.gain);
  if (!tested) return;
  append_field(out, (key + "_error").c_str(), gain.error);
  out += fmt::format(", \"{}_claimed\": {}", key, gain.claimed);
}

void append_energy(std::string& out, const EnergyMetrics& energy) {
  std::string kwh;
  for (size_t i = 0; i < energy.kwh.size(); ++i) {
    append_field(kwh, std::string(core::knowledge::kAccountingLetters[i]).c_str(), energy.kwh[i]);
  }
  out += ", \"energy_kwh\": {" + kwh.substr(2) + '}';
  append_field(out, "energy_jobs_kwh", energy.jobs_kwh);
  append_field(out, "avg_active_nodes", energy.avg_active_nodes);
}

void append_service(std::string& out, const ServiceMetrics& service) {
  append_field(out, "deadline_jobs", service.deadline_jobs);
  append_field(out, "deadline_misses", service.deadline_misses);
  append_field(out, "max_slowdown_misses", service.slowdown_misses);
  append_field(out, "max_wait_misses", service.wait_misses);
  append_field(out, "avg_epoch_s", service.avg_epoch_s);
  append_field(out, "avg_slowdown", service.avg_slowdown);
  append_field(out, "p99_slowdown", service.p99_slowdown);
  append_field(out, "worst_user_slowdown", service.worst_user_slowdown);
  append_name(out, "worst_user", service.worst_user);
  append_field(out, "jain_index", service.jain_index);
  append_field(out, "undo_count", service.undo_count);
  append_field(out, "moves", service.moves);
  append_field(out, "broke_beside", service.broke_beside);
  std::string levels;
  for (size_t i = 1; i + 1 < service.predictions.size(); ++i) {
    const auto level = static_cast<core::knowledge::PredictionLevel>(i);
    append_field(levels, std::string(level_name(level)).c_str(), service.predictions[i]);
  }
  out += ", \"prediction_levels\": {" + levels.substr(2) + '}';
}

void append_starts(std::string& out, const simulator::StartCoverage& starts) {
  std::string part;
  append_field(part, "submitted", starts.submitted);
  append_field(part, "waited", starts.waited);
  append_field(part, "judged", starts.judged);
  append_field(part, "inside", starts.inside);
  append_field(part, "early", starts.early);
  append_field(part, "late", starts.late);
  append_field(part, "inside_raw", starts.inside_raw);
  append_field(part, "width_s", starts.width_s);
  append_field(part, "error_ln", starts.error_ln);
  out += ", \"starts\": {" + part.substr(2) + '}';
}

void append_elastic(std::string& out, const ElasticMetrics& elastic) {
  std::string part;
  append_field(part, "jobs", elastic.jobs);
  append_field(part, "resizes", elastic.resizes);
  append_field(part, "resized", elastic.resized);
  append_field(part, "interpolated", elastic.interpolated);
  out += ", \"elastic\": {" + part.substr(2) + '}';
}

void append_staging(std::string& out, const simulator::StagingFigures& staging) {
  std::string part;
  append_field(part, "jobs", staging.jobs);
  append_field(part, "hits", staging.hits);
  append_field(part, "in_bytes", staging.in_bytes);
  append_field(part, "hit_bytes", staging.hit_bytes);
  append_field(part, "out_bytes", staging.out_bytes);
  append_field(part, "evictions", staging.evictions);
  append_field(part, "avg_stage_s", staging.avg_stage_s());
  append_field(part, "max_stage_s", staging.stage_s_max);
  append_field(part, "full_s", staging.full_s_sum);
  append_field(part, "link_busy_s", staging.link_busy_s);
  append_field(part, "stage_out_s", staging.out_s_sum);
  out += ", \"staging\": {" + part.substr(2) + '}';
}

/// The JSON members after a policy's name.
std::string figures(const Comparison& comparison, const RunMetrics& run) {
  const RunMetrics& reference = comparison.runs[comparison.reference];
  const bool tested = comparison.backtest.has_value();
  std::string out;
  append_field(out, "jobs", run.jobs);
  append_field(out, "rejected", run.rejected);
  append_field(out, "avg_jct_s", run.avg_jct_s);
  append_field(out, "p50_jct_s", run.p50_jct_s);
  append_field(out, "p99_jct_s", run.p99_jct_s);
  append_field(out, "avg_wait_s", run.avg_wait_s);
  append_field(out, "makespan_s", run.makespan_s);
  append_field(out, "gpu_occupancy", run.gpu_occupancy);
  append_field(out, "gpu_hours_consumed", run.gpu_hours_consumed);
  append_field(out, "gpu_hours_ideal", run.gpu_hours_ideal);
  append_field(out, "goodput", run.goodput);
  append_field(out, "preemptions", run.preemptions);
  append_field(out, "wall_s", run.wall_s);
  append_field(out, "timed_out", run.timed_out);
  append_field(out, "gpu_hours_lost", run.gpu_hours_lost);
  append_field(out, "gpu_hours_restarting", run.gpu_hours_restarting);
  const AccountMetrics& worst = run.worst_account;
  if (worst.jobs > 0) {
    out += ", \"worst_account\": {\"name\": " + name_json(worst.name);
    append_field(out, "jobs", worst.jobs);
    append_field(out, "avg_slowdown", worst.avg_slowdown);
    append_field(out, "avg_wait_s", worst.avg_wait_s);
    append_field(out, "gpu_hours", worst.gpu_hours);
    out += '}';
  }
  if (run.energy) append_energy(out, *run.energy);
  if (run.service) append_service(out, *run.service);
  if (run.starts) append_starts(out, *run.starts);
  if (run.elastic) append_elastic(out, *run.elastic);
  if (run.staging) append_staging(out, *run.staging);
  append_gain(out, "gain_jct", jct_gain(run, reference, comparison.backtest), tested);
  append_gain(out, "gain_wait", wait_gain(run, reference, comparison.backtest), tested);
  if (comparison.bounds) {
    append_field(out, "gap_closed",
                 gap_closed(run.avg_jct_s, reference.avg_jct_s, *comparison.bounds));
  }
  return out;
}

}  // namespace

std::string backtest_json(const Backtest& test) {
  std::string out = "{\"policy\": " + nlohmann::json(test.policy).dump();
  append_field(out, "jobs", test.jobs);
  append_field(out, "without_start", test.without_start);
  append_field(out, "in_warmup", test.in_warmup);
  append_field(out, "days", test.days);
  append_mean(out, "wait", test.wait);
  append_mean(out, "jct", test.jct);
  append_field(out, "error_abs_mean_s", test.error_abs_mean_s);
  append_field(out, "error_abs_p50_s", test.error_abs_p50_s);
  append_field(out, "error_abs_p90_s", test.error_abs_p90_s);
  append_field(out, "error_mean_s", test.error_mean_s);
  append_field(out, "within_1min", test.within_1min);
  append_field(out, "within_5min", test.within_5min);
  append_field(out, "within_10percent", test.within_10percent);
  append_field(out, "rank_correlation", test.rank_correlation);
  return out + '}';
}

std::string figures_json(const Comparison& comparison, size_t run) {
  return "{" + figures(comparison, comparison.runs[run]).substr(2) + "}";
}

std::string simulate_json(const Comparison& comparison) {
  std::string out = "{\"runs\": [";
  const std::vector<RunMetrics>& runs = comparison.runs;
  for (const RunMetrics& run : runs) {
    out += &run == &runs.front() ? "\n  {" : ",\n  {";
    out += "\"policy\": " + nlohmann::json(run.policy).dump() + figures(comparison, run) + '}';
  }
  out += "\n]";
  if (!runs.empty()) {
    out += ",\n\"reference\": " + nlohmann::json(runs[comparison.reference].policy).dump();
  }
  if (comparison.bounds) {
    std::string bounds;
    append_field(bounds, "no_wait_s", comparison.bounds->no_wait_s);
    append_field(bounds, "lower_s", comparison.bounds->lower_s);
    out += ",\n\"jct_bounds\": {" + bounds.substr(2) + "}";
  }
  if (comparison.backtest) out += ",\n\"backtest\": " + backtest_json(*comparison.backtest);
  if (comparison.worth) out += ",\n\"worth\": " + worth_json(*comparison.worth);
  return out + "}\n";
}

namespace {

/// How far each run is from what no schedule of exclusive GPUs can beat.
std::string bounds_lines(const Comparison& comparison) {
  const RunMetrics& reference = comparison.runs[comparison.reference];
  std::string out = fmt::format(
      "Bounds of the average JCT: {} if no job waited; {} at least on these GPUs, without "
      "sharing.\n",
      human_seconds(comparison.bounds->no_wait_s), human_seconds(comparison.bounds->lower_s));
  std::string closed;
  for (const RunMetrics& run : comparison.runs) {
    if (&run == &reference) continue;
    const double share = gap_closed(run.avg_jct_s, reference.avg_jct_s, *comparison.bounds);
    closed += fmt::format("{}{} {:.0f} %", closed.empty() ? "" : ", ", run.policy, 100 * share);
  }
  return out + fmt::format("Of the distance from {} to the bound: {}.\n", reference.policy, closed);
}

/// The lines below the table: the run with the lowest average JCT, and whether its gain is claimed.
std::string verdict(const Comparison& comparison) {
  const std::vector<RunMetrics>& runs = comparison.runs;
  const RunMetrics& reference = runs[comparison.reference];
  const auto best = std::ranges::min_element(runs, {}, &RunMetrics::avg_jct_s);
  std::string out =
      fmt::format("\n{}, {:.1f} ideal GPU-hours, makespan {} under {}. Lowest average JCT: {}",
                  base::counted(best->jobs, "job"), best->gpu_hours_ideal,
                  human_seconds(best->makespan_s), best->policy, best->policy);
  if (&*best != &reference && best->avg_jct_s > 0) {
    const Gain gain = jct_gain(*best, reference, comparison.backtest);
    out += fmt::format(", {:.1f} % below {}", 100 * gain.gain, reference.policy);
    if (comparison.backtest && !gain.claimed) out += ": not claimed, within the back-test's error";
  }
  out += ".\n";
  if (runs.size() > 1) out += fmt::format("Gains are relative to {}", reference.policy);
  if (runs.size() > 1 && comparison.backtest) {
    out += "; ± is the error of the back-test, and a gain within it is not claimed.\n";
  } else if (runs.size() > 1) {
    out += "; without --backtest their error is unknown.\n";
  }
  if (comparison.bounds) out += bounds_lines(comparison);
  return out;
}

}  // namespace

std::string comparison_table(const Comparison& comparison, size_t terminal_width) {
  const std::vector<RunMetrics>& runs = comparison.runs;
  const bool tested = comparison.backtest.has_value();
  struct Gains {
    std::string jct = "-", wait = "-", claim = "the site's";
  };
  std::vector<Gains> gains(runs.size());
  size_t gain_width = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i == comparison.reference) continue;
    const Gain jct = jct_gain(runs[i], runs[comparison.reference], comparison.backtest);
    const Gain wait = wait_gain(runs[i], runs[comparison.reference], comparison.backtest);
    gains[i] = {gain_text(jct, tested), gain_text(wait, tested), claim_text(jct, wait)};
    gain_width = std::max(
        {gain_width, base::characters_of(gains[i].jct), base::characters_of(gains[i].wait)});
  }
  std::vector<base::StackedTable::Column> columns = {
      {.title = "policy", .right = false},
      {.title = "avg JCT", .width_min = kTimeWidth, .gap = 2},
      {.title = "gain", .width_min = gain_width, .gap = 2},
      {.title = "p50 JCT", .width_min = kTimeWidth},
      {.title = "p99 JCT", .width_min = kTimeWidth},
      {.title = "avg wait", .width_min = kTimeWidth},
      {.title = "gain", .width_min = gain_width, .gap = 2},
      {.title = "busy", .width_min = 6},
      {.title = "GPU-hours", .width_min = 10},
      {.title = "goodput"},
      {.title = "preempted"}};
  if (tested) columns.push_back({.title = "claimed", .right = false, .gap = 2});
  base::StackedTable table(std::move(columns));
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunMetrics& run = runs[i];
    std::vector<std::string> cells = {run.policy,
                                      human_seconds(run.avg_jct_s),
                                      gains[i].jct,
                                      human_seconds(run.p50_jct_s),
                                      human_seconds(run.p99_jct_s),
                                      human_seconds(run.avg_wait_s),
                                      gains[i].wait,
                                      fmt::format("{:.1f}%", 100 * run.gpu_occupancy),
                                      fmt::format("{:.1f}", run.gpu_hours_consumed),
                                      fmt::format("{:.1f}%", 100 * run.goodput),
                                      fmt::format("{}", run.preemptions)};
    if (tested) cells.push_back(gains[i].claim);
    table.add(std::move(cells));
  }
  const std::string out = table.text(terminal_width);
  return runs.empty() ? out : out + verdict(comparison);
}

namespace {

std::string mean_line(const char* name, const MeanError& mean) {
  std::string out = fmt::format("  {:<10} recorded {}, simulated {}", name,
                                human_seconds(mean.recorded_s), human_seconds(mean.simulated_s));
  if (!mean.relative) return out + ": no relative error\n";
  out += fmt::format(": {:+.1f} %", 100 * *mean.relative);
  if (mean.low)
    out += fmt::format(", 95 % interval {:+.1f} to {:+.1f} %", 100 * *mean.low, 100 * *mean.high);
  return out + '\n';
}

}  // namespace

std::string backtest_text(const Backtest& test) {
  constexpr int64_t kDaysWanted = 7;
  std::string out =
      fmt::format("Back-test of {}: {} of {} ({} without a recorded start, {} in the warm-up)\n",
                  test.policy, base::counted(test.jobs, "job"), base::counted(test.days, "day"),
                  test.without_start, test.in_warmup);
  if (test.jobs == 0) return out;
  out += mean_line("mean wait", test.wait) + mean_line("mean JCT", test.jct);
  out += fmt::format("  wait per job: error {} mean, {} median, {} p90; bias {}\n",
                     human_seconds(test.error_abs_mean_s), human_seconds(test.error_abs_p50_s),
                     human_seconds(test.error_abs_p90_s), human_seconds(test.error_mean_s));
  out +=
      fmt::format("  within 1 min {:.1f} %, 5 min {:.1f} %, 10 % {:.1f} %; rank correlation {}\n",
                  100 * test.within_1min, 100 * test.within_5min, 100 * test.within_10percent,
                  test.rank_correlation ? fmt::format("{:.3f}", *test.rank_correlation) : "-");
  if (test.days < kDaysWanted) {
    out += fmt::format("  few days: an interval over {} is unreliable\n",
                       base::counted(test.days, "day"));
  }
  return out;
}

std::string elastic_lines(const std::vector<RunMetrics>& runs) {
  std::string out;
  const bool differ = std::ranges::any_of(
      runs, [&](const RunMetrics& run) { return run.timed_out != runs.front().timed_out; });
  for (const RunMetrics& run : runs) {
    if (!run.elastic) continue;
    const ElasticMetrics& elastic = *run.elastic;
    out += fmt::format("  {}: {} resizes of {}, {} elastic", run.policy, elastic.resizes,
                       base::counted(elastic.resized, "job"), elastic.jobs);
    if (elastic.interpolated > 0) {
      out += fmt::format("; {} ran at a speed that was interpolated, not measured",
                         base::counted(elastic.interpolated, "job"));
    }
    // Jobs that are killed end early: that is no gain.
    if (differ) {
      out += fmt::format("; {}", base::counted(run.timed_out, "job reached its walltime limit",
                                               "jobs reached their walltime limit"));
    }
    out += '\n';
  }
  return out.empty() ? out : "\nElastic jobs:\n" + out;
}

std::string starts_lines(const std::vector<RunMetrics>& runs) {
  std::string out;
  for (const RunMetrics& run : runs) {
    if (!run.starts) continue;
    const simulator::StartCoverage& starts = *run.starts;
    out += fmt::format("  {}: {} of {} had to wait", run.policy, starts.waited,
                       base::counted(starts.submitted, "job"));
    if (starts.judged == 0) {
      out += "; too few to judge forecasts\n";
      continue;
    }
    const auto percent = [&](int64_t count) {
      return 100 * static_cast<double>(count) / static_cast<double>(starts.judged);
    };
    out += fmt::format(
        "; of {} that were forecast {:.1f} % started in the 80 % interval ({:.1f} % before, {:.1f} "
        "% "
        "after; {:.1f} % without calibration), median width {}\n",
        starts.judged, percent(starts.inside), percent(starts.early), percent(starts.late),
        percent(starts.inside_raw), human_seconds(starts.width_s));
  }
  return out.empty() ? out : "\nForecasts of start times, made at submission:\n" + out;
}

std::string worst_account_lines(const std::vector<RunMetrics>& runs) {
  size_t width = 0;
  for (const RunMetrics& run : runs) width = std::max(width, run.policy.size());
  std::string out;
  for (const RunMetrics& run : runs) {
    const AccountMetrics& worst = run.worst_account;
    if (worst.jobs == 0) continue;
    out += fmt::format("  {:<{}}  {}: slowdown {:.1f}, average wait {}, {}\n", run.policy, width,
                       worst.name.empty() ? "(no name)" : worst.name, worst.avg_slowdown,
                       human_seconds(worst.avg_wait_s), base::counted(worst.jobs, "job"));
  }
  return out.empty() ? out : "\nAccount with the highest average slowdown:\n" + out;
}

namespace {

/// Relative change of a run's value against the reference.
std::string less_text(double value, double reference) {
  return reference > 0 ? fmt::format("{:+.1f} %", 100 * (value / reference - 1)) : "-";
}

std::string predictions_text(const ServiceMetrics& service) {
  std::string out;
  for (size_t i = 1; i < service.predictions.size(); ++i) {
    if (service.predictions[i] == 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", service.predictions[i],
                       level_name(static_cast<core::knowledge::PredictionLevel>(i)));
  }
  return out.empty() ? "none" : out;
}

}  // namespace

std::string energy_table(const Comparison& comparison, size_t terminal_width) {
  const std::vector<RunMetrics>& runs = comparison.runs;
  if (runs.empty() || !runs[comparison.reference].energy) return {};
  constexpr size_t kD = static_cast<size_t>(core::knowledge::kHeadline);
  const EnergyMetrics& reference = *runs[comparison.reference].energy;
  base::StackedTable table({{.title = "policy", .right = false},
                            {.title = "D: may sleep", .width_min = kKwhWidth, .gap = 2},
                            {.title = "change", .width_min = 9},
                            {.title = "A: active", .width_min = kKwhWidth},
                            {.title = "B: idle on", .width_min = kKwhWidth},
                            {.title = "C: EaCO only", .width_min = kKwhWidth},
                            {.title = "nodes active", .width_min = kKwhWidth}});
  for (const RunMetrics& run : runs) {
    const EnergyMetrics& energy = *run.energy;
    const bool itself = &run == &runs[comparison.reference];
    table.add({run.policy, fmt::format("{:.2f}", energy.kwh[kD]),
               itself ? "-" : less_text(energy.kwh[kD], reference.kwh[kD]),
               fmt::format("{:.2f}", energy.kwh[0]), fmt::format("{:.2f}", energy.kwh[1]),
               fmt::format("{:.2f}", energy.kwh[2]),
               fmt::format("{:.2f}", energy.avg_active_nodes)});
  }
  return "\nEnergy of the cluster, kWh\n" + table.text(terminal_width);
}

std::string service_table(const std::vector<RunMetrics>& runs, size_t terminal_width) {
  if (runs.empty() || !runs.front().service) return {};
  base::StackedTable table({{.title = "policy", .right = false},
                            {.title = "deadlines missed", .width_min = 17, .gap = 2},
                            {.title = "epoch", .width_min = kTimeWidth},
                            {.title = "slowdown", .width_min = 9},
                            {.title = "p99", .width_min = 9},
                            {.title = "worst user"},
                            {.title = "Jain", .width_min = 6},
                            {.title = "undone"},
                            {.title = "moved", .width_min = 6},
                            {.title = "predictions for shared GPUs", .right = false, .gap = 2}});
  for (const RunMetrics& run : runs) {
    const ServiceMetrics& s = *run.service;
    table.add({run.policy, fmt::format("{} of {}", s.deadline_misses, s.deadline_jobs),
               s.avg_epoch_s ? human_seconds(*s.avg_epoch_s) : "-",
               fmt::format("{:.3f}", s.avg_slowdown), fmt::format("{:.2f}", s.p99_slowdown),
               fmt::format("{:.3f}", s.worst_user_slowdown), fmt::format("{:.3f}", s.jain_index),
               fmt::format("{}", s.undo_count), fmt::format("{}", s.moves), predictions_text(s)});
  }
  return '\n' + table.text(terminal_width);
}

std::string staging_table(const std::vector<RunMetrics>& runs, size_t terminal_width) {
  if (runs.empty() || !runs.front().staging) return {};
  constexpr double kGigabyte = 1e9;
  base::StackedTable table({{.title = "policy", .right = false},
                            {.title = "cache hits", .width_min = 14, .gap = 2},
                            {.title = "GB in", .width_min = kTimeWidth},
                            {.title = "GB hit", .width_min = kTimeWidth},
                            {.title = "GB out", .width_min = kTimeWidth},
                            {.title = "avg stage", .width_min = kTimeWidth},
                            {.title = "evicted", .width_min = 9},
                            {.title = "link busy", .width_min = kTimeWidth}});
  for (const RunMetrics& run : runs) {
    const simulator::StagingFigures& s = *run.staging;
    const auto gigabytes = [](int64_t bytes) {
      return fmt::format("{:.1f}", static_cast<double>(bytes) / kGigabyte);
    };
    table.add({run.policy, fmt::format("{} of {}", s.hits, s.jobs), gigabytes(s.in_bytes),
               gigabytes(s.hit_bytes), gigabytes(s.out_bytes), human_seconds(s.avg_stage_s()),
               fmt::format("{}", s.evictions), human_seconds(s.link_busy_s)});
  }
  return "\nStaging\n" + table.text(terminal_width);
}

namespace {

/// Of a job that is not elastic, its GPUs as requested.
void append_sizes(std::string& out, const simulator::SimulationResult& result, size_t job,
                  int32_t requested) {
  const simulator::ElasticOutcome sizes = result.elastic_of(job);
  const bool sized = sizes.gpus_min > 0;
  for (const int32_t value :
       {sizes.resizes, sized ? sizes.gpus_min : requested, sized ? sizes.gpus_max : requested}) {
    out += ',';
    append_number(out, int64_t{value});
  }
  out += ',';
  append_number(out, result.held_gpu_s(job, requested) / 3600);
  out += sizes.interpolated ? ",yes" : ",no";
}

}  // namespace

base::Status write_jobs_csv(const std::string& path, const core::model::JobHistory& history,
                            const simulator::SimulationResult& result, const JobColumns& columns) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  std::string& out = file->buffer();
  out += "job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions";
  if (columns.energy != nullptr) out += ",energy_kwh";
  if (columns.sharing != nullptr) out += ",predicted_by";
  const bool elastic = !result.elastic.empty();
  if (elastic) out += ",resizes,gpus_least,gpus_most,gpu_hours,interpolated";
  out += '\n';
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::JobRequest& request = history.jobs[i].request;
    const simulator::JobOutcome& outcome = result.outcomes[i];
    const base::TimeNs jct_ns = outcome.finish_ns - request.submit_ns;
    base::append_sheet_field(out, history.job_names[i]);
    for (const base::TimeNs time : {request.submit_ns, outcome.start_ns, outcome.finish_ns, jct_ns,
                                    jct_ns - outcome.held_ns}) {
      out += ',';
      append_seconds(out, time);
    }
    out += ',';
    append_number(out, int64_t{request.num_gpus});
    out += ',';
    append_number(out, int64_t{outcome.preemptions});
    if (columns.energy != nullptr) {
      out += ',';
      append_number(out, columns.energy->job_j[i] / 3.6e6);
    }
    if (columns.sharing != nullptr) {
      out += ',';
      out += level_name(columns.sharing->level_of()[i]);
    }
    if (elastic) append_sizes(out, result, i, request.num_gpus);
    out += '\n';
    file->write_out();
  }
  return file->commit();
}

}  // namespace goban::study::results
