// Commands that engines start, such as goban supervise. They are hidden: users do not need them.
#include <unistd.h>

#include "cli/admin/commands.hpp"
#include "live/engine/engines.hpp"
#include "live/staging/stage_worker.hpp"

namespace goban::cli {

void add_supervise(Command& app, Action& action) {
  for (const live::EngineKind& kind : live::engine::engine_kinds()) {
    const live::EngineHelper& helper = kind.helper;
    if (helper.command == nullptr) continue;
    auto argument = std::make_shared<std::string>();
    Command* command = app.add_subcommand(helper.command, helper.words);
    command->group("");
    command->add_option(helper.argument, *argument, helper.argument_words)->required();
    command->callback([argument, run = helper.run, &action] {
      action = [argument, run] {
        const auto code = run(*argument);
        return code ? *code : report_error(code.error());
      };
    });
  }
}

void add_stage_worker(Command& app, Action& action) {
  Command* command = app.add_subcommand(
      "stage-worker", "Copies data for a daemon (internal; reads an order from stdin)");
  command->group("");
  command->callback([&action] {
    action = [] { return live::staging::run_stage_worker(STDIN_FILENO, STDOUT_FILENO); };
  });
}

}  // namespace goban::cli
