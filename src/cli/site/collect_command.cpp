// goban collect: GPU metrics of a node, as a text file or over HTTP.
#include <fmt/format.h>
#include <memory>

#include "base/printable.hpp"
#include "cli/site/commands.hpp"
#include "site/telemetry/collect.hpp"

namespace goban::cli {
namespace {

struct CollectArguments {
  site::telemetry::CollectOptions sampling;
  std::string folder;
  std::string listen = "127.0.0.1:9417";
};

void warn(const std::string& problem) {
  fmt::print(stderr, "goban: warning: {}\n", base::printable(problem));
}

int exit_code(const base::Result<bool>& good) {
  if (!good) return report_error(good.error());
  return *good ? 0 : static_cast<int>(base::ErrorCode::Failed);
}

int collect_textfile(CollectArguments arguments) {
  catch_interrupts();
  arguments.sampling.warn = warn;
  return exit_code(site::telemetry::collect_to_file(arguments.sampling, arguments.folder,
                                                    base::Progress(interrupted())));
}

int collect_exporter(CollectArguments arguments) {
  catch_interrupts();
  arguments.sampling.warn = warn;
  return exit_code(site::telemetry::collect_over_http(
      arguments.sampling, arguments.listen, base::Progress(interrupted()),
      [](const std::string& url) { fmt::print(stderr, "goban: serving {}\n", url); }));
}

Command* add_collector(Command* command, const char* name, const char* what,
                       CollectArguments& arguments) {
  Command* c = command->add_subcommand(name, what);
  c->add_option("--nvidia-smi", arguments.sampling.program,
                "Run this program instead of using NVIDIA's library (default: the library; "
                "nvidia-smi without it)")
      ->type_name("PROGRAM");
  c->add_option("--timeout", arguments.sampling.timeout_s,
                "Seconds to wait for the driver before a reading fails")
      ->type_name("SECONDS")
      ->range(0.1, 600.0)
      ->capture_default_str();
  return c;
}

}  // namespace

void add_collect(Command& app, Action& action) {
  Command* command = app.add_subcommand("collect", "Export GPU metrics of this node to Prometheus");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n  goban collect textfile --dir /var/lib/node_exporter\n  goban collect exporter");
  auto text = std::make_shared<CollectArguments>();
  Command* file = add_collector(
      command, "textfile", "Write goban_gpu.prom for node_exporter's textfile collector", *text);
  file->add_option("--dir", text->folder,
                   "Folder given to node_exporter with --collector.textfile.directory")
      ->required();
  file->add_option("--interval", text->sampling.interval_s,
                   "Seconds between samples; 0: sample once and exit")
      ->range(0.0, 3600.0)
      ->capture_default_str();
  file->footer(
      "Examples:\n"
      "  * * * * * root goban collect textfile --dir /var/lib/node_exporter   (in cron.d)\n"
      "  goban collect textfile --dir /var/lib/node_exporter --interval 15\n"
      "When the driver fails or hangs, the file reports it and contains no values\n"
      "(docs/collect.md).");
  file->callback([text, &action] { action = [text] { return collect_textfile(*text); }; });

  auto http = std::make_shared<CollectArguments>();
  http->sampling.interval_s = 15;
  Command* server = add_collector(command, "exporter", "Serve /metrics over HTTP", *http);
  server
      ->add_option("--listen", http->listen,
                   "Listen address, ADDRESS:PORT; :9417 listens on all addresses")
      ->type_name("ADDRESS")
      ->capture_default_str();
  server->add_option("--interval", http->sampling.interval_s, "Seconds between samples")
      ->range(0.2, 3600.0)
      ->capture_default_str();
  server->footer(
      "Examples:\n"
      "  goban collect exporter\n"
      "  goban collect exporter --listen :9417 --interval 30\n"
      "The exporter has no authentication: listen on an address that only Prometheus can reach.");
  server->callback([http, &action] { action = [http] { return collect_exporter(*http); }; });
}

}  // namespace goban::cli
