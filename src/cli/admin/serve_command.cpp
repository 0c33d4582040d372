// goban serve: the daemon that schedules this machine. goban replay: replays its journal.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/files.hpp"
#include "cli/admin/commands.hpp"
#include "live/journal/standby.hpp"
#include "serve/daemon/machine_daemon.hpp"
#include "serve/daemon/replay.hpp"

namespace goban::cli {
namespace {

struct ServeArguments {
  std::string config;
  std::string state;
  std::string policy;
  std::optional<int32_t> virtual_gpus;
  std::string listen;
  bool standby = false;
  double takeover_after_s = 10;
};

base::Result<serve::daemon::ServeConfig> configuration(const ServeArguments& arguments) {
  serve::daemon::ServeConfig config;
  if (!arguments.config.empty()) {
    auto read = serve::daemon::read_serve_config(arguments.config);
    if (!read) return read;
    config = std::move(*read);
  }
  if (!arguments.state.empty()) config.state = arguments.state;
  if (!arguments.policy.empty()) config.policy = arguments.policy;
  if (arguments.virtual_gpus) config.virtual_gpus = *arguments.virtual_gpus;
  if (!arguments.listen.empty()) config.service.listen = arguments.listen;
  return config;
}

/// Logs one line with the time; lines of several threads do not mix. Failed writes are ignored: a
/// full disk or a closed terminal must not stop the daemon.
void say(const std::string& line) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  static_cast<void>(base::write_all(
      STDERR_FILENO,
      fmt::format("{:%Y-%m-%d %H:%M:%S} {}\n", fmt::localtime(std::time(nullptr)), line)));
}

/// Waits for Ctrl-C or SIGTERM; reloads the configuration at SIGHUP. The signals are blocked in all
/// threads, so no system call is interrupted.
void wait_for_end(const sigset_t& signals, const ServeArguments& arguments,
                  serve::daemon::MachineDaemon& daemon) {
  int received = 0;
  while (sigwait(&signals, &received) != 0 || received == SIGHUP) {
    if (received != SIGHUP) continue;
    auto config = configuration(arguments);
    const base::Status status =
        config ? daemon.reload(std::move(*config)) : base::failure(config.error());
    if (!status) say("the configuration was not reloaded: " + status.error().text());
  }
}

/// Waits until the daemon of the state folder has exited or has no heartbeat, and takes over.
/// Nothing: this process was asked to exit before that.
std::optional<serve::daemon::Takeover> stand_by(const std::string& state, double patience_s,
                                                const sigset_t& signals) {
  constexpr timespec kLookEvery{.tv_sec = 0, .tv_nsec = 200'000'000};
  live::journal::HolderWatch watch(state, base::from_seconds(patience_s));
  std::string said;
  while (true) {
    const live::journal::HolderState holder = watch.look(base::steady_ns());
    if (holder == live::journal::HolderState::Lives && said != watch.holder()) {
      said = watch.holder();
      say(fmt::format("standby: {} holds {}", said, state));
    } else if (holder != live::journal::HolderState::Lives) {
      const bool silent = holder == live::journal::HolderState::Silent;
      auto lock = silent ? live::journal::StateLock::take_from_silent(state, watch.inode())
                         : live::journal::StateLock::take(state);
      if (lock) {
        say(silent ? fmt::format("taking over: no heartbeat from {} for {:g} s", said, patience_s)
                   : fmt::format("taking over: no active daemon on {}", state));
        return serve::daemon::Takeover{.lock = std::move(*lock), .from_silent = silent};
      }
    }
    siginfo_t ignored{};
    const int signal = ::sigtimedwait(&signals, &ignored, &kLookEvery);
    if (signal == SIGINT || signal == SIGTERM) return std::nullopt;
  }
}

int serve(const ServeArguments& arguments) {
  auto config = configuration(arguments);
  if (!config) return report_error(config.error());
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // Standard error may be a pipe without a reader, and a file may reach a limit of the shell
  // (ulimit -f), which is an error of the write; the others mean nothing here and would end the
  // daemon. Jobs start with all signals at their defaults.
  for (const int ignored :
       {SIGPIPE, SIGXFSZ, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO}) {
    std::signal(ignored, SIG_IGN);
  }
  serve::daemon::Takeover takeover;
  if (arguments.standby) {
    serve::daemon::add_defaults(*config);
    auto taken = stand_by(config->state, arguments.takeover_after_s, signals);
    if (!taken) return 0;
    takeover = std::move(*taken);
  }
  std::atomic<bool> is_shut_out = false;
  takeover.shut_out = [&is_shut_out] {
    is_shut_out = true;
    ::kill(::getpid(), SIGTERM);
  };
  auto daemon = serve::daemon::MachineDaemon::start(std::move(*config), say, std::move(takeover));
  if (!daemon) return report_error(daemon.error());
  static_cast<void>(
      base::write_all(STDOUT_FILENO, (*daemon)->addresses(::isatty(STDOUT_FILENO) != 0)));
  wait_for_end(signals, arguments, **daemon);
  if (!is_shut_out) say("shutting down; running jobs continue");
  const std::string state = (*daemon)->config().state;
  const size_t hanging = (*daemon)->stop_service();
  daemon->reset();
  const int code =
      is_shut_out
          ? report_error({base::ErrorCode::Failed,
                          fmt::format("another daemon has taken over {}; this one exits", state),
                          {},
                          "jobs continue under the other daemon; no action is needed"})
          : 0;
  if (hanging > 0) {
    say(fmt::format("{} reads of users' files hang; they are left behind", hanging));
    std::fflush(nullptr);
    std::_Exit(code);  // those threads may still run
  }
  return code;
}

struct ReplayOptions {
  std::string path;
  bool all = false;
  bool json = false;
};

nlohmann::ordered_json replay_json(const serve::daemon::Replay& done) {
  const live::loop::CommitCycle::Fold& fold = done.fold;
  return {{"journal", done.journal},        {"records", fold.records},
          {"reproduced", fold.reproduced},  {"other", fold.other},
          {"uncompared", fold.uncompared},  {"first_other_record", fold.first_other},
          {"differences", done.differences}};
}

std::string replay_text(const serve::daemon::Replay& done) {
  const live::loop::CommitCycle::Fold& fold = done.fold;
  std::string out = fmt::format(
      "{}, {} reproduced, {} different{}\n", base::counted(fold.records, "record"),
      base::counted(fold.reproduced, "decision"), fold.other,
      fold.other > 0 ? fmt::format("; the first difference is at record {}", fold.first_other)
                     : "");
  if (fold.uncompared > 0) out += fmt::format("{} more were not compared\n", fold.uncompared);
  return out;
}

int replay(const ServeArguments& arguments, const ReplayOptions& replay_options) {
  auto config = configuration(arguments);
  if (!config) return report_error(config.error());
  std::vector<std::string> journals = {replay_options.path};
  if (replay_options.all) {
    auto found = serve::daemon::journals_of(replay_options.path);
    if (!found) return report_error(found.error());
    journals = std::move(*found);
  }
  int code = 0;
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  for (const std::string& journal : journals) {
    const auto done = serve::daemon::replay_journal(*config, journal);
    if (!done) {
      code = report_error(done.error());
      continue;
    }
    for (const std::string& line : done->differences) {
      fmt::print(stderr,
                 "goban: warning: {}: the configuration differs from the one recorded in the "
                 "journal, {}\n",
                 journal, line);
    }
    if (done->fold.other > 0 && code == 0) code = 1;
    if (!replay_options.json && replay_options.all) fmt::print("{}: ", journal);
    if (!replay_options.json) fmt::print("{}", replay_text(*done));
    document.push_back(replay_json(*done));
  }
  if (replay_options.json)
    fmt::print("{}\n",
               replay_options.all || document.empty() ? document.dump(2) : document[0].dump());
  return code;
}

void add_site_options(Command* command, ServeArguments& arguments) {
  command->add_option("--config", arguments.config, "Configuration file (docs/serve.md)")
      ->type_name("FILE");
  command->add_option("--policy", arguments.policy, "Scheduling policy (see goban policies)");
  command
      ->add_option("--virtual-gpus", arguments.virtual_gpus,
                   "Number of virtual GPUs; each is an equal share of this machine's cores")
      ->range(1, 255);
}

}  // namespace

