// goban series import: imports metrics of GPUs and nodes into a store.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "base/printable.hpp"
#include "base/text_file.hpp"
#include "base/time.hpp"
#include "cli/shell/moment.hpp"
#include "cli/shell/progress.hpp"
#include "cli/site/series_commands.hpp"
#include "site/telemetry/series_import.hpp"

namespace goban::cli {
namespace {

using site::series::SeriesImportOptions;
using site::telemetry::SeriesImportReport;
using site::telemetry::SeriesImportRequest;

struct SeriesImportArguments {
  std::vector<std::string> files;
  std::string store;
  std::string format = "auto";
  std::vector<std::string> metrics;
  std::vector<std::string> adapter_files;
  std::string node;
  bool node_from_file = false;
  bool short_node_names = false;
  std::string zone;
  std::string time;
  std::string columns;
  std::string from;
  std::string to;
  std::string rejects;
  uint32_t step_s = 60;
  bool no_sync = false;
  std::string server;
  std::string matchers;
  uint32_t nodes_per_query = 64;
  double block_h = 6;
  site::telemetry::HttpOptions http;
};

const std::map<std::string, site::series::FileFormat>& formats() {
  static const std::map<std::string, site::series::FileFormat> known{
      {"auto", site::series::FileFormat::Auto},
      {"openmetrics", site::series::FileFormat::OpenMetrics},
      {"nvidia-smi", site::series::FileFormat::NvidiaSmi},
      {"philly", site::series::FileFormat::PhillyUtil}};
  return known;
}

std::vector<std::string> names_of(const std::map<std::string, site::series::FileFormat>& known) {
  std::vector<std::string> names;
  for (const auto& format : known) names.push_back(format.first);
  return names;
}

base::Status add_adapter_files(const std::vector<std::string>& files,
                               site::series::AdapterTable& adapters) {
  constexpr size_t kAdapterBytesMax = size_t{1} << 20;
  for (const std::string& file : files) {
    const auto text = base::read_text_file(file, kAdapterBytesMax);
    if (!text) return base::failure(text.error());
    if (auto added = adapters.add_toml(*text, base::input_name(file)); !added) return added;
  }
  return {};
}

base::Result<SeriesImportOptions> options_of(const SeriesImportArguments& arguments) {
  SeriesImportOptions options;
  options.format = formats().at(arguments.format);
  auto metrics = site::series::parse_metrics(arguments.metrics);
  if (!metrics) return base::failure(metrics.error());
  options.metrics = std::move(*metrics);
  if (const auto added = add_adapter_files(arguments.adapter_files, options.adapters); !added) {
    return base::failure(added.error());
  }
  options.node = arguments.node;
  options.node_from_file = arguments.node_from_file;
  options.short_node_names = arguments.short_node_names;
  options.columns = arguments.columns;
  auto zone = base::TimeZone::load(arguments.zone);
  if (!zone) return base::failure(zone.error());
  options.zone = std::move(*zone);
  if (!arguments.time.empty()) {
    const auto time = parse_moment_ms("--time", arguments.time);
    if (!time) return base::failure(time.error());
    options.time_ms = *time;
  }
  return options;
}

base::Result<std::optional<int64_t>> moment_of(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto moment = parse_moment_ms(option, text);
  if (!moment) return base::failure(moment.error());
  return *moment;
}

base::Result<SeriesImportRequest> request_of(const SeriesImportArguments& arguments) {
  constexpr uint32_t kSecond_ms = 1000;
  constexpr double kHour_ms = 3'600'000;
  SeriesImportRequest request;
  request.store = arguments.store;
  request.writing = {arguments.step_s * kSecond_ms, !arguments.no_sync};
  request.files = arguments.files;
  request.rejects = arguments.rejects;
  auto reading = options_of(arguments);
  if (!reading) return base::failure(reading.error());
  request.reading = std::move(*reading);
  const auto from = moment_of("--from", arguments.from);
  if (!from) return base::failure(from.error());
  request.from_ms = *from;
  const auto to = moment_of("--to", arguments.to);
  if (!to) return base::failure(to.error());
  request.to_ms = *to;
  if (arguments.server.empty()) return request;
  site::telemetry::PrometheusOptions& server = request.server.emplace();
  server.url = arguments.server;
  server.matchers = arguments.matchers;
  server.nodes_per_query = arguments.nodes_per_query;
  server.block_ms = static_cast<int64_t>(arguments.block_h * kHour_ms);
  server.http = arguments.http;
  return request;
}

void print_server(const site::telemetry::PrometheusReport& server) {
  fmt::print("server   Prometheus {}: {} queries, {} retries, {} queries split\n", server.version,
             server.queries, server.retries, server.halved);
  for (const std::string& warning : server.warnings) {
    fmt::print(stderr, "goban: warning: Prometheus: {}\n", base::printable(warning));
  }
}

void print_rejects(const SeriesImportReport& report, bool are_kept) {
  for (const auto& [reason, count] : report.input.rejected) {
    fmt::print(stderr, "goban: warning: rejected {}: {}\n", base::counted(count, "line"),
               base::printable(reason));
  }
  for (const std::string& example : report.reject_examples) {
    fmt::print(stderr, "  {}\n", base::printable(example));
  }
  if (report.input.rejected_lines() > 0 && !are_kept) {
    fmt::print(stderr, "  (--rejects FILE saves all of them)\n");
  }
}

void print_report(const SeriesImportArguments& arguments, const SeriesImportReport& report) {
  const site::series::InputCounts& in = report.input;
  const site::series::WriteCounts& out = report.written;
  fmt::print("read     {}, {} ({} not available, {} stale)\n", base::counted(in.lines, "line"),
             base::counted(in.samples, "sample"), in.not_available, in.stale);
  fmt::print("written  {} to {}; {} already stored, {} in the same step as another\n", out.written,
             arguments.store, out.already_there, out.same_slot);
  if (in.other_metrics > 0)
    fmt::print("other    {} of metrics that are not stored\n",
               base::counted(in.other_metrics, "line"));
  if (report.server) print_server(*report.server);
  if (in.outside > 0) {
    fmt::print("outside  {} before --from or after --to\n", base::counted(in.outside, "sample"));
  }
  if (in.no_number > 0) {
    fmt::print("missing  {} not numbers and count as not sampled\n",
               base::counted(in.no_number, "value is", "values are"));
  }
  if (out.out_of_range > 0) {
    fmt::print(
        stderr, "goban: warning: {} discarded, first {}\n",
        base::counted(out.out_of_range, "value out of range was", "values out of range were"),
        out.first_out_of_range);
  }
  if (out.cut_bytes > 0 || out.damaged_bytes > 0) {
    fmt::print(stderr,
               "goban: warning: {} bytes of an interrupted write were removed, {} damaged bytes "
               "were kept\n",
               out.cut_bytes, out.damaged_bytes);
  }
  print_rejects(report, !arguments.rejects.empty());
}

/// Reports the queries that the server did not answer; returns the exit code.
int report_gaps(const std::vector<site::telemetry::Gap>& gaps) {
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, gaps.size()); ++i) {
    const site::telemetry::Gap& gap = gaps[i];
    fmt::print(stderr, "goban: warning: no {} for {} starting with {}, {} to {} UTC: {}\n",
               gap.metric, base::counted(gap.nodes, "node"), base::printable(gap.first_node),
               base::date_time_text(gap.from_ms * base::kMillisecond),
               base::date_time_text(gap.to_ms * base::kMillisecond), base::printable(gap.reason));
  }
  return report_error(
      base::failed(
          fmt::format("{} queries failed; their samples are missing, not zero", gaps.size()),
          "repeat the import to add the missing samples")
          .value());
}

