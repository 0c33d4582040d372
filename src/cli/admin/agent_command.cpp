// goban agent: reports the GPUs and jobs of this node to the daemon of a cluster.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "base/host_name.hpp"
#include "base/printable.hpp"
#include "cli/admin/commands.hpp"
#include "cli/jobs/live_client.hpp"
#include "serve/agent/agent.hpp"

namespace goban::cli {
namespace {

struct AgentArguments {
  serve::agent::AgentOptions options;
  std::string token_file;
  std::string ca_file;
  std::string socket;
  bool print = false;
};

/// As Slurm shortens it.
std::string short_host_name() {
  const std::string name = base::host_name().value_or("");
  return name.substr(0, name.find('.'));
}

int run(AgentArguments arguments) {
  serve::agent::AgentOptions& options = arguments.options;
  if (options.node.empty()) options.node = short_host_name();
  if (options.sample_s > options.interval_s) options.sample_s = options.interval_s;
  // Where the client looks for them.
  if (!arguments.token_file.empty()) ::setenv("GOBAN_TOKEN_FILE", arguments.token_file.c_str(), 1);
  if (!arguments.ca_file.empty()) ::setenv("GOBAN_CA_FILE", arguments.ca_file.c_str(), 1);
  options.say = [](const std::string& text) {
    fmt::print(stderr, "goban: {}\n", base::printable(text));
  };
  catch_interrupts();
  const base::Progress progress(interrupted());
  if (arguments.print) {
    fmt::print("{}\n", to_json(serve::agent::one_report(options, progress)));
    return 0;
  }
  options.socket = arguments.socket;
  if (options.socket.empty() && ::geteuid() == 0) {
    options.socket = fmt::format("/run/goban/agent-{}.sock", options.node);
  }
  if (options.socket == "none") options.socket.clear();
  if (!options.socket.empty()) {
    std::error_code error;  // if it matters, listening fails and reports it
    const auto folder = std::filesystem::path(options.socket).parent_path();
    if (std::filesystem::create_directories(folder, error)) {
      std::filesystem::permissions(folder, std::filesystem::perms(0711), error);
    }
  }
  const auto ended = serve::agent::run_agent(options, progress);
  return ended ? 0 : report_error(ended.error());
}

}  // namespace

void add_agent(Command& app, Action& action) {
  auto arguments = std::make_shared<AgentArguments>();
  serve::agent::AgentOptions& options = arguments->options;
  Command* c = app.add_subcommand("agent", "Report GPUs and jobs of this node to the daemon");
  add_server_option(*c, options.server);
  c->add_option("--token-file", arguments->token_file,
                "File with the token of this node; otherwise $GOBAN_TOKEN_FILE, $GOBAN_TOKEN")
      ->type_name("FILE");
  c->add_option("--ca-file", arguments->ca_file,
                "PEM file of the CA of the daemon's certificate; otherwise $GOBAN_CA_FILE, the "
                "system's")
      ->type_name("FILE");
  c->add_option("--node", options.node, "Name of this node in the cluster (its host name)")
      ->type_name("NAME");
  c->add_option("--interval", options.interval_s, "Seconds between samples of the series")
      ->range(0.2, 3600.0)
      ->capture_default_str();
  c->add_option("--sample", options.sample_s,
                "Seconds between readings of the driver, of which a sample is the mean")
      ->range(0.1, 600.0)
      ->capture_default_str();
  c->add_option("--progress-socket", arguments->socket,
                "Unix socket on which jobs report their progress; none: do not listen (root: "
                "/run/goban/agent-NODE.sock; other users: none)")
      ->type_name("PATH");
  c->add_option("--nvidia-smi", options.program,
                "Run this program instead of using NVIDIA's library (default: the library; "
                "nvidia-smi without it)")
      ->type_name("PROGRAM");
  c->add_option("--virtual-gpus", options.virtual_gpus,
                "Number of simulated GPUs, to try the agent without GPUs; their utilisation is the "
                "CPU use of the jobs that hold them")
      ->type_name("N")
      ->range(1, 64);
  c->add_flag("--print", arguments->print, "Print one report as JSON and exit; nothing is sent");
  c->footer(
      "Examples:\n"
      "  goban agent --server https://login:6818 --token-file /etc/goban/agent.token\n"
      "  goban agent --server ssh://goban@login --node n17\n"
      "  goban agent --print\n"
      "Samples that cannot be delivered are kept in memory, about a day's worth, and sent when the "
      "daemon\n"
      "answers again (docs/agent.md).\n"
      "Exit codes: 0 ended by a signal, 1 failure, 2 usage error.");
  c->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace goban::cli
