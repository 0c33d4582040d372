// goban wrap: runs a command whose Python processes report their training to the scheduler.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "cli/shell/commands.hpp"
#include "cli/shell/exec_command.hpp"
#include "cli/shell/installation.hpp"

namespace goban::cli {
namespace {

namespace fs = std::filesystem;

int wrap(const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) {
    return report_error(
        {base::ErrorCode::Usage,
         words.empty() ? "no command is given" : fmt::format("unknown option {}", words.front()),
         {},
         "goban wrap COMMAND [ARGUMENTS...]"});
  }
  const std::string folder = python_folder();
  std::error_code none;
  if (!fs::exists(folder + "/goban_wrap", none)) {
    return report_error({base::ErrorCode::Failed,
                         fmt::format("cannot find the Python package goban_wrap in {}", folder),
                         {},
                         "install it with the program, or set GOBAN_PYTHON to its folder"});
  }
  const char* const before = std::getenv("PYTHONPATH");
  const bool has_more = before != nullptr && *before != '\0';
  ::setenv("PYTHONPATH", (has_more ? folder + ":" + before : folder).c_str(), 1);
  return exec_command(words);
}

}  // namespace

void add_wrap(Command& app, Action& action) {
  Command* c = app.add_subcommand("wrap", "Run a PyTorch command and report its training progress");
  c->prefix_command("COMMAND [ARGUMENT ...]");
  c->footer(
      "For use in jobs. The training script needs no change: steps, epochs, samples/s, the times\n"
      "of each rank and checkpoints (torch.save) are reported to the scheduler, and a job that is\n"
      "stopped ends after its next checkpoint. Outside a job the command runs unchanged.\n\n"
      "Examples:\n"
      "  goban run --gpus 2 -- goban wrap torchrun --nproc-per-node 2 train.py\n"
      "  goban submit --gpus 1 --wrap 'goban wrap python3 train.py'\n"
      "Exit codes: that of the command, 1 the command cannot be run, 2 usage error.");
  c->callback(
      [c, &action] { action = [words = words_behind_options(*c)] { return wrap(words); }; });
}

}  // namespace goban::cli
