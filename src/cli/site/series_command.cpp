// goban series: the store of GPU and node metrics.
#include "cli/site/commands.hpp"
#include "cli/site/series_commands.hpp"

namespace goban::cli {

void add_series(Command& app, Action& action) {
  Command* command =
      app.add_subcommand("series", "Store and inspect time series of GPU and node metrics");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  promtool tsdb dump data/ | goban series import - --store gpus\n"
      "  goban series info gpus");
  add_series_import(*command, action);
  add_series_info(*command, action);
  add_series_show(*command, action);
  add_series_prune(*command, action);
}

}  // namespace goban::cli
