// goban cancel, hold, release, requeue: apply one change to several jobs.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "cli/jobs/commands.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/live_client.hpp"

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
};

constexpr int kForbidden = 403;
constexpr int kConflict = 409;

/// One request: for a job, or for all unfinished tasks of an array.
struct Request {
  std::vector<JobRow> jobs{};
  bool array = false;
};

/// From the last job to the first, so that no waiting job starts on the GPUs of a cancelled one.
std::vector<Request> requests_for(const ChosenJobs& chosen) {
  std::vector<Request> out;
  for (const JobRow& job : chosen.jobs) {
    const uint32_t array = array_of(job);
    const bool whole = std::binary_search(chosen.arrays.begin(), chosen.arrays.end(), array);
    if (whole && job.is_over()) continue;
    const bool goes_on =
        whole && !out.empty() && out.back().array && array_of(out.back().jobs.front()) == array;
    if (!goes_on) out.push_back({.jobs = {}, .array = whole});
    out.back().jobs.push_back(job);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

class Round {
 public:
  Round(serve::api::ApiClient& client, const Change& change, const ChangeArguments& arguments)
      : client_(client), change_(change), arguments_(arguments) {
    // An array is one request, and may have thousands of tasks.
    constexpr double kLong_s = 600;
    client_.set_timeout(kLong_s);
  }
  /// False: the daemon does not answer.
  bool ask(const Request& request);
  int finish();
  void complain(const base::Error& error) { code_ = report_error(error); }

 private:
  void take_answer(const Request& request, const json& answer);
  void take_refusal(const Request& request, base::Error error);
  [[nodiscard]] bool is(std::string_view name) const { return name == change_.name; }

  serve::api::ApiClient& client_;
  const Change& change_;
  const ChangeArguments& arguments_;
  std::map<uint32_t, std::string> done_{};  ///< names by number
  size_t not_ours_ = 0;
  size_t not_held_ = 0;
  int code_ = 0;
};

bool Round::ask(const Request& request) {
  const std::string path =
      fmt::format("/v1/jobs/{}{}{}{}", request.jobs.front().job, is("cancel") ? "" : "/",
                  is("cancel") ? "" : change_.name, request.array ? "?array=1" : "");
  auto answer = is("cancel") ? client_.remove(path) : client_.post(path);
  if (answer) {
    take_answer(request, json::parse(*answer, nullptr, false));
    return true;
  }
  take_refusal(request, std::move(answer.error()));
  return client_.last_status() != 0;
}

void Round::take_answer(const Request& request, const json& answer) {
  std::set<double> changed;
  for (const json& each : list_of(answer, "jobs")) {
    if (each.is_number()) changed.insert(each.get<double>());
  }
  std::map<double, std::string> left;
  for (const json& each : list_of(answer, "left")) {
    left[number_of(each, "job")] = text_of(each, "message");
  }
  for (const JobRow& job : request.jobs) {
    if (!request.array || changed.contains(job.job)) {
      done_[job.job] = job.id;
      if (!arguments_.json_out) fmt::print("{} {}\n", change_.done, job.id);
    } else if (const auto found = left.find(job.job); found != left.end()) {
      complain({.code = base::ErrorCode::Failed,
                .message = fmt::format("job {}: {}", job.id, found->second),
                .place = {},
                .remedy = {}});
    } else if (is("release")) {
      ++not_held_;
    }
  }
}

void Round::take_refusal(const Request& request, base::Error error) {
  const bool swept = arguments_.choice.names.empty();
  const int status = client_.last_status();
  if (swept && status == kForbidden) {
    not_ours_ += request.jobs.size();
  } else if (swept && status == kConflict && is("release")) {
    not_held_ += request.jobs.size();
  } else {
    error.message = request.array
                        ? fmt::format("array {}: {}", array_of(request.jobs.front()), error.message)
                        : fmt::format("job {}: {}", request.jobs.front().id, error.message);
    complain(error);
  }
}

int Round::finish() {
  if (arguments_.json_out) {
    json names = json::array();
    for (const auto& [number, name] : done_) names.push_back(name);
    fmt::print("{}\n", json{{"jobs", std::move(names)}}.dump());
  }
  std::fflush(stdout);
  if (not_held_ > 0) fmt::print(stderr, "goban: {} jobs were not held\n", not_held_);
  if (not_ours_ > 0) fmt::print(stderr, "goban: {} jobs belong to other users\n", not_ours_);
  return code_;
}

int run(const Change& change, const ChangeArguments& arguments) {
  auto client = connect(arguments.server);
  if (!client) return report_error(client.error());
  const auto chosen = ask_for_jobs(*client, arguments.choice);
  if (!chosen) return report_error(chosen.error());
  Round round(*client, change, arguments);
  for (const std::string& problem : chosen->problems) {
    round.complain(
        {.code = base::ErrorCode::Failed, .message = problem, .place = {}, .remedy = {}});
  }
  if (chosen->jobs.empty() && chosen->problems.empty()) {
    fmt::print(stderr, "goban: no such jobs\n");
  }
  for (const Request& request : requests_for(*chosen)) {
    if (!round.ask(request)) break;
  }
  return round.finish();
}

constexpr Change kChanges[] = {
    {"cancel", "Cancel running and waiting jobs", "Cancel", "cancelled",
     "A running job receives its checkpoint signal, if it has one (--signal), then SIGTERM, then\n"
     "SIGKILL.\n\n"
     "Examples:\n"
     "  goban cancel 3 5 7_2\n"
     "  goban cancel 7            # all tasks of array 7\n"
     "  goban cancel --user me\n"},
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
};

}  // namespace

void add_job_actions(Command& app, Action& action) {
  for (const Change& change : kChanges) {
    auto arguments = std::make_shared<ChangeArguments>();
    Command* c = app.add_subcommand(change.name, change.help);
    add_job_choice(*c, arguments->choice, change.verb);
    c->add_flag("--json", arguments->json_out, "Print JSON only");
    add_server_option(*c, arguments->server);
    c->footer(
        std::string(change.more) +
        "Exit codes: 0 success for all jobs, 1 failure, unknown job, another user's job, or no\n"
        "daemon, 2 usage error.");
    c->callback([&change, arguments, &action] {
      action = [&change, arguments] { return run(change, *arguments); };
    });
  }
}

}  // namespace goban::cli
