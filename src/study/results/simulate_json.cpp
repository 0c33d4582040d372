#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/number.hpp"
#include "study/results/simulate_report.hpp"
#include "study/results/worth_report.hpp"

namespace goban::study::results {

using base::append_number;

namespace {

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

/// The object of members that were appended one by one, each with a comma in front of it.
std::string object_of(const std::string& members) { return '{' + members.substr(2) + '}'; }

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
  out += ", \"energy_kwh\": " + object_of(kwh);
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
  out += ", \"prediction_levels\": " + object_of(levels);
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
  out += ", \"starts\": " + object_of(part);
}

void append_promises(std::string& out, const simulator::PromiseFigures& promises) {
  std::string part;
  append_field(part, "made", promises.made);
  append_field(part, "late", promises.late);
  append_field(part, "late_p95_s", promises.late_p95_s);
  out += ", \"promises\": " + object_of(part);
}

void append_elastic(std::string& out, const ElasticMetrics& elastic) {
  std::string part;
  append_field(part, "jobs", elastic.jobs);
  append_field(part, "resizes", elastic.resizes);
  append_field(part, "resized", elastic.resized);
  append_field(part, "interpolated", elastic.interpolated);
  out += ", \"elastic\": " + object_of(part);
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
  out += ", \"staging\": " + object_of(part);
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
    std::string account;
    append_name(account, "name", worst.name);
    append_field(account, "jobs", worst.jobs);
    append_field(account, "avg_slowdown", worst.avg_slowdown);
    append_field(account, "avg_wait_s", worst.avg_wait_s);
    append_field(account, "gpu_hours", worst.gpu_hours);
    out += ", \"worst_account\": " + object_of(account);
  }
  if (run.energy) append_energy(out, *run.energy);
  if (run.service) append_service(out, *run.service);
  if (run.starts) append_starts(out, *run.starts);
  if (run.promises.made > 0) append_promises(out, run.promises);
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
  return object_of(figures(comparison, comparison.runs[run]));
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
    out += ",\n\"jct_bounds\": " + object_of(bounds);
  }
  if (comparison.backtest) out += ",\n\"backtest\": " + backtest_json(*comparison.backtest);
  if (comparison.worth) out += ",\n\"worth\": " + worth_json(*comparison.worth);
  return out + "}\n";
}

}  // namespace goban::study::results
