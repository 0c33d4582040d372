#include "study/results/report_document.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "base/number.hpp"
#include "site/page/json_text.hpp"
#include "study/results/column.hpp"
#include "study/results/distribution.hpp"
#include "study/results/energy_document.hpp"
#include "study/results/job_groups.hpp"
#include "study/results/job_table.hpp"
#include "study/results/simulate_report.hpp"
#include "study/results/worth_report.hpp"

namespace goban::study::results {

namespace {

constexpr size_t kDistributionPoints = 400;
constexpr size_t kHeatColumnsMax = 720;

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string number(double value) { return base::number_text(value); }

std::string pairs_json(const Pairs& pairs) {
  return site::page::json_list(pairs, [](const auto& pair) {
    return fmt::format(R"({{"name": {}, "value": {}}})", site::page::json_quoted(pair.first),
                       site::page::json_quoted(pair.second));
  });
}

const char* level_name(NoteLevel level) {
  switch (level) {
    case NoteLevel::Info:
      return "info";
    case NoteLevel::Warning:
      return "warning";
    case NoteLevel::Error:
      return "error";
  }
  return "error";
}

std::string notes_json(const std::vector<Note>& notes) {
  return site::page::json_list(notes, [](const Note& note) {
    return fmt::format(R"({{"level": "{}", "text": {}}})", level_name(note.level),
                       site::page::json_quoted(note.text));
  });
}

std::string backtest_member(const Backtest& backtest) {
  std::string members = backtest_json(backtest);
  members.front() = ',';
  return "{\"text\": " + site::page::json_quoted(backtest_text(backtest)) +
         site::page::html_safe(members);
}

std::string runs_json(const ReportInput& input) {
  std::string out = "[";
  for (size_t i = 0; i < input.runs.size(); ++i) {
    out +=
        fmt::format("{}{{\"policy\": {},\n\"settings\": {},\n\"figures\": {}}}",
                    i == 0 ? "" : ",\n", site::page::json_quoted(input.comparison.runs[i].policy),
                    pairs_json(input.runs[i].settings),
                    site::page::html_safe(figures_json(input.comparison, i)));
  }
  return out + "]";
}

std::string distribution_json(const ReportInput& input, bool wait) {
  std::vector<std::vector<double>> values;
  for (const ReportRun& run : input.runs) {
    std::vector<double>& seconds = values.emplace_back();
    for (size_t i = first_counted(*input.history, input.warmup_ns); i < input.history->jobs.size();
         ++i) {
      const simulator::JobOutcome& outcome = run.result->outcomes[i];
      const TimeNs jct_ns = outcome.finish_ns - input.history->jobs[i].request.submit_ns;
      seconds.push_back(base::to_seconds(wait ? jct_ns - outcome.held_ns : jct_ns));
    }
  }
  const CumulativeShares d = cumulative_shares(std::move(values), kDistributionPoints);
  return fmt::format("{{\"at_s\": {},\n\"shares\": {}}}", float_column(d.at),
                     site::page::json_list(
                         d.shares, [](const auto& shares) { return float_column(shares); }, ",\n"));
}

std::string curve_json(const RunRecorder& recorder, size_t row) {
  std::vector<float> values;
  const size_t bins = recorder.curves().bins_until(recorder.end_ns());
  for (size_t bin = 0; bin < bins; ++bin) {
    values.push_back(static_cast<float>(recorder.curves().mean(row, bin, recorder.end_ns())));
  }
  return float_column(values);
}

std::string series_json(const ReportInput& input) {
  const TimeNs step_ns = input.runs.front().recorder->curves().width_ns();
  return fmt::format("{{\"step_s\": {},\n\"runs\": {}}}", number(base::to_seconds(step_ns)),
                     site::page::json_list(
                         input.runs,
                         [](const ReportRun& run) {
                           return fmt::format("{{\"waiting\": {},\n\"held_gpus\": {}}}",
                                              curve_json(*run.recorder, RunRecorder::kWaiting),
                                              curve_json(*run.recorder, RunRecorder::kHeld));
                         },
                         ",\n"));
}

/// Shares of held GPUs in percent, row by row.
std::string heat_run_json(const RunRecorder& recorder, const HeatRows& rows) {
  const TimeBins& heat = recorder.heat();
  const size_t bins = heat.bins_until(recorder.end_ns());
  std::vector<uint32_t> percent;
  percent.reserve(heat.rows() * bins);
  for (size_t row = 0; row < heat.rows(); ++row) {
    for (size_t bin = 0; bin < bins; ++bin) {
      const double share = heat.mean(row, bin, recorder.end_ns()) / rows.gpus[row];
      percent.push_back(static_cast<uint32_t>(std::lround(100 * std::clamp(share, 0.0, 1.0))));
    }
  }
  return fmt::format("{{\"columns\": {}, \"percent\": {}}}", bins, whole_column(percent));
}

std::string heat_json(const ReportInput& input) {
  const HeatRows& rows = *input.rows;
  const TimeNs step_ns = input.runs.front().recorder->heat().width_ns();
  return fmt::format(
      "{{\"kind\": \"{}\", \"step_s\": {},\n\"labels\": {},\n\"gpus\": {},\n\"runs\": {}}}",
      rows.kind, number(base::to_seconds(step_ns)),
      site::page::json_list(rows.labels, site::page::json_quoted), whole_column(rows.gpus),
      site::page::json_list(
          input.runs, [&rows](const ReportRun& run) { return heat_run_json(*run.recorder, rows); },
          ",\n"));
}

std::string grouping_json(const ReportInput& input, const JobGrouping& grouping) {
  const auto run_json = [&](const ReportRun& run) {
    const GroupMeans means = group_means(grouping, *input.history, *run.result);
    return fmt::format("{{\"jct_s\": {}, \"wait_s\": {}}}",
                       site::page::json_list(means.jct_s, number),
                       site::page::json_list(means.wait_s, number));
  };
  return fmt::format(
      "{{\"by\": \"{}\", \"names\": {}, \"jobs\": {},\n\"runs\": {}}}", grouping.by,
      site::page::json_list(grouping.names, site::page::json_quoted),
      site::page::json_list(grouping.jobs, [](int64_t jobs) { return std::to_string(jobs); }),
      site::page::json_list(input.runs, run_json, ",\n"));
}

/// Brings the curves of all runs to one bin width, and their heat maps to another.
void align(const ReportInput& input) {
  TimeNs curves_ns = 0;
  TimeNs heat_ns = 0;
  TimeNs end_ns = 0;
  for (const ReportRun& run : input.runs) {
    curves_ns = std::max(curves_ns, run.recorder->curves().width_ns());
    heat_ns = std::max(heat_ns, run.recorder->heat().width_ns());
    end_ns = std::max(end_ns, run.recorder->end_ns());
  }
  for (const ReportRun& run : input.runs) run.recorder->widen(curves_ns, heat_ns);
  const RunRecorder& first = *input.runs.front().recorder;
  while (first.heat().bins_until(end_ns) > kHeatColumnsMax) {
    ++heat_ns;  // the next width
    for (const ReportRun& run : input.runs) run.recorder->widen(curves_ns, heat_ns);
    heat_ns = first.heat().width_ns();
  }
}

}  // namespace

std::string report_document(const ReportInput& input) {
  align(input);
  std::vector<const simulator::SimulationResult*> results;
  for (const ReportRun& run : input.runs) results.push_back(run.result);
  std::string out =
      fmt::format("{{\"schema\": \"goban-report\", \"version\": {},\n", kSchemaVersion);
  const auto member = [&out](const char* name, const std::string& json) {
    out += fmt::format("\"{}\": {},\n", name, json);
  };
  member("goban", site::page::json_quoted(input.goban_version));
  member("title", site::page::json_quoted(input.title));
  member("jobs", std::to_string(input.history->jobs.size()));
  member("cluster", fmt::format(R"({{"name": {}, "gpus": {}, "nodes": {}}})",
                                site::page::json_quoted(input.cluster->name()),
                                input.cluster->num_gpus(), input.cluster->nodes().size()));
  member("settings", pairs_json(input.settings));
  member("notes", notes_json(input.notes));
  if (input.comparison.backtest) {
    member("backtest", backtest_member(*input.comparison.backtest));
  }
  member("reference", std::to_string(input.comparison.reference));
  member("runs", runs_json(input));
  member("jct", distribution_json(input, false));
  member("wait", distribution_json(input, true));
  member("series", series_json(input));
  member("heat", heat_json(input));
  const auto optional_member = [&member](const char* name, const std::string& json) {
    if (!json.empty()) member(name, json);
  };
  if (input.comparison.worth) {
    member("worth", site::page::html_safe(worth_json(*input.comparison.worth)));
  }
  optional_member("energy", power_json(input));
  optional_member("colocation", colocation_json(input));
  member("groups", "[" + grouping_json(input, group_by_class(*input.history, input.warmup_ns)) +
                       ",\n" +
                       grouping_json(input, group_by_gpus(*input.history, input.warmup_ns)) + "]");
  out +=
      "\"table\": " + job_table_json(*input.history, results, table_jobs_max(input.runs.size())) +
      "}\n";
  return out;
}

}  // namespace goban::study::results
