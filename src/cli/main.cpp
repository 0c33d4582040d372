// goban: everything of the cluster. Parses the command line and runs one command.
#include <csignal>
#include <cstdio>

#include "cli/command.hpp"

namespace goban::cli {
namespace {

std::atomic<bool> interrupt_flag = false;

void on_interrupt(int) {
  if (interrupt_flag.exchange(true)) std::_Exit(kExitInterrupted);
}

}  // namespace

const std::atomic<bool>& interrupted() { return interrupt_flag; }

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

int report_error(const base::Error& error) {
  if (interrupt_flag) {
    std::fputs("goban: interrupted; nothing half-written was left behind\n", stderr);
    return kExitInterrupted;
  }
  std::fprintf(stderr, "goban: error: %s\n", error.text().c_str());
  return static_cast<int>(error.code);
}

}  // namespace goban::cli

int main(int argc, char** argv) {
  using namespace goban::cli;
  CLI::App app("Goban runs deep-learning training on shared GPU clusters: it replays a site's job\n"
               "history under several policies and shows which one serves the cluster best.");
  app.name("goban");
  app.set_version_flag("--version", "goban " GOBAN_VERSION);
  app.require_subcommand(1);
  app.footer("Examples:\n"
             "  goban trace generate --like poisson --jobs 1000 --gpus 64 --out jobs.csv\n"
             "  goban simulate --cluster sia-64 --jobs jobs.csv --policy fifo+packed,las+pal\n"
             "  goban policies\n"
             "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 bad input, 130 interrupted.");
  Action action;
  add_simulate(app, action);
  add_policies(app, action);
  add_trace(app, action);
  add_cluster(app, action);
  add_profile(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return 2;
  }
  return action();
}
