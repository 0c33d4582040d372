// goban eff: what jobs used of what they held, as seff and reportseff do.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"
#include "base/time.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/efficiency.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/moment.hpp"

namespace goban::cli {
namespace {

using base::Result;
using nlohmann::json;

constexpr int64_t kEffShown = 200;  // each job is a request

struct EffArguments {
  std::string server;
  std::vector<std::string> names;
  std::string user;
  bool all = false;
  std::string from;
  std::string to;
  int64_t limit = kEffShown;
  bool json_out = false;
};

/// The jobs of these names, finished or not.
Result<std::vector<JobRow>> named_jobs(serve::api::ApiClient& client, const EffArguments& arguments,
                                       int& code) {
  const JobChoice choice{.names = arguments.names};
  auto chosen = ask_for_jobs(client, choice);
  if (!chosen) return base::failure(chosen.error());
  if (auto status = add_past_jobs(client, choice, *chosen); !status) {
    return base::failure(status.error());
  }
  for (const std::string& name : chosen->unknown) code = report_error(unknown_job(name));
  return std::move(chosen->jobs);
}

/// The finished jobs of a user and a period: a week, unless one is given.
Result<std::vector<JobRow>> recent_jobs(serve::api::ApiClient& client,
                                        const EffArguments& arguments) {
  constexpr double kWeek_s = 7.0 * base::kDay_s;
  const auto from_ms =
      parse_moment_ms("--from", arguments.from,
                      static_cast<int64_t>(1000 * std::max(0.0, wall_clock_s() - kWeek_s)));
  if (!from_ms) return base::failure(from_ms.error());
  std::string query = fmt::format("/v1/jobs?past=1&limit={}&from_s={:.3f}", arguments.limit,
                                  static_cast<double>(*from_ms) / 1000);
  if (!arguments.to.empty()) {
    const auto to_ms = parse_moment_ms("--to", arguments.to);
    if (!to_ms) return base::failure(to_ms.error());
    query += fmt::format("&to_s={:.3f}", static_cast<double>(*to_ms) / 1000);
  }
  if (arguments.all) query += "&all=1";
  if (!arguments.all && !arguments.user.empty() && arguments.user != "me") {
    query += "&user=" + base::http::url_part(arguments.user);
  }
  const auto answer = get_json(client, query);
  if (!answer) return base::failure(answer.error());
  std::vector<JobRow> rows = job_rows(*answer);
  std::ranges::reverse(rows);  // the daemon begins with the last
  for (JobRow& row : rows) row.is_past = true;
  return rows;
}

int run_eff(const EffArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  int code = 0;
  const auto rows = arguments.names.empty() ? recent_jobs(*client, arguments)
                                            : named_jobs(*client, arguments, code);
  if (!rows) return report_error(rows.error());
  std::vector<JobUse> jobs;
  for (const JobRow& row : *rows) {
    const auto details =
        get_json(*client, "/v1/jobs/" + (row.is_past ? row.id : fmt::format("{}", row.job)));
    if (!details) {
      code = report_error(details.error());
      if (client->last_status() == 0) return code;
      continue;
    }
    // Jobs that never ran used nothing.
    JobUse use = job_use(*details, wall_clock_s());
    if (use.job.held_s > 0 || !arguments.names.empty()) jobs.push_back(std::move(use));
  }
  if (jobs.empty() && code != 0) return code;
  fmt::print("{}",
             arguments.json_out ? use_json(jobs).dump(2) + "\n" : use_table(jobs, output_style()));
  std::fflush(stdout);
  if (arguments.names.empty() && static_cast<int64_t>(rows->size()) == arguments.limit) {
    fmt::print(stderr, "goban: note: the last {}; --limit, --from and --to select others\n",
               arguments.limit);
  }
  return code;
}

}  // namespace

void add_eff(Command& app, Action& action) {
  auto arguments = std::make_shared<EffArguments>();
  Command* c = app.add_subcommand("eff", "Show how much of their allocation jobs used");
  c->add_option(
      "JOB", arguments->names,
      "Jobs: 7 for a job or a whole array, 7_2 or 7_[0-3] (default: yours of the last week)");
  c->add_option("-u,--user", arguments->user,
                "Finished jobs of this user (operators; default: your own)")
      ->type_name("USER");
  c->add_flag("--all", arguments->all, "Finished jobs of all users (operators)");
  c->add_option("--from", arguments->from,
                "Jobs that ended at or after this time (default: a week ago)");
  c->add_option("--to", arguments->to, "Jobs that ended before this time");
  c->add_option("-n,--limit", arguments->limit, "Maximum number of jobs: those that ended last")
      ->range(1, 10'000)
      ->type_name("N")
      ->capture_default_str();
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "GPU USE is the mean utilisation of the job's GPUs, CPU USE the share of its cores that was\n"
      "busy, MEMORY and GPU MEMORY are maxima. A dash: not measured, or nothing was requested. On "
      "a\n"
      "terminal, uses below 25 % are red.\n\n"
      "Examples:\n"
      "  goban eff 7\n"
      "  goban eff                          # your finished jobs of the last week\n"
      "  goban eff --user anna --from 2026-11-01 --json\n"
      "Exit codes: 0 success, 1 failure, unknown job, permission denied or no daemon, 2 usage\n"
      "error.");
  c->callback([arguments, &action] { action = [arguments] { return run_eff(*arguments); }; });
}

}  // namespace goban::cli
