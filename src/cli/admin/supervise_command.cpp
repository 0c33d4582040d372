// Commands that engines start, such as goban supervise. They are hidden: users do not need them.
#include "cli/admin/commands.hpp"
#include "live/engine/engines.hpp"

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

}  // namespace goban::cli
