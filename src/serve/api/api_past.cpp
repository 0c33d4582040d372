// Finished jobs that the scheduler no longer has, from the history: for /v1/jobs and its paths.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "base/reports/run_reports_json.hpp"
#include "serve/api/api.hpp"
#include "serve/api/job_requests.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {

using live::controller::LiveJob;
using nlohmann::json;

namespace {
constexpr int64_t kTasksMax = 10'000;

base::Result<PastQuery> past_query_of(const Call& call) {
  const auto wrong = [](const char* field, const char* what) {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, what);
  };
  PastQuery query;
  for (const char* name : {"state", "first", "tasks", "after"}) {
    if (!call.query(name).empty()) return wrong(name, "cannot be combined with past=1");
  }
  query.user = call.query("user");
  if (query.user.empty() && call.query("all") != "1") query.user = call.who.owner.user;
  bool all_are_names = true;
  each_part(call.query("job"), [&](std::string_view part) {
    const auto name = parse_job_name(part);
    all_are_names = all_are_names && name;
    if (name) query.names.push_back(*name);
  });
  if (!all_are_names) return wrong("job", "is not a list of job numbers");
  for (const auto& [field, time_ns] :
       {std::pair("from_s", &query.from_ns), {"to_s", &query.to_ns}}) {
    const std::string_view text = call.query(field);
    if (text.empty()) continue;
    const auto seconds = base::parse_double(text);
    if (!seconds || !(*seconds >= 0 && *seconds <= base::kMaxSeconds))
      return wrong(field, "must be a time in seconds since 1970");
    *time_ns = base::from_seconds(*seconds);
  }
  if (const std::string_view text = call.query("limit"); !text.empty()) {
    const auto limit = base::parse_int(text);
    if (!limit || *limit < 1 || *limit > kTasksMax) {
      return wrong("limit", "must be an integer from 1 to 10000");
    }
    query.limit = *limit;
  }
  return query;
}
}  // namespace

base::Result<std::optional<LiveJob>> find_past_job(const ApiContext& context,
                                                   std::string_view name) {
  const auto parsed = parse_job_name(name);
  if (!parsed || context.parts.past == nullptr) return std::nullopt;
  auto found = context.parts.past->find({.names = {*parsed}, .limit = kTasksMax});
  if (!found) return base::failure(found.error());
  for (LiveJob& job : *found) {
    if (parsed->task || job.job == parsed->first) return std::move(job);
  }
  return std::nullopt;
}

base::Status settle_past_dependencies(live::job::JobSpec& spec, const Identity& who,
                                      const ApiContext& context) {
  PastQuery query{.limit = kTasksMax};
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const live::job::Dependency& each : spec.dependencies) {
      if (each.job.valid() && snapshot.book.find(each.job) == nullptr)
        query.names.push_back({.first = each.job});
    }
  });
  if (query.names.empty() || context.parts.past == nullptr) return {};
  const auto found = context.parts.past->find(query);
  if (!found) return base::failure(found.error());
  std::map<core::model::JobId, const LiveJob*> past;
  for (const LiveJob& job : *found) {
    if (who.may_see(job.spec.owner, job.spec.account)) past.emplace(job.job, &job);
  }
  std::vector<live::job::Dependency> left;
  for (const live::job::Dependency& each : spec.dependencies) {
    const auto job = past.find(each.job);
    if (job == past.end()) {
      left.push_back(each);
      continue;
    }
    const bool completed = job->second->result == live::controller::JobResult::Completed;
    using live::job::DependencyKind;
    if (each.kind != (completed ? DependencyKind::AfterNotOk : DependencyKind::AfterOk)) continue;
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = "dependencies"},
                          fmt::format("{}:{} can never be met: {}", dependency_name(each.kind),
                                      live::job::job_number(each.job), end_words(*job->second)),
                          "submit the job without it");
  }
  spec.dependencies = std::move(left);
  return {};
}

base::http::Response list_past_jobs(const Call& call, const ApiContext& context) {
  const auto query = past_query_of(call);
  if (!query) return base::http::refusal(base::http::kBadRequest, query.error());
  const bool sees_all = call.who.is_operator() || call.who.role == Role::Viewer;
  if (!sees_all && query->names.empty() && query->user != call.who.owner.user) {
    return base::http::refusal(base::http::kForbidden,
                               "only operators may list the past jobs of other users",
                               "omit user and all");
  }
  std::vector<LiveJob> jobs;
  if (context.parts.past != nullptr) {
    auto found = context.parts.past->find(*query);
    if (!found) return base::http::refusal(base::http::kUnavailable, found.error());
    jobs = std::move(*found);
  }
  std::erase_if(jobs, [&](const LiveJob& job) {
    return !call.who.may_see(job.spec.owner, job.spec.account);
  });
  const core::model::Cluster* cluster = nullptr;
  context.scheduler.look(
      [&](const live::loop::SchedulerSnapshot& snapshot) { cluster = &snapshot.site.cluster; });
  json list = json::array();
  for (const LiveJob& job : jobs) {
    json& each = list.emplace_back(job_summary(job, *cluster));
    if (!job.spec.name.empty()) each["name"] = job.spec.name;
    each["history"] = true;
    if (json usage = to_json(job.usage); !usage.empty()) each["usage"] = std::move(usage);
  }
  json states = json::object();
  if (!jobs.empty()) states["done"] = jobs.size();
  return base::http::reply({{"jobs", std::move(list)},
                            {"total", jobs.size()},
                            {"held_gpus", 0},
                            {"states", std::move(states)}});
}

}  // namespace goban::serve::api
