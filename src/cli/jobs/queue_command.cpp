// goban queue: lists running and waiting jobs.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"

namespace goban::cli {
namespace {

using base::Result;

struct QueueArguments {
  std::string server;
  std::string user;
  std::string state;
  bool all = false;
  bool json_out = false;
  bool watch = false;
};

/// `?...` of GET /v1/jobs.
std::string query_of(const QueueArguments& arguments) {
  std::string query = !arguments.state.empty() ? "state=" + base::http::url_part(arguments.state)
                      : arguments.all          ? std::string{}
                                               : std::string(kUnfinished);
  const auto add = [&](const std::string& part) { query += (query.empty() ? "" : "&") + part; };
  if (arguments.user.empty()) {
    add("all=1");
  } else if (arguments.user != "me") {
    add("user=" + base::http::url_part(arguments.user));
  }
  return query;
}

Result<std::string> queue_text(serve::api::ApiClient& client, const QueueArguments& arguments) {
  const auto jobs = list_jobs(client, query_of(arguments));
  if (!jobs) return base::failure(jobs.error());
  if (arguments.json_out) return jobs->dump(2) + "\n";
  return queue_table(job_rows(*jobs), wall_clock_s());
}

int run(const QueueArguments& arguments) {
  if (arguments.watch) {
    constexpr double kPeriod_s = 5;
    const auto watched = redraw_on_change(arguments.server, kPeriod_s,
                                          [&](serve::api::ApiClient& client) -> Result<bool> {
                                            const auto text = queue_text(client, arguments);
                                            if (!text) return base::failure(text.error());
                                            show_screen(*text);
                                            return true;
                                          });
    return watched ? 0 : report_error(watched.error());
  }
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto text = queue_text(*client, arguments);
  if (!text) return report_error(text.error());
  fmt::print("{}", *text);
  return 0;
}

}  // namespace

void add_queue(Command& app, Action& action) {
  auto arguments = std::make_shared<QueueArguments>();
  Command* c = app.add_subcommand("queue", "List running and waiting jobs");
  c->add_option("-u,--user", arguments->user, "Only jobs of this user (me: your own)")
      ->type_name("USER");
  c->add_option(
       "-s,--state", arguments->state,
       "Only jobs in these states: held, depends, waiting, starting, running, stopping, done")
      ->type_name("STATE,...");
  c->add_flag("-a,--all", arguments->all, "Include jobs that finished recently");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  c->add_flag("-w,--watch", arguments->watch, "Refresh at every change, until Ctrl-C");
  add_server_option(*c, arguments->server);
  c->footer(
      "Running jobs come first, then the others by number.\n\n"
      "Examples:\n"
      "  goban queue\n"
      "  goban queue --user me --state waiting,held\n"
      "  goban queue --watch\n"
      "Exit codes: 0 success, 1 failure or no daemon, 2 usage error, 3 request rejected.");
  c->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace goban::cli
