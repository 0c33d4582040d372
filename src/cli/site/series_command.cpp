// goban series: the store of GPU and node metrics.
#include "cli/site/commands.hpp"
#include "cli/site/series_commands.hpp"

namespace goban::cli {

void add_series(Command& app, Action& action) {
  Command* command =
      app.add_subcommand("series", "Keep series of GPU and node metrics, look at them");
  command->require_subcommand(1);
  add_series_import(*command, action);
  add_series_info(*command, action);
  add_series_show(*command, action);
  add_series_prune(*command, action);
}

}  // namespace goban::cli
