// goban trace inspect: summarises a job history. goban trace convert: converts it to generic CSV.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/site/reading_options.hpp"
#include "cli/study/commands.hpp"
#include "site/inputs/inputs.hpp"
#include "site/records/reject_limit.hpp"
#include "study/history/job_reader.hpp"
#include "study/history/summary.hpp"
#include "study/history/write_generic.hpp"
#include "study/notes.hpp"

namespace goban::cli {
namespace {

using base::human_seconds;
using study::history::Consumers;
using study::history::HistorySummary;
using study::history::ReadResult;
using study::history::SampleQuantiles;
using Json = nlohmann::ordered_json;

constexpr std::array kEndNames = {"unknown",   "completed", "failed",
                                  "cancelled", "timed_out", "node_failed"};
constexpr std::array kWeekdays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

struct TraceArguments {
  std::string file;
  site::records::ReadOptions reading;
  std::string cluster;
  std::string rejects;
  double max_rejects_pct = site::records::kMaxRejectsPct;
  std::string out = "-";
  bool json = false;
};

struct Loaded {
  std::optional<core::model::Cluster> cluster;
  ReadResult read;
};

base::Result<Loaded> load(const TraceArguments& arguments) {
  Loaded loaded;
  study::history::ReadOptions options;
  static_cast<site::records::ReadOptions&>(options) = arguments.reading;
  if (!arguments.cluster.empty()) {
    auto cluster = site::inputs::resolve_cluster(arguments.cluster);
    if (!cluster) return base::failure(cluster.error());
    loaded.cluster.emplace(std::move(*cluster));
    options.cluster = &*loaded.cluster;
  }
  options.rejects_path = arguments.rejects;
  options.cpu_jobs = study::history::CpuJobs::Keep;
  ProgressBar progress("reading", 1);
  options.progress = [&progress](int64_t read, int64_t total) { progress.update(read, total); };
  auto read = study::history::read_history(arguments.file, options);
  if (!read) return base::failure(read.error());
  loaded.read = std::move(*read);
  return loaded;
}

/// Share of the cluster's GPUs that the jobs would keep busy on average.
std::optional<double> offered_load(const HistorySummary& summary, const Loaded& loaded) {
  if (!loaded.cluster || !summary.offered_gpus) return std::nullopt;
  return *summary.offered_gpus / static_cast<double>(loaded.cluster->num_gpus());
}

// ---- JSON ---------------------------------------------------------------------------------------

Json json_of(const SampleQuantiles& values) {
  Json out = {{"count", values.count}};
  if (values.count == 0) return out;
  out["mean"] = values.mean;
  out["sd"] = values.sd;
  for (size_t q = 0; q < values.quantiles.size(); ++q) {
    out[fmt::format("p{}", study::history::kQuantilesPercent[q])] = values.quantiles[q];
  }
  return out;
}

Json json_of(const Consumers& consumers) {
  Json out = {{"count", consumers.count},
              {"top_6_percent_share", consumers.top_6_percent_share},
              {"gini", consumers.gini},
              {"top", Json::array()}};
  for (const study::history::Share& share : consumers.top) {
    out["top"].push_back(
        {{"name", share.name}, {"jobs", share.jobs}, {"gpu_hours", share.gpu_hours}});
  }
  return out;
}

Json json_of(const ReadResult& read) {
  Json rejections = Json::array();
  for (const site::records::Rejection& rejection : read.first_rejections) {
    rejections.push_back({{"line", rejection.line}, {"reason", rejection.reason}});
  }
  return {{"format", read.format},
          {"records", read.records},
          {"rejected", read.rejected},
          {"first_rejections", std::move(rejections)},
          {"cpu_jobs", read.counts.cpu_jobs},
          {"gpu_shares_rounded_up", read.counts.gpu_shares},
          {"unsorted", read.unsorted},
          {"ignored_columns", read.ignored_columns},
          {"notes", read.notes}};
}

void print_json(const HistorySummary& summary, const Loaded& loaded) {
  Json out = json_of(loaded.read);
  out["jobs"] = summary.jobs;
  out["gpu_hours"] = summary.gpu_hours;
  out["first_submit_s"] = base::to_seconds(summary.first_submit_ns);
  out["last_submit_s"] = base::to_seconds(summary.last_submit_ns);
  out["unix_times"] = summary.unix_times;
  out["users"] = json_of(summary.users);
  out["accounts"] = json_of(summary.accounts);
  out["partitions"] = json_of(summary.partitions);
  out["sizes"] = Json::array();
  for (const study::history::SizeShare& size : summary.sizes) {
    out["sizes"].push_back(
        {{"num_gpus", size.num_gpus}, {"jobs", size.jobs}, {"gpu_hours", size.gpu_hours}});
  }
  out["duration_s"] = json_of(summary.duration_s);
  out["wait_s"] = json_of(summary.wait_s);
  for (size_t i = 0; i < kEndNames.size(); ++i) out["ends"][kEndNames[i]] = summary.ends[i];
  out["walltime_limit_s"] = json_of(summary.walltime_limit_s);
  out["request_accuracy"] = json_of(summary.request_accuracy);
  out["by_hour"] = summary.by_hour;
  out["by_weekday"] = summary.by_weekday;
  if (summary.offered_gpus) out["offered_gpus"] = *summary.offered_gpus;
  if (const auto load = offered_load(summary, loaded)) out["offered_load"] = *load;
  fmt::print("{}\n", out.dump(2, ' ', false, Json::error_handler_t::replace));
}

// ---- text ---------------------------------------------------------------------------------------

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : "-";
}

void print_consumers(const char* label, const Consumers& consumers, double gpu_hours) {
  if (consumers.count == 0) {
    fmt::print("{:<12} unknown\n", label);
    return;
  }
  fmt::print("{:<12} {}", label, consumers.count);
  if (consumers.count > 1 && gpu_hours > 0) {
    fmt::print("; the top 6% have {} of the GPU-hours, Gini {:.2f}",
               percent(consumers.top_6_percent_share, 1), consumers.gini);
  }
  fmt::print("\n");
  for (const study::history::Share& share : consumers.top) {
    fmt::print("{:<12}   {:<24} {:>9} jobs {:>12.1f} GPU-hours {:>6}\n", "", share.name, share.jobs,
               share.gpu_hours, percent(share.gpu_hours, gpu_hours));
  }
}

void print_times(const char* label, const SampleQuantiles& values) {
  if (values.count == 0) return;
  fmt::print("{:<12}", label);
  for (const double value : values.quantiles) fmt::print(" {:>10}", human_seconds(value));
  fmt::print("   mean {} of {}\n", human_seconds(values.mean), values.count);
}

void print_quantiles(const HistorySummary& summary) {
  fmt::print("\n{:<12}", "quantiles");
  for (const int q : study::history::kQuantilesPercent) fmt::print(" {:>9}%", q);
  fmt::print("\n");
  print_times("duration", summary.duration_s);
  print_times("wait", summary.wait_s);
  print_times("limit", summary.walltime_limit_s);
  if (summary.request_accuracy.count == 0) return;
  fmt::print("{:<12}", "run / limit");
  for (const double value : summary.request_accuracy.quantiles) fmt::print(" {:>10.3f}", value);
  fmt::print("   mean {:.3f}\n", summary.request_accuracy.mean);
}

void print_sizes(const HistorySummary& summary) {
  constexpr size_t kShown = 12;
  std::vector<study::history::SizeShare> shown = summary.sizes;
  std::ranges::stable_sort(shown, std::ranges::greater{}, &study::history::SizeShare::jobs);
  shown.resize(std::min(shown.size(), kShown));
  std::ranges::sort(shown, {}, &study::history::SizeShare::num_gpus);
  fmt::print("\n{:>8} {:>10} {:>7} {:>12} {:>7}\n", "GPUs", "jobs", "", "GPU-hours", "");
  for (const study::history::SizeShare& size : shown) {
    fmt::print("{:>8} {:>10} {:>7} {:>12.1f} {:>7}\n", size.num_gpus, size.jobs,
               percent(static_cast<double>(size.jobs), static_cast<double>(summary.jobs)),
               size.gpu_hours, percent(size.gpu_hours, summary.gpu_hours));
  }
  if (summary.sizes.size() > shown.size()) {
    fmt::print("{:>8} further sizes with fewer jobs\n", summary.sizes.size() - shown.size());
  }
}

void print_arrivals(const HistorySummary& summary) {
  const auto all = static_cast<double>(summary.jobs);
  fmt::print("\nsubmitted by {}, % of the jobs\n  ",
             summary.unix_times ? "hour of the day (UTC)" : "hour after the start, modulo 24");
  for (const int64_t jobs : summary.by_hour) {
    fmt::print(" {:.1f}", 100 * static_cast<double>(jobs) / all);
  }
  fmt::print("\nby {}\n  ", summary.unix_times ? "weekday" : "day after the start, modulo 7");
  for (size_t day = 0; day < summary.by_weekday.size(); ++day) {
    fmt::print(" {} {:.1f}", summary.unix_times ? kWeekdays[day] : std::to_string(day),
               100 * static_cast<double>(summary.by_weekday[day]) / all);
  }
  fmt::print("\n");
}

std::string moment_text(const HistorySummary& summary, base::TimeNs time_ns) {
  if (summary.unix_times) return base::date_time_text(time_ns);
  return fmt::format("{:.0f} s", base::to_seconds(time_ns));
}

void print_text(const TraceArguments& arguments, const HistorySummary& summary,
                const Loaded& loaded) {
  const ReadResult& read = loaded.read;
  fmt::print("{}: format {}, {}, {} rejected\n", base::input_name(arguments.file), read.format,
             base::counted(read.records, "record"), read.rejected);
  fmt::print("{:<12} {} with {:.1f} GPU-hours; {} CPU-only\n", "jobs", summary.jobs,
             summary.gpu_hours, summary.cpu_jobs);
  if (summary.jobs == 0) return;
  const base::TimeNs span_ns = summary.last_submit_ns - summary.first_submit_ns;
  fmt::print("{:<12} {} to {}{}: {}\n", "submitted", moment_text(summary, summary.first_submit_ns),
             moment_text(summary, summary.last_submit_ns), summary.unix_times ? " UTC" : "",
             human_seconds(base::to_seconds(span_ns)));
  if (summary.offered_gpus) {
    fmt::print("{:<12} {:.1f} GPUs busy on average", "demand", *summary.offered_gpus);
    if (const auto load = offered_load(summary, loaded)) {
      fmt::print(": load {:.3f} of the {} GPUs of {}", *load, loaded.cluster->num_gpus(),
                 loaded.cluster->name());
    }
    fmt::print("\n");
  }
  print_consumers("users", summary.users, summary.gpu_hours);
  print_consumers("accounts", summary.accounts, summary.gpu_hours);
  print_consumers("partitions", summary.partitions, summary.gpu_hours);
  fmt::print("{:<12}", "ends");
  for (size_t i = 0; i < kEndNames.size(); ++i) {
    if (summary.ends[i] > 0) fmt::print(" {} {}", kEndNames[i], summary.ends[i]);
  }
  fmt::print("\n{:<12} {} of {}\n", "limits", summary.walltime_limit_s.count,
             base::counted(summary.duration_s.count, "job"));
  print_quantiles(summary);
  print_sizes(summary);
  print_arrivals(summary);
}

// ---- commands -----------------------------------------------------------------------------------

/// The exit code of a command that has written its results.
int exit_code(const TraceArguments& arguments, const ReadResult& read) {
  const auto status = site::records::check_rejects(read, arguments.file, arguments.max_rejects_pct);
  return status ? 0 : report_error(status.error());
}

int inspect(const TraceArguments& arguments) {
  const auto loaded = load(arguments);
  if (!loaded) return report_error(loaded.error());
  print_notes(study::read_notes(loaded->read, arguments.file, arguments.rejects));
  const HistorySummary summary = study::history::summarise(loaded->read.history);
  if (arguments.json) {
    print_json(summary, *loaded);
  } else {
    print_text(arguments, summary, *loaded);
  }
  return exit_code(arguments, loaded->read);
}

int convert(const TraceArguments& arguments) {
  const auto loaded = load(arguments);
  if (!loaded) return report_error(loaded.error());
  print_notes(study::read_notes(loaded->read, arguments.file, arguments.rejects));
  const study::history::ReadResult& read = loaded->read;
  if (read.history.jobs.empty() && read.rejected > 0) {
    return report_error(base::Error{
        .code = base::ErrorCode::BadData,
        .message = fmt::format("no valid job among {}", base::counted(read.records, "record")),
        .place = {arguments.file, 0, 0, ""},
        .remedy = "first reason: " + read.first_rejections.front().reason});
  }
  const core::model::Cluster* cluster = loaded->cluster ? &*loaded->cluster : nullptr;
  if (arguments.out == "-") {
    study::history::write_generic(loaded->read.history, cluster, [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    });
    return exit_code(arguments, read);
  }
  auto file = base::OutputFile::create(arguments.out);
  if (!file) return report_error(file.error());
  study::history::write_generic(loaded->read.history, cluster, [&file](std::string_view text) {
    file->buffer() += text;
    file->write_out();
  });
  const auto written = file->commit();
  return written ? exit_code(arguments, read) : report_error(written.error());
}

Command* add_reading_command(Command& trace, const std::string& name, const std::string& what,
                             TraceArguments& arguments) {
  Command* c = trace.add_subcommand(name, what);
  c->add_option("FILE", arguments.file,
                "Job history, plain or gzip, or a history store; - for standard input")
      ->required();
  add_reading_options(*c, arguments.reading);
  c->add_option("--cluster", arguments.cluster,
                "Reject jobs that do not fit on this cluster: TOML file, preset or NxM");
  c->add_option("--rejects", arguments.rejects, "File for rejected records, with reasons")
      ->type_name("FILE");
  add_max_rejects(*c, arguments.max_rejects_pct);
  return c;
}

}  // namespace

