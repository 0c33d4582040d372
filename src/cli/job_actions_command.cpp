// goban cancel, hold, release, requeue: one change for some jobs.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/job_choice.hpp"
#include "cli/live_client.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;

struct Change {
  const char* name;
  const char* help;
  const char* verb;  ///< of --user and --all
  const char* done;  ///< what is printed
  const char* more;  ///< of its help
};

struct ChangeArguments {
  std::string server;
  JobChoice choice;
  bool json_out = false;
};

base::Result<std::string> ask(service::ApiClient& client, const Change& change, uint32_t job) {
  if (std::string_view(change.name) == "cancel")
    return client.remove(fmt::format("/v1/jobs/{}", job));
  return client.post(fmt::format("/v1/jobs/{}/{}", job, change.name));
}

int run(const Change& change, const ChangeArguments& arguments) {
  constexpr int kForbidden = 403;
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto chosen = ask_for_jobs(*client, arguments.choice);
  if (!chosen) return report_error(chosen.error());
  json done = json::array();
  size_t not_ours = 0;
  int code = 0;
  const bool swept = arguments.choice.names.empty();
  for (const std::string& problem : chosen->problems) {
    code = report_error(
        {.code = base::ErrorCode::Failed, .message = problem, .place = {}, .remedy = {}});
  }
  for (const JobRow& job : chosen->jobs) {
    auto answer = ask(*client, change, job.job);
    if (answer) {
      done.push_back(job.id);
      if (!arguments.json_out) fmt::print("{} {}\n", change.done, job.id);
    } else if (swept && client->last_status() == kForbidden) {
      ++not_ours;
    } else {
      base::Error error = std::move(answer.error());
      error.message = fmt::format("job {}: {}", job.id, error.message);
      code = report_error(error);
      if (client->last_status() == 0) return code;
    }
  }
  if (arguments.json_out) fmt::print("{}\n", json{{"jobs", std::move(done)}}.dump());
  if (chosen->jobs.empty() && code == 0) fmt::print(stderr, "goban: no such jobs\n");
  if (not_ours > 0) fmt::print(stderr, "goban: {} jobs are somebody else's\n", not_ours);
  return code;
}

constexpr Change kChanges[] = {
    {"cancel", "End jobs: those that run are stopped, those that wait never start", "Cancel",
     "cancelled",
     "A running job gets its checkpoint signal if it asked for one, then SIGTERM, then SIGKILL.\n\n"
     "Examples:\n"
     "  goban cancel 3 5 7_2\n"
     "  goban cancel 7            all tasks of array 7\n"
     "  goban cancel --user me\n"},
    {"hold", "Keep jobs that wait from starting", "Hold", "held",
     "Examples:\n"
     "  goban hold 3\n"
     "  goban hold '7_[4-9]'\n"},
    {"release", "Let jobs start that were held", "Release", "released",
     "Examples:\n"
     "  goban release 3\n"
     "  goban release --user me\n"},
    {"requeue", "Stop running jobs and put them back into the queue", "Requeue", "requeued",
     "They keep their numbers; GOBAN_RESTARTS counts their starts.\n\n"
     "Example:\n"
     "  goban requeue 3\n"},
};

}  // namespace

void add_job_actions(CLI::App& app, Action& action) {
  for (const Change& change : kChanges) {
    auto arguments = std::make_shared<ChangeArguments>();
    CLI::App* c = app.add_subcommand(change.name, change.help);
    add_job_choice(*c, arguments->choice, change.verb);
    c->add_flag("--json", arguments->json_out, "Print JSON alone");
    add_server_option(*c, arguments->server);
    c->footer(
        std::string(change.more) +
        "Exit codes: 0 all of them, 1 some failed, are unknown or somebody else's, or there is\n"
        "no daemon, 2 wrong usage.");
    c->callback([&change, arguments, &action] {
      action = [&change, arguments] { return run(change, *arguments); };
    });
  }
}

}  // namespace goban::cli
