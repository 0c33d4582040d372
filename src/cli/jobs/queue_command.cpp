// goban queue: lists running and waiting jobs.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"
#include "base/text.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/jobs/top_text.hpp"

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
  bool me = false;
  bool each_task = false;
  std::vector<std::string> columns;
  std::string sort;
  int64_t limit = -1;  ///< 0: all; negative: kQueueShown in tables, all in JSON
};

/// `?...` of GET /v1/jobs.
std::string query_of(const QueueArguments& arguments) {
  std::string query = !arguments.state.empty() ? "state=" + base::http::url_part(arguments.state)
                      : arguments.all          ? std::string{}
                                               : std::string(kUnfinished);
  const auto add = [&](const std::string& part) { query += (query.empty() ? "" : "&") + part; };
  const bool is_mine = arguments.me || arguments.user == "me";
  if (!is_mine && arguments.user.empty()) {
    add("all=1");
  } else if (!is_mine) {
    add("user=" + base::http::url_part(arguments.user));
  }
  return query;
}

QueueView view_of(const QueueArguments& arguments) {
  return {.now_s = wall_clock_s(),
          .columns = arguments.columns,
          .sort = arguments.sort,
          .each_task = arguments.each_task,
          .style = output_style()};
}

Result<std::string> queue_text(serve::api::ApiClient& client, const QueueArguments& arguments) {
  const bool lists_all = arguments.json_out && arguments.limit < 0;
  const int64_t limit = lists_all ? 0 : arguments.limit < 0 ? kQueueShown : arguments.limit;
  if (limit == 0 && arguments.json_out) {
    const auto jobs = list_jobs(client, query_of(arguments));
    if (!jobs) return base::failure(jobs.error());
    return jobs->dump(2) + "\n";
  }
  // In tables the waiting tasks of an array are one row.
  const bool joins = limit > 0 && !arguments.json_out && !arguments.each_task;
  const auto answer =
      ask_for_queue(client, (joins ? "tasks=joined&" : "") + query_of(arguments), limit);
  if (!answer) return base::failure(answer.error());
  if (arguments.json_out) return list_of(*answer, "jobs").dump(2) + "\n";
  QueueView view = view_of(arguments);
  if (limit > 0) view.rows_max = static_cast<size_t>(limit);
  ask_for_reasons(client, *answer, view);
  const auto stats = get_json(client, "/v1/stats");
  return queue_table(*answer, view) + (stats ? holds_text(*stats) : "");
}

int run(const QueueArguments& arguments) {
  if (const auto fine = check_view(view_of(arguments)); !fine) return report_error(fine.error());
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
  c->add_flag("--me", arguments->me, "Only your own jobs");
  c->add_option(
       "-s,--state", arguments->state,
       "Only jobs in these states: held, depends, waiting, starting, running, suspended, stopping, "
       "done")
      ->type_name("STATE,...");
  c->add_flag("-a,--all", arguments->all, "Include jobs that finished recently");
  c->add_option("-n,--limit", arguments->limit,
                "Maximum number of jobs; 0: all (default: 1000, with --json all)")
      ->range(0, 10'000)
      ->type_name("N");
  c->add_option("-o,--format", arguments->columns,
                "Columns, in this order: " + base::alternatives(queue_columns()))
      ->delimiter(',')
      ->one_word()
      ->type_name("COLUMN");
  c->add_option("-S,--sort", arguments->sort,
                "Column to sort by; in descending order after a minus")
      ->type_name("[-]COLUMN");
  c->add_flag("-r,--each-task", arguments->each_task,
              "Print a row for each task of an array; by default waiting tasks share one");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  c->add_flag("-w,--watch", arguments->watch, "Refresh at every change, until Ctrl-C");
  add_server_option(*c, arguments->server);
  c->footer(
      "Running jobs come first, then the others by number. The last line counts all jobs. REASON\n"
      "says what each of the first ten jobs of the queue waits for (see also goban explain).\n\n"
      "Examples:\n"
      "  goban queue\n"
      "  goban queue --me --state waiting,held\n"
      "  goban queue --format job,user,state,reason --sort -gpus\n"
      "  goban queue --watch\n"
      "Exit codes: 0 success, 1 failure or no daemon, 2 usage error, 3 request rejected.");
  c->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace goban::cli