void add_serve(Command& app, Action& action) {
  Command* command = app.add_subcommand(
      "serve", "Run the daemon that schedules jobs, on this machine or a cluster");
  auto arguments = std::make_shared<ServeArguments>();
  command->add_option("--config", arguments->config, "Configuration file (docs/serve.md)")
      ->type_name("FILE");
  command->add_option("--state", arguments->state, "State folder: journal, jobs and history")
      ->type_name("FOLDER");
  command->add_option("--policy", arguments->policy, "Scheduling policy (see goban policies)");
  command
      ->add_option("--virtual-gpus", arguments->virtual_gpus,
                   "Number of virtual GPUs; each is an equal share of this machine's cores")
      ->range(1, 255);
  command
      ->add_option(
          "--listen", arguments->listen,
          "HTTP address, such as 127.0.0.1:8080; addresses other than loopback require TLS")
      ->type_name("ADDRESS");
  command->add_flag("--standby", arguments->standby, "Take over when the active daemon fails");
  constexpr double kPatienceMin_s = 2;
  constexpr double kPatienceMax_s = 3600;
  command
      ->add_option("--takeover-after", arguments->takeover_after_s,
                   "With --standby: seconds without a heartbeat after which the active daemon is "
                   "considered dead")
      ->type_name("SECONDS")
      ->range(kPatienceMin_s, kPatienceMax_s)
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  goban serve --virtual-gpus 4\n"
      "  goban serve --config /etc/goban.toml\n"
      "  goban serve --state ~/goban --policy las+pal --listen 127.0.0.1:8080\n"
      "  goban serve --config /etc/goban.toml --standby\n"
      "On loopback without configured tokens, goban token prints the link to the dashboard.\n"
      "Ctrl-C or SIGTERM stops the daemon. Running jobs continue and are adopted by the next one.\n"
      "SIGHUP reloads tokens, certificate and access rights. Signals such as SIGUSR1, SIGALRM and\n"
      "SIGXCPU are ignored.\n"
      "A daemon exits with code 1 when a standby has taken over its state folder.");
  command->callback([arguments, &action] { action = [arguments] { return serve(*arguments); }; });
}

