// goban attach: reconnects to the terminal of an interactive job.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/jobs/commands.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/terminal_visit.hpp"

namespace goban::cli {

using base::Result;
using nlohmann::json;

Result<TerminalEnd> visit_terminal(const json& job) {
  const std::string socket = text_of(job, "terminal");
  if (socket.empty()) {
    return base::failed(fmt::format("job {} has no terminal to attach to", text_of(job, "id")),
                        "the job must be yours, running, and started with goban run --pty; attach "
                        "on the daemon's machine");
  }
  auto client = live::terminal::TerminalClient::connect(socket);
  if (!client) return base::failure(client.error());
  return client->run(STDIN_FILENO, STDOUT_FILENO, [] { return interrupted().load(); });
}

namespace {

struct AttachArguments {
  std::string server;
  std::string job;
};

int attach(const AttachArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto job = get_json(*client, "/v1/jobs/" + arguments.job);
  if (!job) return report_error(job.error());
  catch_interrupts();
  const auto end = visit_terminal(*job);
  if (!end) return report_error(end.error());
  switch (end->kind) {
    case TerminalEnd::Kind::Exited:
      return end->exit_code;
    case TerminalEnd::Kind::Detached:
      fmt::print(stderr, "\r\ngoban: job {} keeps running\n", arguments.job);
      return 0;
    case TerminalEnd::Kind::Interrupted:
      return kExitInterrupted;
  }
  return 1;
}

}  // namespace

void add_attach(Command& app, Action& action) {
  auto arguments = std::make_shared<AttachArguments>();
  Command* c = app.add_subcommand("attach", "Reconnect to a job's terminal");
  c->add_option("JOB", arguments->job, "Number of a job started with goban run --pty")
      ->required()
      ->check([](const std::string& name) {
        const bool plain = name.find_first_not_of("0123456789_") == std::string::npos;
        return plain ? std::string{} : name + " is not a valid job number (such as 7)";
      });
  add_server_option(*c, arguments->server);
  c->footer(
      "One client at a time. Ctrl-] d detaches and leaves the job running; Ctrl-] Ctrl-]\n"
      "sends Ctrl-].\n\n"
      "Examples:\n"
      "  goban attach 7\n"
      "Exit codes: that of the job, 0 also after Ctrl-] d, 1 failure or no such terminal,\n"
      "2 usage error, 130 interrupted.");
  c->callback([arguments, &action] { action = [arguments] { return attach(*arguments); }; });
}

}  // namespace goban::cli