/// Why an import without a single sample failed.
base::Error no_sample(const site::series::InputCounts& counts) {
  const std::string remedy =
      counts.outside > 0            ? "check --from and --to"
      : counts.rejected_lines() > 0 ? "correct the lines named above, or set --format or --columns"
      : counts.other_metrics > 0
          ? "map the metrics of the exporter with --adapters, or check --metrics"
          : "check that the file or server has samples of GPUs";
  return base::bad_data({}, "no sample was read", remedy).value();
}

int import(const SeriesImportArguments& arguments) {
  const auto request = request_of(arguments);
  if (!request) return report_error(request.error());
  catch_interrupts();
  ProgressBar progress;
  const auto report = site::telemetry::import_series(*request, progress);
  if (!report) return report_error(report.error());
  if (report->was_cancelled) {
    fmt::print(stderr,
               "goban: interrupted; {} written; repeat the import to add the remaining ones\n",
               base::counted(report->written.written, "sample was", "samples were"));
    return kExitInterrupted;
  }
  print_report(arguments, *report);
  if (report->server && !report->server->gaps.empty()) return report_gaps(report->server->gaps);
  const site::series::InputCounts& counts = report->input;
  if (counts.samples > 0) return 0;
  return report_error(no_sample(counts));
}

void add_server(Command* c, SeriesImportArguments& arguments) {
  const char* const group = "Prometheus";
  c->add_option("--prometheus", arguments.server,
                "Import from this Prometheus server, such as http://prom:9090")
      ->group(group);
  c->add_option("--match", arguments.matchers,
                "Label matchers, such as job=\"gpu\",rack=~\"r[12]\"")
      ->group(group);
  c->add_option("--nodes-per-query", arguments.nodes_per_query, "Number of nodes per query")
      ->range(1, 100'000)
      ->capture_default_str()
      ->group(group);
  c->add_option("--hours-per-query", arguments.block_h, "Number of hours per query")
      ->range(0.2, 24.0 * 31)
      ->capture_default_str()
      ->group(group);
  c->add_option("--timeout", arguments.http.timeout_s, "Seconds to wait for a response")
      ->type_name("SECONDS")
      ->range(0.1, 3600.0)
      ->capture_default_str()
      ->group(group);
  c->add_option("--retries", arguments.http.retries, "Number of retries after a temporary failure")
      ->range(0, 100)
      ->capture_default_str()
      ->group(group);
}

void add_reading(Command* c, SeriesImportArguments& arguments) {
  c->add_option("--format", arguments.format, "Format of the files")
      ->one_of(names_of(formats()))
      ->capture_default_str();
  c->add_option("--metrics", arguments.metrics,
                "Import only these metrics, such as gpu_utilization,gpu_power (goban series info "
                "lists them)")
      ->delimiter(',');
  c->add_option("--adapters", arguments.adapter_files,
                "TOML files that map the metrics of other exporters (docs/series.md)")
      ->type_name("FILE")
      ->one_word();
  Option* node = c->add_option("--node", arguments.node, "Node of lines that contain none");
  c->add_flag("--node-from-file", arguments.node_from_file,
              "Node of lines that contain none: the file name up to its first dot")
      ->excludes(node);
  c->add_flag("--short-node-names", arguments.short_node_names,
              "Shorten node names at their first dot");
  c->add_option("--zone", arguments.zone,
                "Time zone of nvidia-smi's timestamps (default UTC), such as Asia/Tokyo or +09:00");
  c->add_option("--time", arguments.time, "Time of lines that contain none");
  c->add_option("--columns", arguments.columns,
                "Columns of nvidia-smi output without a header line: index,utilization.gpu,...");
  c->add_option("--from", arguments.from, "Import only samples at or after this time");
  c->add_option("--to", arguments.to, "Import only samples before this time");
}

}  // namespace

