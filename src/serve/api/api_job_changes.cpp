// /v1/jobs/{}: cancel, hold, release, requeue, alter, suspend, resume.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/http/reply.hpp"
#include "base/json_fields.hpp"
#include "serve/api/api.hpp"
#include "serve/api/job_name.hpp"
#include "serve/api/job_requests.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {
namespace {

using live::controller::LiveJob;
using nlohmann::json;

/// The jobs that a change applies to: those that the path names ("7" or "3,5,7_2"), or with array=1
/// all unfinished tasks of their arrays (results=1: all ended ones). The last job comes first, so
/// that waiting ones do not start when running ones end.
struct Targets {
  struct Left {
    std::string name{};
    int status = 0;
    base::Error error{};
  };
  std::vector<core::model::JobId> jobs{};
  std::vector<Left> left{};  ///< named jobs that cannot be changed
  bool are_several = false;  ///< the path names several jobs
};

using Fits = std::function<bool(const LiveJob&)>;

struct Change {
  std::function<live::controller::Input(core::model::JobId, const live::controller::Caller&,
                                        const Call&)>
      make;
  Fits fits;
  const char* unfit;          ///< message if a named job cannot be changed
  bool by_operators = false;  ///< other callers are refused
};

void add_targets(const std::string& name, const Call& call, const live::controller::JobBook& book,
                 const Change& submission, Targets& out) {
  const auto leave = [&](int status, base::Error error) {
    out.left.push_back({name, status, std::move(error)});
  };
  const auto refuse = [&](int status, const char* message) {
    leave(status, {.code = base::ErrorCode::Failed, .message = message, .place = {}, .remedy = {}});
  };
  const LiveJob* const named = find_job(book, name);
  if (named == nullptr) return leave(base::http::kNotFound, unknown_job_error(name));
  if (!call.who.may_touch(named->spec.owner, named->spec.account)) {
    return refuse(base::http::kForbidden, "the job belongs to another user");
  }
  const size_t before = out.jobs.size();
  const core::model::JobId array = named->spec.array_first;
  if (call.query("array") != "1" || !array.valid()) {
    if (submission.fits(*named)) out.jobs.push_back(named->job);
  } else {
    const bool of_ended = call.query("results") == "1";
    for (auto at = book.jobs.lower_bound(array); at != book.jobs.end(); ++at) {
      if (at->second.spec.array_first != array) break;
      const bool has_ended = at->second.stage == live::controller::JobStage::Done;
      if (has_ended == of_ended && submission.fits(at->second)) out.jobs.push_back(at->first);
    }
  }
  if (out.jobs.size() == before && submission.unfit != nullptr) {
    refuse(base::http::kConflict, submission.unfit);
  }
}

/// Errors: Failed, naming what is no job number.
base::Result<Targets> targets_of(const Call& call, const ApiContext& context,
                                 const Change& submission) {
  std::vector<std::string> names;
  each_part(call.names[0], [&](std::string_view name) { names.emplace_back(name); });
  for (const std::string& name : names) {
    if (!parse_job_name(name) && engine_id_of(name).empty())
      return base::failure(unknown_job_error(name));
  }
  Targets out{.are_several = names.size() > 1};
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const std::string& name : names) add_targets(name, call, snapshot.book, submission, out);
  });
  for (Targets::Left& each : out.left) {
    if (each.status != base::http::kNotFound) continue;
    const auto past = find_past_job(context, each.name);
    const bool is_known =
        past && *past && call.who.may_see((*past)->spec.owner, (*past)->spec.account);
    if (!is_known) continue;
    each.status = base::http::kConflict;
    each.error.message = end_words(**past);
    each.error.remedy.clear();
  }
  std::sort(out.jobs.begin(), out.jobs.end(), std::greater<>());
  out.jobs.erase(std::unique(out.jobs.begin(), out.jobs.end()), out.jobs.end());
  return out;
}

base::http::Response change(const Call& call, const ApiContext& context, const Change& submission) {
  if (submission.by_operators && !call.who.is_operator()) {
    return base::http::refusal(base::http::kForbidden,
                               "only operators may suspend and resume jobs");
  }
  base::Result<Targets> found = targets_of(call, context, submission);
  if (!found) return base::http::refusal(base::http::kNotFound, found.error());
  Targets& targets = *found;
  // An account manager may change jobs of other users; add_targets() has checked this.
  const bool may = call.who.role >= Role::AccountManager;
  const live::controller::Caller by = caller_of(call.who, may);
  std::vector<live::controller::Input> inputs;
  inputs.reserve(targets.jobs.size());
  for (const core::model::JobId job : targets.jobs)
    inputs.push_back(submission.make(job, by, call));
  const auto answers = context.scheduler.ask_all(std::move(inputs));
  std::vector<uint64_t> done;
  std::optional<bool> is_in_trouble;  // the scheduler, so that it refused what it could do
  for (size_t i = 0; i < answers.size(); ++i) {
    const core::model::JobId job = targets.jobs[i];
    const uint64_t number = live::job::job_number(job);
    if (answers[i]) {
      done.push_back(number);
      continue;
    }
    const base::Error& error = answers[i].error();
    const bool is_value = error.code == base::ErrorCode::BadData;
    const int refusal = is_value ? base::http::kBadRequest : base::http::kConflict;
    if (!is_in_trouble) {
      is_in_trouble = status_of_refusal(context.scheduler, submission.make(job, by, call), error,
                                        refusal) != refusal;
    }
    const int status = *is_in_trouble ? base::http::kUnavailable : refusal;
    targets.left.push_back({fmt::format("{}", number), status, error});
  }
  if (done.empty() && !targets.left.empty() && !targets.are_several) {
    return base::http::refusal(targets.left.front().status, targets.left.front().error);
  }
  std::reverse(done.begin(), done.end());
  json out{{"jobs", std::move(done)}};
  for (const Targets::Left& each : targets.left) {
    out["left"].push_back({{"job", live::job::job_number(parse_job_name(each.name)->first)},
                           {"message", each.error.message},
                           {"status", each.status}});
  }
  return base::http::reply(out);
}

