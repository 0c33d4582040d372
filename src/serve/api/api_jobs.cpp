// /v1/jobs: submit, list, show, cancel, hold, release, requeue.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <pwd.h>
#include <unistd.h>
#include <utility>

#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "base/reports/run_reports_json.hpp"
#include "serve/api/api.hpp"
#include "serve/api/cpu_jobs.hpp"
#include "serve/api/job_view.hpp"
#include "serve/api/membership.hpp"
#include "serve/api/typed_jobs.hpp"

namespace goban::serve::api {

using live::controller::LiveJob;
using nlohmann::json;

namespace {
constexpr int64_t kPageDefault = 1000;
constexpr int64_t kPageMax = 10'000;

live::controller::Caller caller_of(const Identity& who, bool may) {
  return {.uid = who.owner.uid, .user = who.owner.user, .is_operator = may};
}

std::string home_of(const live::job::Owner& owner) {
  std::vector<char> room(64 << 10);
  passwd entry{};
  passwd* found = nullptr;
  const bool known =
      ::getpwuid_r(owner.uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known && entry.pw_dir != nullptr && entry.pw_dir[0] == '/' ? entry.pw_dir : "/";
}

/// The owner of a new job. Errors: Usage if the caller may not submit for that owner.
base::Result<live::job::Owner> owner_for(const Call& call, const ApiContext& context,
                                         const std::string& user) {
  live::job::Owner owner = call.who.owner;
  if (!user.empty() && user != owner.user) {
    if (!call.who.is_operator()) {
      return base::usage_error("only operators may submit for another user", "omit user");
    }
    base::Result<live::job::Owner> found = find_user(user);
    if (!found) return found;
    owner = std::move(*found);
  }
  if (owner.uid == UINT32_MAX) {
    return base::usage_error(fmt::format("{} is not a user of this machine", owner.user),
                             "set user to one");
  }
  if (!context.many_users && owner.uid != ::geteuid()) {
    return base::usage_error("this daemon runs only jobs of its own user",
                             "a daemon started by root runs the jobs of all users");
  }
  return owner;
}

base::http::Response submit(const Call& call, const ApiContext& context,
                            const core::model::Cluster& cluster) {
  if (!call.who.may_submit())
    return base::http::refusal(base::http::kForbidden, "viewers are not permitted to submit jobs");
  base::Result<SubmitRequest> submission = parse_submit_request(call.request.body, context.limits);
  if (!submission) return base::http::refusal(base::http::kBadRequest, submission.error());
  base::Result<live::job::Owner> owner = owner_for(call, context, submission->user);
  if (!owner) return base::http::refusal(base::http::kForbidden, owner.error());
  for (const live::job::JobSpec& job : submission->jobs) {
    if (job.priority <= call.who.priority_max) continue;
    return base::http::refusal(
        base::http::kForbidden,
        {.code = base::ErrorCode::Usage,
         .message = fmt::format("priority {} is above {}, the maximum of your role", job.priority,
                                call.who.priority_max),
         .place = {.file = {}, .line = 0, .column = 0, .field = "priority"},
         .remedy = "omit it, or ask an operator"});
  }
  base::Status belongs;
  context.scheduler.look([&](const SchedulerSnapshot& snapshot) {
    belongs = check_membership(submission->jobs.front().account, call.who, *owner, snapshot.site);
  });
  if (!belongs) return base::http::refusal(base::http::kForbidden, belongs.error());
  for (live::job::JobSpec& job : submission->jobs) {
    auto fits = fit_into_type(job, cluster);
    if (fits) fits = fit_into_slots(job, cluster);
    if (!fits) {
      return base::http::refusal(base::http::kBadRequest, fits.error());
    }
  }
  base::Result<std::string> payload = context.payloads.write(submission->payload);
  if (!payload) return base::http::refusal(base::http::kUnavailable, payload.error());
  // Tasks of an array differ only in their index.
  live::job::JobSpec& first_job = submission->jobs.front();
  first_job.owner = *owner;
  first_job.payload = *payload;
  if (first_job.work_folder.empty()) first_job.work_folder = home_of(*owner);
  if (context.parts.profiles != nullptr) {
    context.parts.profiles->fill(first_job, submission->payload);
  }
  for (size_t i = 1; i < submission->jobs.size(); ++i) {
    const int32_t task = submission->jobs[i].array_task;
    submission->jobs[i] = first_job;
    submission->jobs[i].array_task = task;
  }
  const size_t count = submission->jobs.size();
  const auto answer =
      context.scheduler.ask(live::controller::Submit{.jobs = std::move(submission->jobs)});
  if (!answer) {
    // After a time-out the job may exist nevertheless: keep its payload. The next start removes
    // payloads without a job.
    if (answer.error().code != base::ErrorCode::Failed) context.payloads.discard(*payload);
    const bool broken = answer.error().code == base::ErrorCode::Failed;
    return base::http::refusal(broken ? base::http::kUnavailable : base::http::kBadRequest,
                               answer.error());
  }
  const uint64_t first = live::job::job_number(answer->first_job);
  json numbers = json::array();
  for (size_t i = 0; i < count; ++i) numbers.push_back(first + i);
  base::http::Response response = base::http::reply({{"job", first}, {"jobs", std::move(numbers)}});
  response.status = base::http::kCreated;
  return response;
}

/// Which jobs a list contains.
struct Filter {
  std::vector<live::controller::JobStage> stages{};  ///< empty: all
  std::string user{};                                ///< empty: all users
  int64_t limit = kPageDefault;
  int64_t after = 0;  ///< job number

  [[nodiscard]] bool takes(const LiveJob& job) const {
    return (user.empty() || job.spec.owner.user == user) &&
           (stages.empty() || std::find(stages.begin(), stages.end(), job.stage) != stages.end());
  }
};

base::Status read_stages(std::string_view text, std::vector<live::controller::JobStage>& out) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const auto stage = find_stage(text.substr(0, end));
    if (!stage) {
      return base::bad_data({.file = {}, .line = 0, .column = 0, .field = "state"}, "unknown state",
                            "held, depends, waiting, starting, running, stopping or done");
    }
    out.push_back(*stage);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

base::Result<Filter> filter_of(const Call& call) {
  Filter filter;
  const auto wrong = [](const char* field, const char* what) {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, what);
  };
  if (const base::Status read = read_stages(call.query("state"), filter.stages); !read) {
    return base::failure(read.error());
  }
  const std::string_view all = call.query("all");
  if (!all.empty() && all != "1" && all != "0") return wrong("all", "must be 0 or 1");
  filter.user = call.query("user");
  if (filter.user.empty() && all != "1") filter.user = call.who.owner.user;
  const auto number = [&](const char* name, int64_t least, int64_t most, int64_t& out) {
    const std::string_view text = call.query(name);
    if (text.empty()) return true;
    const auto value = base::parse_int(text);
    if (!value || *value < least || *value > most) return false;
    out = *value;
    return true;
  };
  if (!number("limit", 1, kPageMax, filter.limit))
    return wrong("limit", "must be an integer from 1 to 10000");
  if (!number("after", 0, UINT32_MAX, filter.after))
    return wrong("after", "is not a valid job number");
  return filter;
}

base::http::Response list(const Call& call, const ApiContext& context) {
  const base::Result<Filter> filter = filter_of(call);
  if (!filter) return base::http::refusal(base::http::kBadRequest, filter.error());
  std::vector<LiveJob> jobs;
  int64_t total = 0;
  const core::model::Cluster* cluster = nullptr;
  std::map<core::model::JobId, int64_t> positions;
  context.scheduler.look([&](const SchedulerSnapshot& snapshot) {
    cluster = &snapshot.site.cluster;
    if (snapshot.core != nullptr) positions = queue_positions(*snapshot.core);
    for (const auto& [id, job] : snapshot.book.jobs) {
      if (!filter->takes(job)) continue;
      ++total;
      if (live::job::job_number(id) <= static_cast<uint64_t>(filter->after)) continue;
      if (static_cast<int64_t>(jobs.size()) < filter->limit) jobs.push_back(job);
    }
  });
  json shown = json::array();
  for (const LiveJob& job : jobs) {
    const bool details = call.who.may_see(job.spec.owner, job.spec.account);
    json each = job_summary(job, *cluster);
    if (details && !job.spec.name.empty()) each["name"] = job.spec.name;
    if (const auto at = positions.find(job.job); at != positions.end()) {
      each["position"] = at->second;
    }
    shown.push_back(std::move(each));
  }
  return base::http::reply({{"jobs", std::move(shown)}, {"total", total}});
}

base::http::Response no_job(const std::string& name) {
  return base::http::refusal(base::http::kNotFound, fmt::format("there is no job {}", name),
                             "goban history shows finished jobs");
}

base::http::Response show(const Call& call, const ApiContext& context) {
  LiveJob job;
  bool found = false;
  const core::model::Cluster* cluster = nullptr;
  context.scheduler.look([&](const SchedulerSnapshot& snapshot) {
    cluster = &snapshot.site.cluster;
    const LiveJob* const named = find_job(snapshot.book, call.names[0]);
    if (named == nullptr) return;
    found = true;
    job = *named;
  });
  if (!found) return no_job(call.names[0]);
  if (!call.who.may_see(job.spec.owner, job.spec.account)) {
    return base::http::refusal(base::http::kForbidden, "the job belongs to another user",
                               "the job list shows its public fields");
  }
  json details = job_details(job, *cluster);
  // Not every caller who may see a job may attach to its terminal: only its owner and root may.
  const uint32_t uid = call.who.owner.uid;
  const bool may_attach = call.who.may_submit() && (uid == job.spec.owner.uid || uid == 0);
  if (job.spec.interactive && job.stage == live::controller::JobStage::Running && may_attach &&
      context.parts.engine != nullptr) {
    const std::string socket =
        context.parts.engine->terminal_socket({.job = job.job, .run = job.runs});
    if (!socket.empty()) details["terminal"] = socket;
  }
  const bool runs = job.stage == live::controller::JobStage::Running ||
                    job.stage == live::controller::JobStage::Stopping;
  if (runs && context.parts.engine != nullptr) {
    const auto ranks = context.parts.engine->rank_times({.job = job.job, .run = job.runs});
    if (!ranks.empty()) details["ranks"] = to_json(ranks);
  }
  if (context.parts.profiles != nullptr) {
    const std::string profile = context.parts.profiles->find(job);
    if (!profile.empty()) details["profile"] = json::parse(profile, nullptr, false);
  }
  return base::http::reply(details);
}

/// The jobs that a change applies to: one, or with array=1 all unfinished tasks of its array. The
/// last task comes first, so that waiting tasks do not start when running ones end.
struct Targets {
  std::vector<core::model::JobId> jobs{};
  bool found = false;
  bool allowed = false;
};

using Fits = std::function<bool(const LiveJob&)>;

Targets targets_of(const Call& call, const ApiContext& context, const Fits& fits) {
  Targets out;
  context.scheduler.look([&](const SchedulerSnapshot& snapshot) {
    const LiveJob* const named = find_job(snapshot.book, call.names[0]);
    if (named == nullptr) return;
    out.found = true;
    out.allowed = call.who.may_touch(named->spec.owner, named->spec.account);
    const core::model::JobId array = named->spec.array_first;
    if (call.query("array") != "1" || !array.valid()) {
      if (fits(*named)) out.jobs.push_back(named->job);
      return;
    }
    for (auto at = snapshot.book.jobs.lower_bound(array); at != snapshot.book.jobs.end(); ++at) {
      if (at->second.spec.array_first != array) break;
      if (at->second.stage != live::controller::JobStage::Done && fits(at->second))
        out.jobs.push_back(at->first);
    }
  });
  std::reverse(out.jobs.begin(), out.jobs.end());
  return out;
}

struct Change {
  std::function<live::controller::Input(core::model::JobId, const live::controller::Caller&)> make;
  Fits fits;
  const char* unfit;  ///< message if no job can be changed
};

base::http::Response change(const Call& call, const ApiContext& context, const Change& submission) {
  const Targets targets = targets_of(call, context, submission.fits);
  if (!targets.found) return no_job(call.names[0]);
  if (!targets.allowed)
    return base::http::refusal(base::http::kForbidden, "the job belongs to another user");
  if (targets.jobs.empty() && submission.unfit != nullptr)
    return base::http::refusal(base::http::kConflict, submission.unfit);
  std::vector<uint64_t> done;
  json left = json::array();
  std::optional<base::http::Response> refused;
  for (const core::model::JobId job : targets.jobs) {
    // An account manager may change jobs of other users; Targets::allowed has checked this.
    const bool may = call.who.role >= Role::AccountManager;
    const live::controller::Input input = submission.make(job, caller_of(call.who, may));
    const auto answer = context.scheduler.ask(input);
    if (answer) {
      done.push_back(live::job::job_number(job));
      continue;
    }
    left.push_back({{"job", live::job::job_number(job)}, {"message", answer.error().message}});
    const int why =
        status_of_refusal(context.scheduler, input, answer.error(), base::http::kConflict);
    if (!refused) refused = base::http::refusal(why, answer.error());
    if (why == base::http::kUnavailable) break;
  }
  if (done.empty() && refused) return std::move(*refused);
  std::reverse(done.begin(), done.end());
  json out{{"jobs", std::move(done)}};
  if (!left.empty()) out["left"] = std::move(left);
  return base::http::reply(out);
}

template <typename Input>
Change changer() {
  return {.make = [](core::model::JobId job, const live::controller::Caller& by)
              -> live::controller::Input { return Input{.job = job, .by = by}; },
          .fits = [](const LiveJob&) { return true; },
          .unfit = nullptr};
}

Change releaser() {
  Change out = changer<live::controller::Release>();
  out.fits = [](const LiveJob& job) {
    return job.stage != live::controller::JobStage::Done &&
           (job.spec.held || job.stage == live::controller::JobStage::Held);
  };
  out.unfit = "it is not held";
  return out;
}
}  // namespace

int status_of_refusal(const SchedulerClient& scheduler, const live::controller::Input& input,
                      const base::Error& error, int wrong) {
  const bool fits = error.code == base::ErrorCode::Failed && scheduler.check(input).has_value();
  return fits ? base::http::kUnavailable : wrong;
}

void add_job_routes(Router& router, const ApiContext& context) {
  // Submissions read only constant data here, so that they wait for no commit cycle but their own.
  const core::model::Cluster* cluster = nullptr;
  context.scheduler.look(
      [&](const SchedulerSnapshot& snapshot) { cluster = &snapshot.site.cluster; });
  router.add("POST", "/v1/jobs", Access::Known, {},
             [&context, cluster](const Call& call) { return submit(call, context, *cluster); });
  router.add("GET", "/v1/jobs", Access::Known, {"state", "user", "all", "limit", "after"},
             [&context](const Call& call) { return list(call, context); });
  router.add("GET", "/v1/jobs/{}", Access::Known, {},
             [&context](const Call& call) { return show(call, context); });
  const auto add_change = [&](const char* method, const char* path, Change submission) {
    router.add(method, path, Access::Known, {"array"},
               [&context, submission = std::move(submission)](const Call& call) {
                 return change(call, context, submission);
               });
  };
  add_change("DELETE", "/v1/jobs/{}", changer<live::controller::Cancel>());
  add_change("POST", "/v1/jobs/{}/hold", changer<live::controller::Hold>());
  add_change("POST", "/v1/jobs/{}/release", releaser());
  add_change("POST", "/v1/jobs/{}/requeue", changer<live::controller::Requeue>());
}

}  // namespace goban::serve::api
