// goban series import: metrics of GPUs and nodes into a store.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>

#include "base/csv.hpp"
#include "base/date_time.hpp"
#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "base/text_file.hpp"
#include "cli/shell/moment.hpp"
#include "cli/shell/progress.hpp"
#include "cli/site/series_commands.hpp"
#include "site/series/input/import_file.hpp"
#include "site/series/store_writer.hpp"
#include "site/telemetry/prometheus.hpp"

namespace goban::cli {
namespace {

using site::series::ImportOptions;
using site::series::InputCounts;
using site::series::Intake;

struct ImportArguments {
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

base::Result<std::vector<site::series::Metric>> metrics_of(const std::vector<std::string>& names) {
  std::vector<site::series::Metric> metrics;
  for (const std::string& name : names) {
    const auto metric = site::series::parse_metric(name);
    if (!metric) return base::failure(metric.error());
    metrics.push_back(*metric);
  }
  return metrics;
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

base::Result<ImportOptions> options_of(const ImportArguments& arguments) {
  ImportOptions options;
  options.format = formats().at(arguments.format);
  auto metrics = metrics_of(arguments.metrics);
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

/// Rejected lines as CSV.
class RejectsFile {
 public:
  base::Status open(const std::string& path) {
    auto file = base::OutputFile::create(path);
    if (!file) return base::failure(file.error());
    file_.emplace(std::move(*file));
    file_->buffer() = "file,line,reason,text\n";
    return {};
  }
  void add(const site::series::Reject& reject) {
    constexpr size_t kTextMax = 4096;
    std::string& out = file_->buffer();
    base::append_csv_field(out, reject.file);
    out += fmt::format(",{},", reject.line);
    base::append_csv_field(out, reject.reason);
    out += ',';
    base::append_csv_field(out, reject.text.substr(0, kTextMax));
    out += '\n';
    file_->write_out();
  }
  base::Status commit() { return file_ ? file_->commit() : base::Status{}; }

 private:
  std::optional<base::OutputFile> file_;
};

/// One import: the store, the intake, and what is said at the end.
class Import {
 public:
  explicit Import(const ImportArguments& arguments) : arguments_(arguments) {}

  int run() {
    if (const auto done = import(); !done) {
      if (interrupted()) return say_interrupted();
      // What was taken before stays: a repeated import skips it.
      if (writer_) (void)writer_->finish();
      return report_error(done.error());
    }
    if (const auto finished = writer_->finish(); !finished) return report_error(finished.error());
    if (interrupted()) return say_interrupted();
    if (const auto kept = rejects_.commit(); !kept) return report_error(kept.error());
    print();
    if (server_ && !server_->gaps.empty()) return say_gaps();
    const InputCounts& counts = intake_->counts;
    return counts.samples == 0 && counts.rejected_lines() > 0
               ? static_cast<int>(base::ErrorCode::BadData)
               : 0;
  }

 private:
  base::Status import() {
    if (arguments_.files.empty() && arguments_.server.empty()) {
      return base::usage_error("nothing to import", "name files, or a server with --prometheus");
    }
    const auto options = options_of(arguments_);
    if (!options) return base::failure(options.error());
    const auto from = parse_moment_ms("--from", arguments_.from, INT64_MIN);
    if (!from) return base::failure(from.error());
    const auto to = parse_moment_ms("--to", arguments_.to, INT64_MAX);
    if (!to) return base::failure(to.error());
    constexpr uint32_t kSecond_ms = 1000;
    auto writer = site::series::StoreWriter::open(
        arguments_.store, {arguments_.step_s * kSecond_ms, !arguments_.no_sync});
    if (!writer) return base::failure(writer.error());
    writer_ = std::move(*writer);
    if (!arguments_.rejects.empty()) {
      if (auto opened = rejects_.open(arguments_.rejects); !opened) return opened;
    }
    catch_interrupts();
    intake_.emplace(*writer_);
    intake_->interrupted = &interrupted();
    intake_->from_ms = *from;
    intake_->to_ms = *to;
    intake_->on_reject = [this](const site::series::Reject& reject) { take_reject(reject); };
    if (auto read = read_files(*options); !read || arguments_.server.empty()) return read;
    return read_server(*options);
  }

  base::Status read_server(const ImportOptions& options) {
    if (arguments_.from.empty() || arguments_.to.empty()) {
      return base::usage_error("--prometheus needs a time", "add --from and --to");
    }
    constexpr double kHour_ms = 3'600'000;
    site::telemetry::PrometheusOptions server;
    server.url = arguments_.server;
    server.matchers = arguments_.matchers;
    server.adapters = options.adapters;
    server.adapters.short_node_names = options.short_node_names;
    server.adapters.default_node = options.node;
    server.metrics = options.metrics;
    server.from_ms = intake_->from_ms;
    server.to_ms = intake_->to_ms;
    server.nodes_per_query = arguments_.nodes_per_query;
    server.block_ms = static_cast<int64_t>(arguments_.block_h * kHour_ms);
    server.http = arguments_.http;
    ProgressBar bar("reading Prometheus", 1);
    intake_->on_progress = [&bar](int64_t done, int64_t total) { bar.update(done, total); };
    auto read = site::telemetry::read_prometheus(server, *intake_);
    if (!read) return base::failure(read.error());
    server_ = std::move(*read);
    return {};
  }

  /// Parts that the server did not give.
  [[nodiscard]] int say_gaps() const {
    constexpr size_t kShown = 5;
    constexpr int64_t kMilli_ns = 1'000'000;
    for (size_t i = 0; i < std::min(kShown, server_->gaps.size()); ++i) {
      const site::telemetry::Gap& gap = server_->gaps[i];
      fmt::print(stderr, "goban: warning: no {} of {} nodes from {} on, {} to {} UTC: {}\n",
                 gap.metric, gap.nodes, base::printable(gap.first_node),
                 base::date_time_text(gap.from_ms * kMilli_ns),
                 base::date_time_text(gap.to_ms * kMilli_ns), base::printable(gap.reason));
    }
    return report_error(
        base::failed(fmt::format("{} parts could not be read; they are missing, not zero",
                                 server_->gaps.size()),
                     "repeat the import: it fills what is missing")
            .value());
  }

  base::Status read_files(const ImportOptions& options) {
    for (size_t i = 0; i < arguments_.files.size() && !interrupted(); ++i) {
      ProgressBar bar(arguments_.files.size() == 1
                          ? "importing"
                          : fmt::format("importing {} of {}", i + 1, arguments_.files.size()),
                      1);
      intake_->on_progress = [&bar](int64_t done, int64_t total) { bar.update(done, total); };
      if (auto read = site::series::import_file(arguments_.files[i], options, *intake_); !read) {
        return read;
      }
    }
    return {};
  }

  void take_reject(const site::series::Reject& reject) {
    constexpr size_t kExamples = 3;
    if (!arguments_.rejects.empty()) rejects_.add(reject);
    if (examples_.size() < kExamples) {
      examples_.push_back(fmt::format("{}:{}: {}", reject.file, reject.line, reject.reason));
    }
  }

  int say_interrupted() const {
    fmt::print(stderr,
               "goban: interrupted; {} samples were written, repeat the import for the rest\n",
               writer_ ? writer_->counts().written : 0);
    return kExitInterrupted;
  }

  void print() const {
    const InputCounts& in = intake_->counts;
    const site::series::WriteCounts& out = writer_->counts();
    fmt::print("read     {} lines, {} samples ({} not available, {} stale)\n", in.lines, in.samples,
               in.not_available, in.stale);
    fmt::print("written  {} to {}; {} were there already, {} shared a slot with another\n",
               out.written, arguments_.store, out.already_there, out.same_slot);
    if (in.other_metrics > 0)
      fmt::print("other    {} lines of metrics not kept\n", in.other_metrics);
    if (server_) {
      fmt::print("server   Prometheus {}: {} queries, {} retries, {} parts halved\n",
                 server_->version, server_->queries, server_->retries, server_->halved);
      for (const std::string& warning : server_->warnings) {
        fmt::print(stderr, "goban: warning: Prometheus: {}\n", base::printable(warning));
      }
    }
    if (in.outside > 0) fmt::print("outside  {} samples before --from or after --to\n", in.outside);
    if (in.no_number > 0) {
      fmt::print("missing  {} values that are no number; they count as not sampled\n",
                 in.no_number);
    }
    if (out.out_of_range > 0) {
      fmt::print(stderr, "goban: warning: {} values out of range were left out, first {}\n",
                 out.out_of_range, out.first_out_of_range);
    }
    if (out.cut_bytes > 0 || out.damaged_bytes > 0) {
      fmt::print(stderr,
                 "goban: warning: {} bytes of an interrupted write were cut away, {} damaged bytes "
                 "left alone\n",
                 out.cut_bytes, out.damaged_bytes);
    }
    for (const auto& [reason, count] : in.rejected) {
      fmt::print(stderr, "goban: warning: rejected {} lines: {}\n", count, base::printable(reason));
    }
    for (const std::string& example : examples_) {
      fmt::print(stderr, "  {}\n", base::printable(example));
    }
    if (in.rejected_lines() > 0 && arguments_.rejects.empty()) {
      fmt::print(stderr, "  (--rejects FILE keeps them all)\n");
    }
  }

  const ImportArguments& arguments_;
  std::unique_ptr<site::series::StoreWriter> writer_;
  std::optional<Intake> intake_;
  std::optional<site::telemetry::PrometheusReport> server_;
  RejectsFile rejects_;
  std::vector<std::string> examples_;
};

void add_server(Command* c, ImportArguments& arguments) {
  const char* const group = "Prometheus";
  c->add_option("--prometheus", arguments.server, "Read this server, such as http://prom:9090")
      ->group(group);
  c->add_option("--match", arguments.matchers,
                "Label matchers, such as job=\"gpu\",rack=~\"r[12]\"")
      ->group(group);
  c->add_option("--nodes-per-query", arguments.nodes_per_query, "Nodes in one query")
      ->range(1, 100'000)
      ->capture_default_str()
      ->group(group);
  c->add_option("--hours-per-query", arguments.block_h, "Hours in one query")
      ->range(0.2, 24.0 * 31)
      ->capture_default_str()
      ->group(group);
  c->add_option("--timeout", arguments.http.timeout_s, "Seconds to wait for one answer")
      ->range(0.1, 3600.0)
      ->capture_default_str()
      ->group(group);
  c->add_option("--retries", arguments.http.retries, "After a failure that may pass")
      ->range(0, 100)
      ->capture_default_str()
      ->group(group);
}

void add_reading(Command* c, ImportArguments& arguments) {
  c->add_option("--format", arguments.format, "Format of the files")
      ->one_of(names_of(formats()))
      ->capture_default_str();
  c->add_option("--metrics", arguments.metrics,
                "Only these, such as gpu_utilization,gpu_power; goban series info lists them all")
      ->delimiter(',');
  c->add_option("--adapters", arguments.adapter_files,
                "TOML files that say what other exporters' metrics mean (docs/series.md)")
      ->one_word();
  Option* node = c->add_option("--node", arguments.node, "Node of lines that name none");
  c->add_flag("--node-from-file", arguments.node_from_file,
              "Node of lines that name none: the file's name up to its first dot")
      ->excludes(node);
  c->add_flag("--short-node-names", arguments.short_node_names,
              "Cut nodes' names at their first dot");
  c->add_option("--zone", arguments.zone,
                "Zone of nvidia-smi's timestamps, such as Asia/Tokyo or +09:00 (UTC)");
  c->add_option("--time", arguments.time, "Time of lines without one");
  c->add_option("--columns", arguments.columns,
                "Columns of nvidia-smi's output made with noheader: index,utilization.gpu,...");
  c->add_option("--from", arguments.from, "Only samples from this time on");
  c->add_option("--to", arguments.to, "Only samples before this time");
}

}  // namespace

void add_series_import(Command& series, Action& action) {
  auto arguments = std::make_shared<ImportArguments>();
  Command* c = series.add_subcommand("import", "Add metrics to a store; repeating changes nothing");
  c->add_option("files", arguments->files,
                "OpenMetrics or Prometheus text with timestamps, promtool tsdb dump, nvidia-smi "
                "--query-gpu=... --format=csv; plain or gzip, - for standard input");
  c->add_option("--store", arguments->store, "Folder of the store; made if absent")->required();
  add_reading(c, *arguments);
  add_server(c, *arguments);
  c->add_option("--step", arguments->step_s, "Seconds between samples")
      ->range(1, 3600)
      ->capture_default_str();
  c->add_option("--rejects", arguments->rejects, "Write rejected lines to this CSV, with reasons");
  c->add_flag("--no-sync", arguments->no_sync, "Do not wait until the disk has the data");
  c->footer(
      "Examples:\n"
      "  promtool tsdb dump data/ | goban series import - --store gpus\n"
      "  goban series import logs/*.csv.gz --node-from-file --zone Asia/Tokyo --store gpus\n"
      "  goban series import dump.om --metrics gpu_utilization --adapters site.toml --store gpus\n"
      "  goban series import --prometheus http://prom:9090 --match 'job=\"gpu\"' --from 2026-04-01 "
      "--to 2026-05-01 --store gpus\n"
      "What is no number is never zero: [N/A], stale and missing samples are kept apart.\n"
      "Ctrl-C keeps what was read so far; a repeated import skips it. docs/series.md has more.");
  c->callback([arguments, &action] { action = [arguments] { return Import(*arguments).run(); }; });
}

}  // namespace goban::cli
