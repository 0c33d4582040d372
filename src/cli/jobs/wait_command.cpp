// goban wait: waits until jobs have finished and returns their exit code.
#include "cli/jobs/wait_command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/job_end.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;
using WaitClock = std::chrono::steady_clock;
using WaitUntil = std::optional<WaitClock::time_point>;

constexpr int kExitTimedOut = 124;  ///< as that of timeout(1)

struct WaitArguments {
  std::string server;
  JobChoice choice;
  std::optional<std::string> timeout;
  bool json_out = false;
  bool quiet = false;
};

/// The jobs that are waited for, by number, as they were last read.
class WaitedJobs {
 public:
  WaitedJobs(const std::vector<JobRow>& jobs, bool is_quiet) : is_quiet_(is_quiet) {
    for (const JobRow& job : jobs) open_.emplace(job.job, job);
  }
  [[nodiscard]] bool are_over() const { return open_.empty(); }
  /// Reads the unfinished jobs. Errors: those of the client; Failed if one is unknown.
  base::Status look(serve::api::ApiClient& client);
  /// The highest exit code of the finished jobs; 0 if there is none.
  [[nodiscard]] int exit_code() const { return exit_code_; }
  [[nodiscard]] json list() const;

 private:
  void end(const json& job);
  /// Reads the open jobs that `missing_` contains.
  base::Status read(serve::api::ApiClient& client, const std::string& source);
  /// Queries of bounded length: many tasks of an array are one, by the array's number.
  [[nodiscard]] std::vector<std::string> queries() const;

  bool is_quiet_;
  std::map<uint32_t, JobRow> open_;
  std::map<uint32_t, JobRow> missing_;  ///< of the open ones: not found yet by look()
  std::map<uint32_t, json> last_;
  int exit_code_ = 0;
};

std::vector<std::string> WaitedJobs::queries() const {
  constexpr size_t kTasksMax = 20;
  constexpr size_t kNamesMax = 200;
  std::map<uint32_t, size_t> tasks;
  for (const auto& [number, job] : missing_) ++tasks[array_of(job)];
  std::vector<std::string> names;
  std::vector<std::string> out;
  for (const auto& [number, job] : missing_) {
    const uint32_t array = array_of(job);
    const bool is_single = array == 0 || tasks.at(array) <= kTasksMax;
    if (is_single) names.push_back(job.id);
    const std::string whole = fmt::format("{}", array);
    if (!is_single && (out.empty() || out.back() != whole)) out.push_back(whole);
  }
  for (size_t i = 0; i < names.size(); i += kNamesMax) {
    const size_t count = std::min(names.size() - i, kNamesMax);
    out.push_back(fmt::format("{}", fmt::join(names.data() + i, names.data() + i + count, ",")));
  }
  return out;
}

void WaitedJobs::end(const json& job) {
  const JobRow row = job_row(job);
  exit_code_ = std::max(exit_code_, exit_code_of(job));
  open_.erase(row.job);
  if (is_quiet_) return;
  const std::string how = row.exit_code > 0 ? fmt::format(", exit code {}", row.exit_code)
                          : row.signal > 0  ? fmt::format(", signal {}", row.signal)
                                            : std::string();
  fmt::print("{} {}{}\n", row.id, printable(state_text(row)), how);
  std::fflush(stdout);
}

base::Status WaitedJobs::read(serve::api::ApiClient& client, const std::string& source) {
  for (const std::string& names : queries()) {
    const auto answer =
        get_json(client, fmt::format("/v1/jobs?{}all=1&limit=10000&job={}", source, names));
    if (!answer) return base::failure(answer.error());
    for (const json& job : list_of(*answer, "jobs")) {
      const JobRow row = job_row(job);
      if (missing_.erase(row.job) == 0) continue;
      last_[row.job] = job;
      if (row.is_over()) end(job);
    }
  }
  return {};
}

base::Status WaitedJobs::look(serve::api::ApiClient& client) {
  missing_ = open_;
  if (auto status = read(client, ""); !status) return status;
  // The remaining ones ended so long ago that only the history has them.
  if (auto status = read(client, "past=1&"); !status) return status;
  if (missing_.empty()) return {};
  return base::failure(unknown_job(missing_.begin()->second.id));
}