void add_series_import(Command& series, Action& action) {
  auto arguments = std::make_shared<SeriesImportArguments>();
  Command* c = series.add_subcommand(
      "import", "Import metrics into a store; repeating an import changes nothing");
  c->add_option("FILE", arguments->files,
                "OpenMetrics or Prometheus text with timestamps, promtool tsdb dump, nvidia-smi "
                "--query-gpu=... --format=csv; plain or gzip, - for standard input");
  c->add_option("--store", arguments->store,
                "Folder of the series store; created if it does not exist")
      ->required();
  add_reading(c, *arguments);
  add_server(c, *arguments);
  c->add_option("--step", arguments->step_s, "Seconds between samples")
      ->range(1, 3600)
      ->capture_default_str();
  c->add_option("--rejects", arguments->rejects, "File for rejected lines (CSV), with reasons")
      ->type_name("FILE");
  c->add_flag("--no-sync", arguments->no_sync, "Do not wait until the data is on disk");
  c->footer(
      "Examples:\n"
      "  promtool tsdb dump data/ | goban series import - --store gpus\n"
      "  goban series import logs/*.csv.gz --node-from-file --zone Asia/Tokyo --store gpus\n"
      "  goban series import dump.om --metrics gpu_utilization --adapters site.toml --store gpus\n"
      "  goban series import --prometheus http://prom:9090 --match 'job=\"gpu\"' --from 2026-04-01 "
      "--to 2026-05-01 --store gpus\n"
      "Values that are not available, stale or missing are stored as such, never as zero.\n"
      "Ctrl-C keeps the samples read so far; a repeated import skips them. Details: "
      "docs/series.md.");
  c->callback([arguments, &action] { action = [arguments] { return import(*arguments); }; });
}

}  // namespace goban::cli
