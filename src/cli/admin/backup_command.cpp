// goban backup: backs up the daemon's state while it runs.
#include <fmt/format.h>
#include <memory>

#include "base/counted.hpp"
#include "cli/admin/commands.hpp"
#include "serve/daemon/backup.hpp"

namespace goban::cli {
namespace {

struct BackupArguments {
  std::string to;
  std::string config;
  std::string state;
};

int back_up(const BackupArguments& arguments) {
  serve::daemon::ServeConfig config;
  if (!arguments.config.empty()) {
    auto read = serve::daemon::read_serve_config(arguments.config);
    if (!read) return report_error(read.error());
    config = std::move(*read);
  }
  if (!arguments.state.empty()) config.state = arguments.state;
  serve::daemon::add_defaults(config);
  const auto summary = serve::daemon::back_up(config, arguments.to);
  if (!summary) return report_error(summary.error());
  fmt::print("{}: {} since the last snapshot, {} of unfinished jobs, {}\n", arguments.to,
             base::counted(summary->records, "record"), base::counted(summary->payloads, "script"),
             summary->has_store ? "with the history" : "without a history");
  if (!summary->note.empty()) fmt::print("{}\n", summary->note);
  return 0;
}

}  // namespace

void add_backup(Command& app, Action& action) {
  Command* command = app.add_subcommand("backup", "Back up the daemon's state while it runs");
  auto arguments = std::make_shared<BackupArguments>();
  command->add_option("FOLDER", arguments->to, "Folder for the backup; must be new or empty")
      ->required();
  command->add_option("--config", arguments->config, "Configuration file of the daemon")
      ->type_name("FILE");
  command->add_option("--state", arguments->state, "State folder of the daemon")
      ->type_name("FOLDER");
  command->footer(
      "Examples:\n"
      "  goban backup /backup/goban-monday --config /etc/goban.toml\n"
      "  goban backup copy --state ~/goban\n"
      "The backup contains every job that was confirmed before it. To restore it, copy the folder\n"
      "to where the state folder was and start `goban serve` there (docs/serve.md). It contains\n"
      "users' scripts and environments, so only its owner can read it. GPU readings are not in "
      "it.");
  command->callback([arguments, &action] { action = [arguments] { return back_up(*arguments); }; });
}

}  // namespace goban::cli
