// goban lab: the policy laboratory, which is a Python package of its own.
#include <cstdlib>

#include "cli/shell/exec_command.hpp"
#include "cli/study/commands.hpp"

namespace goban::cli {
namespace {

/// Exits with 2, as wrong usage does: 1 says that a policy failed.
constexpr const char* kStart = R"py(
import importlib.util, sys
if importlib.util.find_spec("goban_lab") is None:
    print(f"goban lab: {sys.executable} has no package goban_lab (pip install goban-lab, or set "
          "GOBAN_LAB_PYTHON to a Python that has it)", file=sys.stderr)
    sys.exit(2)
from goban_lab.__main__ import main
sys.exit(main(program="goban lab"))
)py";

int lab(const std::vector<std::string>& words) {
  const char* const given = std::getenv("GOBAN_LAB_PYTHON");
  std::vector<std::string> all = {given != nullptr && *given != '\0' ? given : "python3", "-c",
                                  kStart};
  all.insert(all.end(), words.begin(), words.end());
  return exec_command(std::move(all));
}

}  // namespace

void add_lab(Command& app, Action& action) {
  Command* c = app.add_subcommand("lab", "Score policies written in Python");
  c->prefix_command("COMMAND ...");
  c->footer(
      "Runs the commands of the Python package goban-lab (docs/lab.md) with python3, or with the\n"
      "Python that GOBAN_LAB_PYTHON names.\n\n"
      "Examples:\n"
      "  goban lab verify policy.py --suite small\n"
      "  goban lab verify policy.py --suite site.toml --seeds 10 --json\n"
      "  goban lab reality shockwave        # runs on 32 real GPUs, predicted and compared\n"
      "Exit codes: 0 scored, 1 the policy failed or broke a constraint, or a bound is missed, 2\n"
      "usage error, or the package is not installed.");
  c->callback([c, &action] { action = [words = words_behind_options(*c)] { return lab(words); }; });
}

}  // namespace goban::cli