template <typename Input>
Change changer() {
  return {
      .make = [](core::model::JobId job, const live::controller::Caller& by,
                 const Call&) -> live::controller::Input { return Input{.job = job, .by = by}; },
      .fits = [](const LiveJob&) { return true; },
      .unfit = nullptr};
}

Change canceller() {
  Change out = changer<live::controller::Cancel>();
  out.make = [](core::model::JobId job, const live::controller::Caller& by,
                const Call& call) -> live::controller::Input {
    return live::controller::Cancel{.job = job,
                                    .by = by,
                                    .now = call.query("now") == "1",
                                    .results = call.query("results") == "1"};
  };
  return out;
}

template <typename Input>
Change operators_changer(live::controller::JobStage stage, const char* unfit) {
  Change out = changer<Input>();
  out.fits = [stage](const LiveJob& job) { return job.stage == stage; };
  out.unfit = unfit;
  out.by_operators = true;
  return out;
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
/// The values to change. Errors: BadData with the field; Usage if the caller may not set them.
base::Result<live::controller::Alter> alteration_of(const Call& call) {
  if (const base::Status valid = check_json(call.request.body); !valid) {
    return base::failure(valid.error());
  }
  const json body = json::parse(call.request.body);
  base::FieldReader in(body, "");
  live::controller::Alter out;
  if (in.find("walltime_s") != nullptr) {
    constexpr double kLeast_s = 1e-9;
    in.seconds("walltime_s", out.walltime_limit_ns.emplace(), kLeast_s);
  }
  if (in.find("priority") != nullptr) {
    in.field("priority", out.priority.emplace(), -INT32_MAX, INT32_MAX);
  }
  if (in.find("array_limit") != nullptr) {
    in.field("array_limit", out.array_limit.emplace(), 0, INT32_MAX);
  }
  if (in.good() && !in.unknown().empty()) in.fail(in.unknown().front(), "unknown field");
  if (in.good() && !out.walltime_limit_ns && !out.priority && !out.array_limit) {
    in.fail("priority", "name a value to change: walltime_s, priority or array_limit");
  }
  if (const base::Status read = in.status(); !read) return base::failure(read.error());
  if (auto may = check_priority(out.priority.value_or(-INT32_MAX), call.who); !may) {
    return base::failure(may.error());
  }
  return out;
}

base::http::Response alter(const Call& call, const ApiContext& context) {
  const auto values = alteration_of(call);
  if (!values) {
    const bool is_forbidden = values.error().code == base::ErrorCode::Usage;
    return base::http::refusal(is_forbidden ? base::http::kForbidden : base::http::kBadRequest,
                               values.error());
  }
  const auto make = [&](core::model::JobId job, const live::controller::Caller& by,
                        const Call&) -> live::controller::Input {
    live::controller::Alter input = *values;
    input.job = job;
    input.by = by;
    return input;
  };
  const bool of_array_only = !values->walltime_limit_ns && !values->priority;
  const bool of_all_tasks = call.query("array") == "1";
  std::set<core::model::JobId> arrays;
  const auto fits = [&](const LiveJob& job) {
    // One task stands for its array, whether it waits or not.
    if (of_array_only && job.spec.array_first.valid()) {
      return arrays.insert(job.spec.array_first).second;
    }
    return !of_all_tasks || job.stage <= live::controller::JobStage::Waiting;
  };
  return change(call, context, {.make = make, .fits = fits, .unfit = "no task of it waits"});
}
}  // namespace

void add_job_change_routes(Router& router, const ApiContext& context) {
  const auto add_change = [&](const char* method, const char* path, Change submission,
                              std::vector<std::string> parameters = {"array"}) {
    router.add(method, path, Access::Known, std::move(parameters),
               [&context, submission = std::move(submission)](const Call& call) {
                 return change(call, context, submission);
               });
  };
  add_change("DELETE", "/v1/jobs/{}", canceller(), {"array", "now", "results"});
  add_change("POST", "/v1/jobs/{}/hold", changer<live::controller::Hold>());
  add_change("POST", "/v1/jobs/{}/release", releaser());
  add_change("POST", "/v1/jobs/{}/requeue", changer<live::controller::Requeue>());
  router.add("POST", "/v1/jobs/{}/alter", Access::Known, {"array"},
             [&context](const Call& call) { return alter(call, context); });
  using live::controller::JobStage;
  add_change("POST", "/v1/jobs/{}/suspend",
             operators_changer<live::controller::Suspend>(JobStage::Running, "it is not running"));
  add_change(
      "POST", "/v1/jobs/{}/resume",
      operators_changer<live::controller::Continue>(JobStage::Suspended, "it is not suspended"));
}

}  // namespace goban::serve::api
