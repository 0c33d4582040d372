// goban: the program. Parses the command line and runs one command.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/admin/commands.hpp"
#include "cli/gpus/commands.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/shell/commands.hpp"
#include "cli/site/commands.hpp"
#include "cli/study/commands.hpp"

namespace {

using goban::cli::Action;
using goban::cli::Command;

/// What could not be written is said, unless nobody reads any more: `goban queue | head -1`.
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

/// In this order they appear in the help; those that are not named here follow.
constexpr std::array<std::string_view, 31> kHelpOrder = {
    "simulate", "analyze",   "explain",       "policies", "trace",   "history", "cluster",
    "profile",  "energy",    "colocation",    "series",   "collect", "serve",   "replay",
    "backup",   "supervise", "measure-block", "submit",   "queue",   "whatif",  "show",
    "cancel",   "logs",      "run",           "attach",   "wrap",    "nodes",   "reserve",
    "top",      "token",     "completion"};

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
  std::ranges::stable_sort(entries, {}, [](const CommandEntry& entry) {
    return std::ranges::find(kHelpOrder, entry.name) - kHelpOrder.begin();
  });
  for (const CommandEntry& entry : entries) entry.add(app, action);
}

int parse_and_run(int argc, char** argv) {
  Command app(
      "Goban runs deep-learning training on shared GPU clusters: it replays a site's job\n"
      "history under several policies and shows which one serves the cluster best.");
  app.name("goban");
  app.set_version_flag("--version", "goban " GOBAN_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  goban trace generate --like poisson --jobs 1000 --gpus 64 --out jobs.csv\n"
      "  goban simulate --cluster sia-64 --jobs jobs.csv --policy fifo+packed,las+pal\n"
      "  goban policies\n"
      "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 bad input, 130 interrupted.");
  Action action;
  add_commands(app, action);
  goban::cli::keep_double_dashes(argc, argv);
  if (const int code = app.parse(argc, argv); code == 0) {
    return with_output_written(code);
  } else if (code > 0) {
    return code;
  }
  return run(action);
}

}  // namespace

int main(int argc, char** argv) { return parse_and_run(argc, argv); }
