// goban data: fetches the public data sets that the documentation names.
#include <filesystem>
#include <fmt/format.h>

#include "cli/shell/commands.hpp"
#include "cli/shell/exec_command.hpp"
#include "cli/shell/installation.hpp"

namespace goban::cli {
namespace {

struct DataArguments {
  std::vector<std::string> names;
  bool list = false;
  bool as_json = false;
  std::string mirror, to, find;
  double timeout_s = 30;
};

int fetch_data(const DataArguments& arguments) {
  const std::string script = python_folder() + "/goban_data.py";
  std::error_code none;
  if (!std::filesystem::exists(script, none)) {
    return report_error({base::ErrorCode::Failed,
                         fmt::format("cannot find {}", script),
                         {},
                         "install it with the program, or set GOBAN_PYTHON to its folder"});
  }
  std::vector<std::string> words = {"python3", script,
                                    fmt::format("--timeout={}", arguments.timeout_s)};
  if (arguments.list) words.emplace_back("--list");
  if (arguments.as_json) words.emplace_back("--json");
  if (!arguments.mirror.empty()) words.push_back("--mirror=" + arguments.mirror);
  if (!arguments.to.empty()) words.push_back("--to=" + arguments.to);
  if (!arguments.find.empty()) words.push_back("--find=" + arguments.find);
  words.emplace_back("--");
  words.insert(words.end(), arguments.names.begin(), arguments.names.end());
  return exec_command(std::move(words));
}

}  // namespace

void add_data(Command& app, Action& action) {
  auto arguments = std::make_shared<DataArguments>();
  Command* c =
      app.add_subcommand("data", "Fetch the public data sets of documentation and studies");
  c->add_option("NAME", arguments->names,
                "Data sets (default: all; first a line says how large they are)");
  auto* const list =
      c->add_flag("--list", arguments->list,
                  "List the data sets, their sizes and licences, and what is present");
  c->add_flag("--json", arguments->as_json, "With --list: print JSON only")->needs(list);
  c->add_option(
      "--mirror", arguments->mirror,
      "A copy of the data folder, used instead of the published addresses: URL or folder");
  c->add_option("--to", arguments->to,
                "The data folder (default: $GOBAN_DATA, else ~/.cache/goban/data)");
  c->add_option("--timeout", arguments->timeout_s,
                "Abort a connection that sends nothing for this many seconds")
      ->range(0.001, 3600.0)
      ->capture_default_str();
  c->add_option("--find", arguments->find, "Print where a file or folder of the data is");
  c->footer(
      "Each file is checked against its SHA-256 sum before it is put in place; an interrupted "
      "download\n"
      "is resumed by the next run. Needs Python 3.11. docs/data.md describes the data sets.\n\n"
      "Examples:\n"
      "  goban data --list\n"
      "  goban data pal philly\n"
      "Exit codes: 0 all files are present, 1 a file failed, 2 usage error, 3 damaged table.");
  c->callback([arguments, &action] { action = [arguments] { return fetch_data(*arguments); }; });
}

}  // namespace goban::cli
