// goban cancel, hold, release, requeue, alter, suspend, resume: apply one change to several jobs.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/jobs/slurm_commands.hpp"
#include "live/job/request_values.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;

struct Change {
  const char* name;
  const char* help;
  const char* verb;  ///< in the help of --user and --all
  const char* done;  ///< printed before each changed job
  const char* more;  ///< notes and examples of its help
};

struct ChangeArguments {
  std::string server;
  JobChoice choice;
  bool json_out = false;
  bool now = false;                 ///< cancel
  bool results = false;             ///< cancel: of ended jobs
  std::optional<std::string> time;  ///< alter, like those below
  std::optional<int64_t> priority;
  std::optional<int64_t> throttle;
};

constexpr int kBadRequest = 400;
constexpr int kForbidden = 403;
constexpr int kConflict = 409;
/// Statuses with which the daemon refuses to change a job, as opposed to its own trouble.
constexpr int kRefusals[] = {kBadRequest, kForbidden, 404, kConflict};

/// `status`: with which the daemon refused it; a value that it refused is invalid input.
base::Error failure_of(std::string message, int status = kConflict) {
  return {.code = status == kBadRequest ? base::ErrorCode::BadData : base::ErrorCode::Failed,
          .message = std::move(message),
          .place = {},
          .remedy = {}};
}

/// One request: for jobs, which are changed as one, or for all unfinished tasks of an array.
struct Request {
  std::vector<JobRow> jobs{};
  bool array = false;
};

