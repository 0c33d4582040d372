// goban: everything of the cluster. Parses the command line and runs one command.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>

#include "cli/shell/command.hpp"
#include "cli/shell/wrap_command.hpp"

namespace {

using goban::cli::Action;

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

int parse_and_run(int argc, char** argv) {
  goban::cli::Command app(
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
  goban::cli::add_simulate(app, action);
  goban::cli::add_analyze(app, action);
  goban::cli::add_explain(app, action);
  goban::cli::add_policies(app, action);
  goban::cli::add_trace(app, action);
  goban::cli::add_history(app, action);
  goban::cli::add_cluster(app, action);
  goban::cli::add_profile(app, action);
  goban::cli::add_energy(app, action);
  goban::cli::add_colocation(app, action);
  goban::cli::add_series(app, action);
  goban::cli::add_collect(app, action);
  goban::cli::add_serve(app, action);
  goban::cli::add_replay(app, action);
  goban::cli::add_backup(app, action);
  goban::cli::add_supervise(app, action);
  goban::cli::add_measure_block(app, action);
  goban::cli::add_submit(app, action);
  goban::cli::add_queue(app, action);
  goban::cli::add_what_if(app, action);
  goban::cli::add_show(app, action);
  goban::cli::add_job_actions(app, action);
  goban::cli::add_logs(app, action);
  goban::cli::add_run(app, action);
  goban::cli::add_attach(app, action);
  goban::cli::add_wrap(app, action);
  goban::cli::add_nodes(app, action);
  goban::cli::add_reservations(app, action);
  goban::cli::add_top(app, action);
  goban::cli::add_token(app, action);
  goban::cli::add_shell_help(app, action);
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