void add_replay(Command& app, Action& action) {
  Command* command =
      app.add_subcommand("replay", "Replay a daemon's journal and compare the decisions");
  auto arguments = std::make_shared<ServeArguments>();
  auto replay_options = std::make_shared<ReplayOptions>();
  command
      ->add_option("JOURNAL", replay_options->path, "State folder, journal folder, or journal file")
      ->required();
  add_site_options(command, *arguments);
  command->add_flag("--all", replay_options->all,
                    "Replay every journal of the folder, not only the newest");
  command->add_flag("--json", replay_options->json, "Print JSON only");
  command->footer(
      "Examples:\n"
      "  goban replay ~/.local/state/goban --virtual-gpus 4\n"
      "  goban replay /var/lib/goban --config /etc/goban.toml --json\n"
      "  goban replay ~/goban --all --policy fifo+packed\n"
      "The configuration must be that of the daemon; a warning names each difference. The GPUs "
      "are\n"
      "those that the journal names, whatever this machine has. Nothing is changed.\n"
      "Exit codes: 0 all decisions since the last snapshot are reproduced, 1 some are not.");
  command->callback([arguments, replay_options, &action] {
    action = [arguments, replay_options] { return replay(*arguments, *replay_options); };
  });
}

}  // namespace goban::cli