void add_trace_inspect(Command& trace, Action& action) {
  auto arguments = std::make_shared<TraceArguments>();
  Command* c = add_reading_command(trace, "inspect", "Summarise a job history", *arguments);
  c->add_flag("--json", arguments->json, "Print JSON only");
  c->footer(
      "Examples:\n"
      "  goban trace inspect jobs.csv --cluster 32x8\n"
      "  zcat log.swf.gz | goban trace inspect - --procs-per-gpu 4 --json\n"
      "Formats: docs/traces.md. Durations, waits and limits are those of jobs with GPUs.");
  c->callback([arguments, &action] { action = [arguments] { return inspect(*arguments); }; });
}

void add_trace_convert(Command& trace, Action& action) {
  auto arguments = std::make_shared<TraceArguments>();
  Command* c =
      add_reading_command(trace, "convert", "Convert a job history to generic CSV", *arguments);
  c->add_option("--out", arguments->out, "Output file (CSV); - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  c->footer(
      "Example:\n"
      "  goban trace convert log.swf.gz --procs-per-gpu 4 --out jobs.csv\n"
      "Jobs are written in submit order; CPU-only jobs have num_gpus 0. Resource types require\n"
      "--cluster.");
  c->callback([arguments, &action] { action = [arguments] { return convert(*arguments); }; });
}

}  // namespace goban::cli
