// goban: the program. Parses the command line and runs one command.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/admin/commands.hpp"
#include "cli/gpus/commands.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/shell/build_commit.hpp"
#include "cli/shell/commands.hpp"
#include "cli/site/commands.hpp"
#include "cli/study/commands.hpp"

namespace {

using goban::cli::Action;
using goban::cli::Command;

/// Reports a failed write to standard output, unless the reader closed the pipe, as in
/// `goban queue | head -1`.
int output_lost(int problem, int code) {
  if (problem != EPIPE) {
    std::fprintf(stderr, "goban: error: cannot write standard output%s%s\n",
                 problem == 0 ? "" : ": ", problem == 0 ? "" : std::strerror(problem));
  }
  return code == 0 ? 1 : code;
}

int with_output_written(int code) {
  errno = 0;
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  return written ? code : output_lost(errno, code);
}

int run(const Action& action) {
  try {
    return with_output_written(action());
  } catch (const std::bad_alloc&) {
    std::fputs("goban: error: out of memory\n", stderr);
  } catch (const std::system_error& error) {
    // fmt::print() throws as soon as a buffer cannot be written.
    if (std::ferror(stdout) != 0) return output_lost(error.code().value(), 1);
    std::fprintf(stderr, "goban: error: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "goban: error: %s\n", error.what());
  }
  return 1;
}

/// A heading of `goban --help`.
struct HelpGroup {
  const char* title;
  std::vector<std::string_view> commands;
};

/// The headings and their commands in the order of the help. Commands that are not listed follow
/// under CLI11's own heading; those for programs are hidden.
const std::vector<HelpGroup>& help_groups() {
  static const std::vector<HelpGroup> groups = {
      {"Main commands", {"submit", "serve", "simulate", "analyze"}},
      {"Jobs",
       {"run", "attach", "queue", "top", "stats", "show", "eff", "logs", "wait", "cancel", "hold",
        "release", "requeue", "alter", "suspend", "resume", "wrap", "doctor"}},
      {"Simulation",
       {"explain", "predict", "policies", "trace", "cluster", "whatif", "lab", "data"}},
      {"History", {"history", "series"}},
      {"GPUs", {"profile", "colocation", "energy", "collect"}},
      {"Administration",
       {"nodes", "reserve", "reservations", "pilot", "token", "backup", "engine", "agent", "replay",
        "shims", "completion", "man", "version", "help"}}};
  return groups;
}

/// The position of a command in the help.
size_t help_position(std::string_view command) {
  size_t position = 0;
  for (const HelpGroup& group : help_groups()) {
    const auto found = std::ranges::find(group.commands, command);
    position += static_cast<size_t>(found - group.commands.begin());
    if (found != group.commands.end()) break;
  }
  return position;
}

void add_commands(Command& app, Action& action) {
  using namespace goban::cli;
  std::vector<CommandEntry> entries;
  const auto add = [&entries](const auto& some) {
    entries.insert(entries.end(), some.begin(), some.end());
  };
  add(kJobsCommands);
  add(kStudyCommands);
  add(kSiteCommands);
  add(kGpusCommands);
  add(kAdminCommands);
  add(kShellCommands);
  std::ranges::stable_sort(entries, {},
                           [](const CommandEntry& entry) { return help_position(entry.name); });
  for (const CommandEntry& entry : entries) entry.add(app, action);
  for (const HelpGroup& group : help_groups()) {
    for (const std::string_view name : group.commands) {
      if (Command* const command = app.find_subcommand(name)) command->group(group.title);
    }
  }
}

/// What users of other schedulers type, and its name here.
std::map<std::string, std::string> names_elsewhere() {
  return {{"sbatch", "goban submit"},      {"qsub", "goban submit"},
          {"srun", "goban run"},           {"squeue", "goban queue"},
          {"qstat", "goban queue"},        {"ps", "goban queue"},
          {"ls", "goban queue"},           {"list", "goban queue"},
          {"scancel", "goban cancel"},     {"qdel", "goban cancel"},
          {"kill", "goban cancel"},        {"delete", "goban cancel"},
          {"stop", "goban cancel"},        {"sinfo", "goban nodes"},
          {"pbsnodes", "goban nodes"},     {"seff", "goban eff"},
          {"reportseff", "goban eff"},     {"sacct", "goban history jobs"},
          {"qacct", "goban history jobs"}, {"scontrol", "goban show, alter or nodes"},
          {"status", "goban queue"},       {"train", "goban-train, a program of its own"},
          {"start", "goban serve"},        {"daemon", "goban serve"}};
}

/// The arguments as they are parsed: `goban` is `goban --help`, `goban help CMD` is
/// `goban CMD --help`, `goban version` is `goban --version`.
std::vector<const char*> as_options(int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (words.size() < 2) return {"goban", "--help"};
  const std::string_view first = words[1];
  if (first == "help") {
    words.erase(words.begin() + 1);
    words.push_back("--help");
  } else if (first == "version") {
    words[1] = "--version";
  }
  return words;
}

int parse_and_run(int argc, char** argv) {
  Command app(
      "Goban schedules deep-learning training jobs on shared GPUs, simulates scheduling policies\n"
      "on job histories, and analyses accounting records.");
  app.name("goban");
  app.set_version_flag("-V,--version", fmt::format("goban {} (commit {}, {})", GOBAN_VERSION,
                                                   goban::cli::build_commit(), GOBAN_BUILD));
  app.suggest(names_elsewhere());
  std::string host;
  app.add_option(
         "--host", host,
         "Daemon to talk to: ssh://HOST connects through your own ssh; or any other address that "
         "--server accepts")
      ->type_name("ADDRESS");
  app.require_subcommand(1);
  app.footer(
      "goban help COMMAND describes a command.\n\n"
      "Examples:\n"
      "  goban submit --gpus 4 --time 12h train.sh\n"
      "  goban --host ssh://login queue\n"
      "  goban serve --virtual-gpus 4\n"
      "  goban simulate --cluster 32x8 --jobs jobs.csv --policy fifo+packed,las+pal\n"
      "  goban analyze accounting.gz --format grid-engine --cluster abci --out report\n"
      "Exit codes: 0 success, 1 failure, 2 usage error, 3 invalid input, 130 interrupted.");
  Action action;
  add_commands(app, action);
  goban::cli::keep_double_dashes(argc, argv);
  const std::vector<const char*> words = as_options(argc, argv);
  if (const int code = app.parse(static_cast<int>(words.size()), words.data()); code == 0) {
    return with_output_written(code);
  } else if (code > 0) {
    return code;
  }
  // For programs that the command starts, too.
  if (!host.empty()) ::setenv("GOBAN_SERVER", host.c_str(), 1);
  return run(action);
}

}  // namespace

int main(int argc, char** argv) { return parse_and_run(argc, argv); }
