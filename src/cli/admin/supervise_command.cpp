// goban supervise: what the local engine starts for each job. Not for people, so it is not shown.
#include "cli/admin/commands.hpp"
#include "live/engine/local/supervisor.hpp"

namespace goban::cli {

void add_supervise(Command& app, Action& action) {
  auto folder = std::make_shared<std::string>();
  Command* command = app.add_subcommand(
      "supervise", "Runs the job of a run folder; started by the daemon, not by people");
  command->group("");
  command->add_option("folder", *folder, "Run folder, as an absolute path")->required();
  command->callback([folder, &action] {
    action = [folder] {
      if (folder->starts_with('/')) return live::engine::local::supervise(*folder);
      return report_error({base::ErrorCode::Usage, "the path must be absolute", {}, {}});
    };
  });
}

}  // namespace goban::cli
