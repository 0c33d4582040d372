// goban history jobs: lists finished jobs of a daemon, read from its history store.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

#include "base/http/http_client.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/shell/text_table.hpp"
#include "cli/site/history_commands.hpp"

namespace goban::cli {
namespace {

struct HistoryJobsArguments {
  std::string server;
  std::vector<std::string> names;
  std::string user;
  bool all = false;
  std::string from;
  std::string to;
  int64_t limit = 1'000;
  bool json_out = false;
};

/// Of the end: "0", "signal 9", "-" if unknown.
std::string exit_text(const JobRow& job) {
  if (job.exit_code >= 0) return fmt::format("{}", job.exit_code);
  return job.signal > 0 ? fmt::format("signal {}", job.signal) : "-";
}

std::string past_jobs_table(const std::vector<JobRow>& jobs, double now_s) {
  if (jobs.empty()) return "no finished jobs\n";
  TextTable table({{"JOB", true, 20},
                   {"NAME", false, 24},
                   {"USER", false, 16},
                   {"RESULT", false, 16},
                   {"EXIT", true, 10},
                   {"GPUS", true, 8},
                   {"RAN", true, 16},
                   {"SUBMITTED", false, 16},
                   {"ENDED", false, 16}});
  for (const JobRow& job : jobs) {
    table.add({job.id, job.name.empty() ? "-" : job.name, job.user, state_text(job), exit_text(job),
               fmt::format("{}", job.num_gpus), job.held_s > 0 ? clock_text(job.held_s) : "-",
               moment_text(job.submit_s, now_s), moment_text(job.end_s, now_s)});
    table.paint(3, colour_of(job));
  }
  return table.text(output_style());
}

base::Result<std::string> past_jobs_query(const HistoryJobsArguments& arguments) {
  std::string query = fmt::format("/v1/jobs?past=1&limit={}", arguments.limit);
  const bool others = arguments.all || !arguments.names.empty();
  if (!arguments.user.empty() && arguments.user != "me") {
    query += "&user=" + base::http::url_part(arguments.user);
  } else if (others && arguments.user.empty()) {
    query += "&all=1";
  }
  if (!arguments.names.empty()) {
    const auto names = names_to_ask(arguments.names);
    if (!names) return base::failure(names.error());
    query += "&job=" + base::http::url_part(fmt::format("{}", fmt::join(*names, ",")));
  }
  for (const auto& [name, option, text] :
       {std::tuple("from_s", "--from", &arguments.from), {"to_s", "--to", &arguments.to}}) {
    const auto time_ns = parse_day(*text, option);
    if (!time_ns) return base::failure(time_ns.error());
    if (*time_ns) query += fmt::format("&{}={:.3f}", name, base::to_seconds(**time_ns));
  }
  return query;
}

/// Leaves only the jobs that these names mean. Errors: Usage.
base::Status keep_named(nlohmann::json& list, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto chosen = choose_jobs(job_rows(list), {.names = names});
  if (!chosen) return base::failure(chosen.error());
  std::set<std::string> ids;
  for (const JobRow& job : chosen->jobs) ids.insert(job.id);
  nlohmann::json kept = nlohmann::json::array();
  for (nlohmann::json& job : list) {
    if (ids.contains(text_of(job, "id"))) kept.push_back(std::move(job));
  }
  list = std::move(kept);
  return {};
}

int run_history_jobs(const HistoryJobsArguments& arguments) {
  const auto query = past_jobs_query(arguments);
  if (!query) return report_error(query.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  auto answer = get_json(*client, *query);
  if (!answer) return report_error(answer.error());
  nlohmann::json list = list_of(*answer, "jobs");
  const bool is_full = static_cast<int64_t>(list.size()) == arguments.limit;
  if (auto kept = keep_named(list, arguments.names); !kept) return report_error(kept.error());
  std::reverse(list.begin(), list.end());
  if (arguments.json_out) {
    fmt::print("{}\n", list.dump(2));
  } else {
    fmt::print("{}", past_jobs_table(job_rows(list), wall_clock_s()));
  }
  std::fflush(stdout);
  if (is_full) {
    fmt::print(stderr, "goban: note: the last {}; --limit, --from and --to select others\n",
               arguments.limit);
  }
  return 0;
}

}  // namespace

void add_history_jobs(Command& history, Action& action) {
  auto arguments = std::make_shared<HistoryJobsArguments>();
  Command* c = history.add_subcommand("jobs", "List your finished jobs, as the daemon stored them");
  c->add_option("JOB", arguments->names,
                "Only these jobs: 7 for a job or a whole array, 7_2 or 7_[0-3]");
  c->add_option("-u,--user", arguments->user, "Jobs of this user (operators; default: your own)")
      ->type_name("USER");
  c->add_flag("--all", arguments->all, "Jobs of all users (operators)");
  c->add_option("--from", arguments->from,
                "Jobs that ended at or after this time (UTC), such as 2024-04-01");
  c->add_option("--to", arguments->to, "Jobs that ended before this time (UTC)");
  c->add_option("-n,--limit", arguments->limit, "Maximum number of jobs: those that ended last")
      ->range(1, 10'000)
      ->type_name("N")
      ->capture_default_str();
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "Jobs are listed by the time of their end. goban show JOB shows one of them, goban logs JOB\n"
      "prints its output if the file still exists.\n\n"
      "Examples:\n"
      "  goban history jobs\n"
      "  goban history jobs --from 2024-04-01 --to 2024-05-01 --json\n"
      "  goban history jobs --all --limit 20\n"
      "Exit codes: 0 success, 1 failure, permission denied or no daemon, 2 usage error.");
  c->callback(
      [arguments, &action] { action = [arguments] { return run_history_jobs(*arguments); }; });
}

}  // namespace goban::cli
