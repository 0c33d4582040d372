// goban logs: prints the output of a job.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/jobs/commands.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/log_output.hpp"
#include "cli/jobs/pod_log_output.hpp"

namespace goban::cli {
namespace {

struct LogsArguments {
  std::string server;
  std::string job;
  LogChoice choice;
};

}  // namespace

void add_logs(Command& app, Action& action) {
  auto arguments = std::make_shared<LogsArguments>();
  Command* c = app.add_subcommand("logs", "Print a job's output");
  c->add_option("JOB", arguments->job,
                "Job number: 7, 7_2 for a task of an array, or @ID for a job of a "
                "cluster's own queue")
      ->required();
  c->add_flag("-f,--follow", arguments->choice.follow,
              "Follow the output until the job has finished");
  c->add_flag("-e,--stderr", arguments->choice.standard_error,
              "Print standard error, if it has its own file");
  c->add_option("-n,--lines", arguments->choice.lines, "Print only the last N lines")
      ->range(1, 1'000'000)
      ->type_name("N");
  c->add_option("--container", arguments->choice.container,
                "Of pods: print the output of this container, not of the first one")
      ->type_name("NAME");
  add_server_option(*c, arguments->server);
  c->footer(
      "Examples:\n"
      "  goban logs 7\n"
      "  goban logs -f -n 20 7_2\n"
      "Output of pods is read from Kubernetes with your own kubeconfig, as kubectl does.\n"
      "Exit codes: 0 success, 1 failure, unknown job, another user's job, or no daemon,\n"
      "2 usage error, 130 interrupted.");
  c->callback([arguments, &action] {
    action = [arguments] {
      auto client = connect(arguments->server);
      if (!client) return report_error(client.error());
      const bool of_pods = !arguments->choice.container.empty();
      base::Status printed = base::failed("the job does not run as pods", "leave --container out");
      if (!of_pods) {
        printed = print_log(*client, arguments->job, arguments->choice, STDOUT_FILENO);
      }
      // Kubernetes has the output of its pods, and says who may read it.
      constexpr int kNotMine = 403;
      constexpr int kOfTheCluster = 409;
      const int status = client->last_status();
      const bool is_elsewhere = of_pods || status == kNotMine || status == kOfTheCluster;
      if (!printed && is_elsewhere) {
        printed = print_pod_log(*client, arguments->job, arguments->choice, printed.error(),
                                STDOUT_FILENO);
      }
      if (!printed) return report_error(printed.error());
      return interrupted() ? kExitInterrupted : 0;
    };
  });
}

}  // namespace goban::cli