json WaitedJobs::list() const {
  json out = json::array();
  for (const auto& [number, job] : last_) out.push_back(job);
  return out;
}

/// The time at which to give up; none: never. Errors: Usage.
base::Result<WaitUntil> end_of_patience(const std::optional<std::string>& given) {
  if (!given) return WaitUntil{};
  const std::string& text = *given;
  const auto timeout = base::parse_duration(text);
  if (!timeout) {
    return base::usage_error(fmt::format("--timeout '{}': {}", text, timeout.error().message),
                             "such as 90s, 2h or 1d");
  }
  return WaitUntil(WaitClock::now() + std::chrono::nanoseconds(*timeout));
}

/// No request takes much longer than until then, also if the daemon does not answer.
void limit_requests(serve::api::ApiClient& client, const WaitUntil& until) {
  constexpr double kLeast_s = 2;
  constexpr double kUsual_s = 10;
  if (!until) return;
  const std::chrono::duration<double> left = *until - WaitClock::now();
  client.set_timeout(std::clamp(left.count(), kLeast_s, kUsual_s));
}

int run_wait(const WaitArguments& arguments) {
  const auto until = end_of_patience(arguments.timeout);
  if (!until) return report_error(until.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  limit_requests(*client, *until);
  auto chosen = ask_for_jobs(*client, arguments.choice);
  if (!chosen) return report_error(chosen.error());
  if (const auto status = add_past_jobs(*client, arguments.choice, *chosen); !status) {
    return report_error(status.error());
  }
  for (const std::string& name : chosen->unknown) report_error(unknown_job(name));
  if (!chosen->unknown.empty()) return 1;
  WaitedJobs jobs(chosen->jobs, arguments.json_out || arguments.quiet);
  const auto is_late = [&] { return *until && WaitClock::now() >= **until; };
  constexpr double kLookEvery_s = 1;
  const auto watched = watch_jobs(
      arguments.server, kLookEvery_s,
      [&](serve::api::ApiClient& again) -> base::Result<bool> {
        limit_requests(again, *until);
        if (auto status = jobs.look(again); !status) return base::failure(status.error());
        return !jobs.are_over() && !is_late();
      },
      *until);
  if (!watched) return report_error(watched.error());
  if (arguments.json_out) fmt::print("{}\n", jobs.list().dump(2));
  if (jobs.are_over()) return jobs.exit_code();
  if (!is_late()) return kExitInterrupted;
  std::fflush(stdout);
  fmt::print(stderr, "goban: not finished after {}\n", arguments.timeout.value_or(""));
  return kExitTimedOut;
}

}  // namespace

int wait_for_job(const std::string& server, uint32_t job) {
  WaitArguments arguments;
  arguments.server = server;
  arguments.choice.names = {fmt::format("{}", job)};
  arguments.quiet = true;
  return run_wait(arguments);
}

void add_wait(Command& app, Action& action) {
  auto arguments = std::make_shared<WaitArguments>();
  Command* c = app.add_subcommand("wait", "Wait until jobs have finished");
  add_job_choice(*c, arguments->choice, "Wait for");
  c->add_option("--timeout", arguments->timeout, "Maximum time to wait, such as 2h (default: none)")
      ->type_name("TIME");
  c->add_flag("--json", arguments->json_out,
              "Print JSON only: the jobs as they were at the end of the wait");
  add_server_option(*c, arguments->server);
  c->footer(
      "Prints a line for each job when it finishes. Ctrl-C ends the wait, not the jobs. If the\n"
      "daemon restarts meanwhile, the command waits for it (a minute, or $GOBAN_PATIENCE_S "
      "seconds).\n"
      "With --user and --all it waits for the jobs that are unfinished now.\n\n"
      "Examples:\n"
      "  goban wait 7 && goban submit evaluate.sh\n"
      "  goban wait 3 5 '7_[0-3]' --timeout 2h\n"
      "  goban wait --user me --json\n"
      "Exit codes: that of the job, 128 + the signal that ended it, 1 if it ended without either;\n"
      "the highest of several jobs; 124 after the timeout, 130 interrupted; 1 also for an unknown\n"
      "job or no daemon, 2 usage error.");
  c->callback([arguments, &action] { action = [arguments] { return run_wait(*arguments); }; });
}

}  // namespace goban::cli
