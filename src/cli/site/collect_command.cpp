// goban collect: GPU metrics off the nodes, as a text file or over HTTP.
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <thread>

#include "base/output_file.hpp"
#include "base/printable.hpp"
#include "cli/shell/command.hpp"
#include "site/telemetry/exporter.hpp"
#include "site/telemetry/gpu_sampler.hpp"

namespace goban::cli {
namespace {

using site::telemetry::Sampling;
using std::chrono::steady_clock;

struct CollectArguments {
  std::string program;
  double timeout_s = 10;
  double interval_s = 0;
  std::string folder;
  std::string listen = "127.0.0.1:9417";
};

/// Sleeps, but not through Ctrl-C.
void sleep_until(steady_clock::time_point moment) {
  constexpr auto kLook = std::chrono::milliseconds(100);
  while (!interrupted() && steady_clock::now() < moment) {
    std::this_thread::sleep_for(
        std::min<steady_clock::duration>(kLook, moment - steady_clock::now()));
  }
}

void say_problem(const Sampling& sampling, std::string& last) {
  if (!sampling.problem.empty() && sampling.problem != last) {
    fmt::print(stderr, "goban: warning: {}\n", base::printable(sampling.problem));
  }
  last = sampling.problem;
}

base::Status write_page(const std::string& folder, const std::string& page) {
  auto file = base::OutputFile::create(folder + "/goban_gpu.prom");
  if (!file) return base::failure(file.error());
  file->buffer() = page;
  return file->commit();
}

/// Calls take(sampling) now and then every interval until Ctrl-C; once for an interval of 0.
template <typename Take>
int sample_loop(const CollectArguments& arguments, const Take& take) {
  site::telemetry::GpuSampler sampler({.program = arguments.program,
                                       .timeout_s = arguments.timeout_s,
                                       .interrupted = &interrupted()});
  // The share of busy CPU time needs a little time to look at.
  constexpr auto kFirstLook = std::chrono::milliseconds(200);
  std::this_thread::sleep_for(kFirstLook);
  const auto interval = std::chrono::duration_cast<steady_clock::duration>(
      std::chrono::duration<double>(arguments.interval_s));
  auto next = steady_clock::now();
  std::string last_problem;
  while (true) {
    const Sampling sampling = sampler.sample();
    if (interrupted()) return 0;
    say_problem(sampling, last_problem);
    if (const auto taken = take(sampling); !taken) return report_error(taken.error());
    if (arguments.interval_s <= 0) {
      return sampling.problem.empty() ? 0 : static_cast<int>(base::ErrorCode::Failed);
    }
    // A sampling that took longer than the interval is not made up for.
    next = std::max(next + interval, steady_clock::now());
    sleep_until(next);
    if (interrupted()) return 0;
  }
}

int collect_textfile(const CollectArguments& arguments) {
  catch_interrupts();
  return sample_loop(arguments, [&](const Sampling& sampling) {
    return write_page(arguments.folder, site::telemetry::metrics_page(sampling));
  });
}

/// The last sampling, for the threads of the server.
class LastPage {
 public:
  void set(Sampling sampling) {
    const std::lock_guard lock(mutex_);
    sampling_ = std::move(sampling);
    at_ = steady_clock::now();
  }
  /// An old sampling is a failure: its values are not served again.
  [[nodiscard]] std::string text(double old_after_s) const {
    const std::lock_guard lock(mutex_);
    const std::chrono::duration<double> age = steady_clock::now() - at_;
    if (age.count() <= old_after_s) return site::telemetry::metrics_page(sampling_);
    Sampling none;
    none.problem = "old";
    none.duration_s = age.count();
    return site::telemetry::metrics_page(none);
  }

 private:
  mutable std::mutex mutex_;
  Sampling sampling_;
  steady_clock::time_point at_;
};

int collect_exporter(const CollectArguments& arguments) {
  const auto listen = site::telemetry::parse_listen(arguments.listen);
  if (!listen) return report_error(listen.error());
  catch_interrupts();
  LastPage page;
  Sampling none;
  none.problem = "nothing sampled yet";
  page.set(none);
  constexpr double kOldAfterIntervals = 3;
  const double old_after_s = kOldAfterIntervals * arguments.interval_s + arguments.timeout_s;
  const auto exporter = site::telemetry::Exporter::start(
      listen->first, listen->second, [&page, old_after_s] { return page.text(old_after_s); });
  if (!exporter) return report_error(exporter.error());
  fmt::print(stderr, "goban: serving http://{}:{}/metrics\n",
             listen->first.find(':') == std::string::npos ? listen->first
                                                          : fmt::format("[{}]", listen->first),
             exporter->port());
  return sample_loop(arguments, [&page](const Sampling& sampling) -> base::Status {
    page.set(sampling);
    return {};
  });
}

Command* add_collector(Command* command, const char* name, const char* what,
                       CollectArguments& arguments) {
  Command* c = command->add_subcommand(name, what);
  c->add_option("--nvidia-smi", arguments.program,
                "Ask this program, not NVIDIA's library (default: nvidia-smi, without the library)")
      ->type_name("PROGRAM");
  c->add_option("--timeout", arguments.timeout_s,
                "Seconds until a driver that hangs makes the sampling fail")
      ->range(0.1, 600.0)
      ->capture_default_str();
  return c;
}

}  // namespace

void add_collect(Command& app, Action& action) {
  Command* command = app.add_subcommand("collect", "Measure this node's GPUs for Prometheus");
  command->require_subcommand(1);
  auto text = std::make_shared<CollectArguments>();
  Command* file = add_collector(command, "textfile",
                                "Write goban_gpu.prom for node_exporter's text files", *text);
  file->add_option("--dir", text->folder, "node_exporter's --collector.textfile.directory")
      ->required();
  file->add_option("--interval", text->interval_s, "Seconds between samplings; 0: once")
      ->range(0.0, 3600.0)
      ->capture_default_str();
  file->footer(
      "Examples:\n"
      "  * * * * * root goban collect textfile --dir /var/lib/node_exporter   (in cron.d)\n"
      "  goban collect textfile --dir /var/lib/node_exporter --interval 15\n"
      "When the driver fails or hangs, the file says so and has no values: docs/collect.md.");
  file->callback([text, &action] { action = [text] { return collect_textfile(*text); }; });

  auto http = std::make_shared<CollectArguments>();
  http->interval_s = 15;
  Command* server = add_collector(command, "exporter", "Serve /metrics over HTTP", *http);
  server->add_option("--listen", http->listen, "ADDRESS:PORT; :9417 listens on all addresses")
      ->capture_default_str();
  server->add_option("--interval", http->interval_s, "Seconds between samplings")
      ->range(0.2, 3600.0)
      ->capture_default_str();
  server->footer(
      "Examples:\n"
      "  goban collect exporter\n"
      "  goban collect exporter --listen :9417 --interval 30\n"
      "There is no authentication: listen where only Prometheus can reach it.");
  server->callback([http, &action] { action = [http] { return collect_exporter(*http); }; });
}

}  // namespace goban::cli
