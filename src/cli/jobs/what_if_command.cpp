// goban whatif: what a job would wait for if it were submitted now, and replays of the recent jobs
// of a running daemon under other policies.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_forecast.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;

struct WhatIfArguments {
  std::string server;
  std::vector<std::string> policies;
  ForecastQuestion job;
  double days = 7;
  bool json_out = false;
};

/// A value as text; "-" if it is unknown.
std::string cell(const json& row, const char* name, bool is_time) {
  const double value = number_of(row, name, -1);
  if (value < 0) return "-";
  return is_time ? clock_text(value) : fmt::format("{:.4g}", value);
}

std::string table_of(const json& answer) {
  const json rows = list_of(answer, "policies");
  bool has_energy = false;
  for (const json& row : rows) has_energy = has_energy || row.contains("jobs_kwh");
  std::vector<TextTable::Column> columns = {
      {.title = "policy"},
      {.title = "avg JCT", .right = true},
      {.title = "p99 JCT", .right = true},
      {.title = "avg wait", .right = true},
      {.title = "makespan", .right = true},
      {.title = "GPU h", .right = true},
      {.title = "preempted", .right = true},
  };
  if (has_energy) columns.push_back({.title = "kWh", .right = true});
  TextTable table(std::move(columns));
  for (const json& row : rows) {
    std::vector<std::string> cells = {text_of(row, "policy"),         cell(row, "avg_jct_s", true),
                                      cell(row, "p99_jct_s", true),   cell(row, "avg_wait_s", true),
                                      cell(row, "makespan_s", true),  cell(row, "gpu_hours", false),
                                      cell(row, "preemptions", false)};
    if (has_energy) cells.push_back(cell(row, "jobs_kwh", false));
    table.add(std::move(cells));
  }
  const double left_out = number_of(answer, "left_out");
  return fmt::format(
      "{} of the last {:g} days{}\n\n{}", base::counted(number_of(answer, "jobs"), "job"),
      number_of(answer, "days"),
      left_out > 0 ? fmt::format(", {} excluded", base::counted(left_out, "record")) : "",
      table.text(output_style()));
}

int run_forecast(const WhatIfArguments& arguments) {
  const auto jobs = forecast_jobs(arguments.job);
  if (!jobs) return report_error(jobs.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  constexpr double kTimeout_s = 120;
  client->set_timeout(kTimeout_s);
  const auto answer = ask_for_forecast(*client, *jobs);
  if (!answer) return report_error(answer.error());
  fmt::print("{}", arguments.json_out ? answer->dump(2) + "\n" : forecast_table(*answer));
  return 0;
}

int run(const WhatIfArguments& arguments) {
  if (arguments.policies.empty() == arguments.job.num_gpus.empty()) {
    return report_error(
        base::usage_error("name either --gpus or --policy",
                          "goban whatif --gpus 4,8 --time 2h,24h, or --policy las+pal")
            .value());
  }
  if (!arguments.job.num_gpus.empty()) return run_forecast(arguments);
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  constexpr double kTimeout_s = 60;  // longer than the limit of the daemon
  client->set_timeout(kTimeout_s);
  const auto answer = post_json(*client, "/v1/whatif",
                                {{"policies", arguments.policies}, {"days", arguments.days}});
  if (!answer) return report_error(answer.error());
  fmt::print("{}", arguments.json_out ? answer->dump(2) + "\n" : table_of(*answer));
  return 0;
}

}  // namespace

void add_what_if(Command& app, Action& action) {
  auto arguments = std::make_shared<WhatIfArguments>();
  Command* c = app.add_subcommand(
      "whatif", "Forecast jobs that are not submitted, or replay recent jobs under other policies");
  c->add_option("--gpus", arguments->job.num_gpus, "Numbers of GPUs to compare")
      ->delimiter(',')
      ->type_name("N,...");
  c->add_option("-t,--time", arguments->job.limits, "Walltime limits to compare")
      ->delimiter(',')
      ->type_name("TIME,...");
  c->add_option("--name", arguments->job.name, "Name of the job");
  c->add_option("--model", arguments->job.model, "Model that it trains");
  c->add_option("--account", arguments->job.account, "Account of the job");
  c->add_option("--partition", arguments->job.partition, "Partition of the job");
  c->add_option("-p,--policy", arguments->policies, "Policies to compare (see goban policies)")
      ->delimiter(',')
      ->type_name("POLICY,...");
  c->add_option("--days", arguments->days, "Length of the replayed period, in days")
      ->range(0.001, 366.0)
      ->capture_default_str();
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  add_server_option(*c, arguments->server);
  c->footer(
      "With --gpus: when would such a job of yours start, and how long would it run? A copy of "
      "the\n"
      "scheduler runs ahead 20 times with predicted run times (see goban predict), which gives\n"
      "median and 80 % interval. It does not know later submissions; the accuracy of earlier\n"
      "forecasts corrects for them.\n\n"
      "Examples:\n"
      "  goban whatif --gpus 8,4 --time 24h,2h --name train\n"
      "  goban whatif --policy fifo+packed,las+pal\n"
      "  goban whatif --policy goban --days 30 --json\n"
      "--policy requires the role operator or viewer. Jobs keep their recorded durations; every "
      "GPU is\n"
      "simulated as the median GPU. goban simulate on the history store has more options.\n"
      "Exit codes: 0 success, 1 failure, timeout or no daemon, 2 usage error, 3 request rejected.");
  c->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace goban::cli