/// From the last job to the first, so that no waiting job starts on the GPUs of a cancelled one.
/// `of_ended`: what is changed are ended jobs.
std::vector<Request> requests_for(const ChosenJobs& chosen, bool of_ended) {
  constexpr size_t kJobsMax = 200;
  std::vector<Request> out;
  for (const JobRow& job : chosen.jobs) {
    const uint32_t array = array_of(job);
    const bool whole = std::binary_search(chosen.arrays.begin(), chosen.arrays.end(), array);
    if (whole && job.is_over() != of_ended) continue;
    const bool same_kind = !out.empty() && out.back().array == whole;
    const bool goes_on = same_kind && (whole ? array_of(out.back().jobs.front()) == array
                                             : out.back().jobs.size() < kJobsMax);
    if (!goes_on) out.push_back({.jobs = {}, .array = whole});
    out.back().jobs.push_back(job);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

class Round {
 public:
  /// `body` of the requests: empty except for alter.
  Round(serve::api::ApiClient& client, const Change& change, const ChangeArguments& arguments,
        std::string body)
      : client_(client), change_(change), arguments_(arguments), body_(std::move(body)) {
    // An array is one request, and may have thousands of tasks.
    constexpr double kLong_s = 600;
    client_.set_timeout(kLong_s);
  }
  /// False: the daemon does not answer.
  bool ask(const Request& request);
  int finish();
  void complain(const base::Error& error) { code_ = std::max(code_, report_error(error)); }

 private:
  void take_answer(const Request& request, const json& answer);
  void take_refusal(const Request& request, base::Error error);
  /// Passes over jobs of a bulk request that cannot be changed, or reports them one by one.
  void leave(const Request& request, const JobRow& job, size_t count, int status,
             base::Error error);
  /// Printed before each changed job.
  [[nodiscard]] const char* done_words() const {
    return arguments_.results ? "gave up the results of" : change_.done;
  }
  [[nodiscard]] std::string query_of(const Request& request) const;
  [[nodiscard]] bool is(std::string_view name) const { return name == change_.name; }

  serve::api::ApiClient& client_;
  const Change& change_;
  const ChangeArguments& arguments_;
  std::string body_;
  std::map<uint32_t, std::string> done_{};  ///< names by number
  size_t not_ours_ = 0;
  size_t not_held_ = 0;
  size_t unfit_ = 0;
  std::string why_unfit_{};  ///< the first one and its reason
  int unfit_code_ = 1;
  int code_ = 0;
};

bool Round::ask(const Request& request) {
  std::string names;
  for (const JobRow& job : request.jobs) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", job.job);
    if (request.array) break;
  }
  const std::string path = fmt::format("/v1/jobs/{}{}{}{}", names, is("cancel") ? "" : "/",
                                       is("cancel") ? "" : change_.name, query_of(request));
  auto answer = is("cancel") ? client_.remove(path) : client_.post(path, body_);
  if (answer) {
    take_answer(request, json::parse(*answer, nullptr, false));
    return true;
  }
  take_refusal(request, std::move(answer.error()));
  return client_.last_status() != 0;
}

std::string Round::query_of(const Request& request) const {
  std::vector<const char*> parts;
  if (request.array) parts.push_back("array=1");
  if (arguments_.now) parts.push_back("now=1");
  if (arguments_.results) parts.push_back("results=1");
  return parts.empty() ? std::string{} : fmt::format("?{}", fmt::join(parts, "&"));
}

void Round::take_answer(const Request& request, const json& answer) {
  std::set<double> changed;
  for (const json& each : list_of(answer, "jobs")) {
    if (each.is_number()) changed.insert(each.get<double>());
  }
  std::map<double, const json*> left;
  for (const json& each : list_of(answer, "left")) left[number_of(each, "job")] = &each;
  const bool is_single = !request.array && request.jobs.size() == 1;
  std::vector<std::string> tasks;
  for (const JobRow& job : request.jobs) {
    if (is_single || changed.contains(job.job)) {
      done_[job.job] = job.id;
      if (request.array) {
        tasks.push_back(job.id);
      } else if (!arguments_.json_out) {
        fmt::print("{} {}\n", done_words(), job.id);
      }
    } else if (const auto found = left.find(job.job); found != left.end()) {
      const int status = static_cast<int>(number_of(*found->second, "status", kConflict));
      leave(request, job, 1, status, failure_of(text_of(*found->second, "message"), status));
    } else if (is("release")) {
      ++not_held_;
    }
  }
  if (tasks.empty() || arguments_.json_out) return;
  if (tasks.size() == 1) {
    fmt::print("{} {}\n", done_words(), tasks.front());
  } else {
    fmt::print("{} {} tasks of array {}\n", done_words(), tasks.size(),
               array_of(request.jobs.front()));
  }
}

void Round::leave(const Request& request, const JobRow& job, size_t count, int status,
                  base::Error error) {
  const bool is_bulk = request.array || arguments_.choice.names.empty();
  const std::string what = count == 1      ? fmt::format("job {}", job.id)
                           : request.array ? fmt::format("array {}", array_of(job))
                                           : base::counted(count, "job");
  const bool is_refusal = std::ranges::find(kRefusals, status) != std::end(kRefusals);
  if (!is_bulk || !is_refusal) {
    error.message = fmt::format("{}: {}", what, error.message);
    complain(error);
  } else if (status == kForbidden && !is("suspend") && !is("resume")) {
    not_ours_ += count;
  } else if (status == kConflict && is("release")) {
    not_held_ += count;
  } else {
    if (unfit_ == 0) why_unfit_ = fmt::format("{}: {}", what, error.text());
    unfit_code_ = std::max(unfit_code_, static_cast<int>(error.code));
    unfit_ += count;
  }
}

void Round::take_refusal(const Request& request, base::Error error) {
  const JobRow& first = request.jobs.front();
  if (is("cancel") && !arguments_.results && request.jobs.size() == 1 && !request.array &&
      is_for_scancel(first.engine_id, error.remedy)) {
    // Slurm knows whether the caller may.
    if (const auto ended = cancel_by_scancel(first.engine_id, arguments_.server); !ended) {
      error = ended.error();
    } else {
      done_[first.job] = first.id;
      if (!arguments_.json_out) fmt::print("{} {}\n", change_.done, first.id);
      return;
    }
  }
  leave(request, request.jobs.front(), request.jobs.size(), client_.last_status(),
        std::move(error));
}

int Round::finish() {
  if (arguments_.json_out) {
    json names = json::array();
    for (const auto& [number, name] : done_) names.push_back(name);
    fmt::print("{}\n", json{{"jobs", std::move(names)}}.dump());
  }
  std::fflush(stdout);
  std::vector<std::string> left;
  if (not_held_ > 0)
    left.push_back(base::counted(not_held_, "job was not held", "jobs were not held"));
  if (not_ours_ > 0)
    left.push_back(base::counted(not_ours_, "job of another user", "jobs of other users"));
  if (unfit_ > 0) {
    left.push_back(fmt::format("{} not be {} ({}{})",
                               base::counted(unfit_, "job could", "jobs could"), change_.done,
                               unfit_ > 1 ? "first " : "", why_unfit_));
  }
  if (!left.empty()) fmt::print(stderr, "goban: {}\n", fmt::join(left, "; "));
  // Who releases all is content if none was held.
  const bool did_nothing = done_.empty() && not_ours_ + unfit_ > 0;
  return did_nothing ? std::max(code_, unfit_code_) : code_;
}

/// The values that alter sets. Errors: Usage.
base::Result<std::string> alteration(const ChangeArguments& arguments) {
  json body = json::object();
  if (arguments.time) {
    const auto time_ns = live::job::parse_span(*arguments.time);
    if (!time_ns) {
      return base::usage_error("--time: " + time_ns.error().message, time_ns.error().remedy);
    }
    if (*time_ns < base::kSecond) {
      return base::usage_error(fmt::format("--time '{}' is less than a second", *arguments.time),
                               "such as 90m, 12h or 1:30:00");
    }
    body["walltime_s"] = base::to_seconds(*time_ns);
  }
  if (arguments.priority) body["priority"] = *arguments.priority;
  if (arguments.throttle) body["array_limit"] = *arguments.throttle;
  if (body.empty()) {
    return base::usage_error("nothing to change", "give --time, --priority or --throttle");
  }
  return body.dump();
}

/// When a job, or the last task of an array, ended that the daemon has in its history only; empty
/// if there is none.
std::string past_end(serve::api::ApiClient& client, const std::string& name) {
  ChosenJobs past{.jobs = {}, .arrays = {}, .unknown = {name}};
  if (!add_past_jobs(client, {}, past) || past.jobs.empty()) return {};
  const JobRow& last = *std::ranges::max_element(past.jobs, {}, &JobRow::end_s);
  const base::TimeNs end_ns = base::unix_to_local(base::from_seconds(last.end_s));
  return fmt::format("job {} ended on {} ({})", last.id, base::date_time_text(end_ns),
                     state_text(last));
}

int run(const Change& change, const ChangeArguments& arguments) {
  const bool alters = change.name == std::string_view("alter");
  if (arguments.results && (arguments.choice.names.empty() || arguments.now)) {
    return report_error(
        base::usage_error("--results names ended jobs, and goes without --user, --all and --now",
                          "goban cancel --results 12")
            .value());
  }
  const auto body = alters ? alteration(arguments) : std::string();
  if (!body) return report_error(body.error());
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto chosen = ask_for_jobs(*client, arguments.choice);
  if (!chosen) return report_error(chosen.error());
  Round round(*client, change, arguments, *body);
  for (const std::string& name : chosen->unknown) {
    const auto ended = past_end(*client, name);
    round.complain(ended.empty() ? unknown_job(name) : failure_of(ended));
  }
  if (chosen->jobs.empty() && chosen->unknown.empty()) {
    const std::string& user = arguments.choice.user;
    const bool is_other = !user.empty() && user != "me";
    if (is_other)
      return report_error(failure_of(fmt::format("user {} has no unfinished jobs", user)));
    fmt::print(stderr, "goban: no such jobs\n");
  }
  for (const Request& request : requests_for(*chosen, arguments.results)) {
    if (!round.ask(request)) break;
  }
  return round.finish();
}

constexpr Change kChanges[] = {
    {"cancel", "Cancel running and waiting jobs", "Cancel", "cancelled",
     "A running job receives its checkpoint signal, if it has one (--signal), then SIGTERM, then\n"
     "SIGKILL. A second cancel of the same job goes on to the next of these steps; --now kills\n"
     "at once.\n\n"
     "Examples:\n"
     "  goban cancel 3 5 7_2\n"
     "  goban cancel 3 --now\n"
     "  goban cancel 7            # all tasks of array 7\n"
     "  goban cancel --user me\n"
     "  goban cancel --results 12 # job 12 has ended: its results stay on the fast tier\n"},
    {"hold", "Hold waiting jobs until they are released", "Hold", "held",
     "Examples:\n"
     "  goban hold 3\n"
     "  goban hold '7_[4-9]'\n"},
    {"release", "Release held jobs", "Release", "released",
     "Examples:\n"
     "  goban release 3\n"
     "  goban release --user me\n"},
    {"requeue", "Stop running jobs and put them back into the queue", "Requeue", "requeued",
     "A requeued job keeps its number; GOBAN_RESTARTS in its environment counts the restarts.\n\n"
     "Example:\n"
     "  goban requeue 3\n"},
    {"alter", "Change waiting jobs: walltime limit, priority, tasks at once", "Change", "changed",
     "Limit and priority of a job can be changed until it starts; --throttle applies to the whole\n"
     "array, and its running tasks continue. A changed job keeps its submission time. The site's\n"
     "maxima are those of goban submit.\n\n"
     "Examples:\n"
     "  goban alter 3 --time 2h --priority -5\n"
     "  goban alter 7 --throttle 4      # at most four tasks of array 7 at once\n"},
    {"suspend", "Suspend running jobs", "Suspend", "suspended",
     "The processes of the job stop; it keeps its GPUs and its memory, and its time limit pauses.\n"
     "Requires the role operator.\n\n"
     "Example:\n"
     "  goban suspend 3\n"},
    {"resume", "Resume suspended jobs", "Resume", "resumed",
     "Requires the role operator. Nodes return to service with goban nodes resume.\n\n"
     "Example:\n"
     "  goban resume 3\n"},
};

void add_alterations(Command& command, ChangeArguments& arguments) {
  command.add_option("-t,--time", arguments.time, "Walltime limit, such as 90m or 12h")
      ->type_name("TIME");
  command
      .add_option("--priority", arguments.priority,
                  "Priority; users may lower it, or raise it to the site's maximum (0)")
      ->range(-1'000'000'000, 1'000'000'000);
  command
      .add_option("--throttle", arguments.throttle,
                  "Number of tasks of its array that run at once; 0: no limit")
      ->range(0, 1'000'000);
}

}  // namespace

void add_job_actions(Command& app, Action& action) {
  for (const Change& change : kChanges) {
    auto arguments = std::make_shared<ChangeArguments>();
    Command* c = app.add_subcommand(change.name, change.help);
    add_job_choice(*c, arguments->choice, change.verb);
    if (change.name == std::string_view("cancel")) {
      c->add_flag("--now", arguments->now, "Kill at once, without the job's signal and grace");
      c->add_flag(
          "--results", arguments->results,
          "Give up copying the results of ended jobs (--stage-out); they stay where they are");
    }
    if (change.name == std::string_view("alter")) add_alterations(*c, *arguments);
    c->add_flag("--json", arguments->json_out, "Print JSON only");
    add_server_option(*c, arguments->server);
    c->footer(
        std::string(change.more) +
        "With --user, --all or an array, jobs that cannot be changed are counted and passed over.\n"
        "Exit codes: 0 success for all named jobs, or for some of --user, --all or an array; 1\n"
        "failure, unknown job, another user's job, or no daemon; 2 usage error; 3 a value was "
        "refused.");
    c->callback([&change, arguments, &action] {
      action = [&change, arguments] { return run(change, *arguments); };
    });
  }
}

}  // namespace goban::cli
