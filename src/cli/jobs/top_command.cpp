// goban top and goban stats: the current state of the cluster.
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/jobs/top_text.hpp"

namespace goban::cli {
namespace {

using base::Result;
using nlohmann::json;

struct TopArguments {
  std::string server;
  double every_s = 2;
  bool once = false;
  bool json_out = false;
};

/// Usable lines of the terminal; 0 if stdout is not a terminal.
size_t terminal_lines() {
  winsize window{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return 0;
  return window.ws_row > 1 ? window.ws_row - 1U : 0U;
}

Result<std::string> top(serve::api::ApiClient& client, bool json_out) {
  const auto cluster = get_json(client, "/v1/cluster");
  if (!cluster) return base::failure(cluster.error());
  const auto stats = get_json(client, "/v1/stats");
  if (!stats) return base::failure(stats.error());
  const std::string query = std::string(kUnfinished) + "&all=1";
  const auto jobs = json_out ? list_jobs(client, query) : ask_for_queue(client, query, kQueueShown);
  if (!jobs) return base::failure(jobs.error());
  if (json_out) {
    return json{{"cluster", *cluster}, {"stats", *stats}, {"jobs", *jobs}}.dump(2) + "\n";
  }
  return top_text(*cluster, *jobs, *stats, wall_clock_s(), terminal_lines(), output_style());
}

int run_top(const TopArguments& arguments) {
  const bool once = arguments.once || arguments.json_out;
  const auto drawn = redraw_on_change(arguments.server, arguments.every_s,
                                      [&](serve::api::ApiClient& client) -> Result<bool> {
                                        const auto text = top(client, arguments.json_out);
                                        if (!text) return base::failure(text.error());
                                        if (once) {
                                          fmt::print("{}", *text);
                                        } else {
                                          show_screen(*text);
                                        }
                                        return !once;
                                      });
  return drawn ? 0 : report_error(drawn.error());
}

int run_stats(const TopArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto stats = get_json(*client, "/v1/stats");
  if (!stats) return report_error(stats.error());
  fmt::print("{}", arguments.json_out ? stats->dump(2) + "\n" : stats_text(*stats));
  return 0;
}

}  // namespace

void add_top(Command& app, Action& action) {
  auto arguments = std::make_shared<TopArguments>();
  Command* c = app.add_subcommand("top", "Watch GPUs and jobs");
  c->add_option("--every", arguments->every_s,
                "Maximum interval between refreshes, in seconds (default 2)")
      ->range(0.2, 3600.0)
      ->type_name("SECONDS");
  c->add_flag("--once", arguments->once, "Print once and exit");
  c->add_flag("--json", arguments->json_out, "Print JSON once and exit");
  add_server_option(*c, arguments->server);
  c->footer(
      "Press Ctrl-C to exit. A PM score of 1 is the median GPU; 1.2 takes 1.2 times as long.\n\n"
      "Examples:\n"
      "  goban top\n"
      "  goban top --once\n"
      "Exit codes: 0 success, 1 failure or no daemon, 2 usage error.");
  c->callback([arguments, &action] { action = [arguments] { return run_top(*arguments); }; });

  auto of_stats = std::make_shared<TopArguments>();
  Command* stats = app.add_subcommand("stats", "Print statistics of jobs, GPUs and decisions");
  stats->add_flag("--json", of_stats->json_out, "Print JSON only");
  add_server_option(*stats, of_stats->server);
  stats->footer(
      "Example:\n"
      "  goban stats\n"
      "Exit codes: 0 success, 1 failure or no daemon, 2 usage error.");
  stats->callback([of_stats, &action] { action = [of_stats] { return run_stats(*of_stats); }; });
}

}  // namespace goban::cli
