#include "serve/api/submission.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>
#include <utility>

#include "base/crc32c.hpp"
#include "base/http/http_uri.hpp"
#include "base/http/reply.hpp"
#include "live/job/job_spec.hpp"
#include "serve/api/api.hpp"
#include "serve/api/job_requests.hpp"
#include "serve/api/membership.hpp"

namespace goban::serve::api {

using base::Status;
using nlohmann::json;

namespace {
constexpr std::array<const char*, 4> kPayloadFields = {"script", "args", "env", "dialect"};

/// Of the script, or of a command without one; never 0.
uint32_t hash_of_script(const json& payload) {
  const auto script = payload.find("script");
  const bool has_script = script != payload.end() && script->is_string() &&
                          !script->get_ref<const std::string&>().empty();
  const uint32_t hash = has_script ? base::crc32c(script->get_ref<const std::string&>())
                                   : base::crc32c(payload.value("args", json::array()).dump());
  return std::max(hash, uint32_t{1});
}

Status read_tasks(const json& body, const SubmitLimits& limits, std::vector<int32_t>& tasks) {
  const auto list = body.find("array_tasks");
  if (list == body.end()) return {};
  constexpr int64_t kTaskMax = 1'000'000'000;
  if (!list->is_array() || list->empty())
    return bad_field("array_tasks", "must be a non-empty array of integers");
  if (list->size() > limits.array_tasks_max) {
    return bad_field("array_tasks", fmt::format("has more than {} tasks", limits.array_tasks_max),
                     "submit several arrays");
  }
  int64_t last = -1;
  for (const json& each : *list) {
    // Rejects negative and huge numbers too.
    if (!each.is_number_unsigned() || each.get<uint64_t>() > uint64_t{kTaskMax} ||
        each.get<int64_t>() <= last) {
      return bad_field("array_tasks", "must contain integers from 0 to 10^9 in ascending order");
    }
    last = each.get<int64_t>();
    tasks.push_back(static_cast<int32_t>(last));
  }
  return {};
}

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

/// Fills in the GPUs of all instances, the cores and memory of each instance, and the walltime
/// limit from the type. Does not change jobs without a type or with one that the site does not
/// have.
Status fit_into_type(live::job::JobSpec& spec, const core::model::Cluster& cluster) {
  if (spec.resource_type.empty()) return {};
  const auto id = cluster.find_resource_type(spec.resource_type);
  if (!id.valid()) return {};
  const core::model::ResourceType& type = cluster.resource_type(id);
  const int32_t instances = std::max(spec.instances, 1);
  // 1 is the default of a job that does not state its GPUs.
  if (spec.num_gpus == 1 && instances <= type.max_instances) spec.num_gpus = type.gpus * instances;
  if (spec.cores > type.host.cores) {
    return bad_field(
        "cores",
        fmt::format("requests {} cores; {} has {}", spec.cores, type.name, type.host.cores),
        "omit it, or use another type");
  }
  if (spec.mem_bytes > type.host.mem_bytes) {
    return bad_field("mem_bytes",
                     fmt::format("requests {} MiB; {} has {} MiB", spec.mem_bytes >> 20, type.name,
                                 type.host.mem_bytes >> 20),
                     "omit it, or use another type");
  }
  if (spec.cores == 0) spec.cores = type.host.cores;
  if (spec.mem_bytes == 0) spec.mem_bytes = type.host.mem_bytes;
  if (spec.walltime_limit_ns == 0) {
    spec.walltime_limit_ns =
        type.walltime_default_ns > 0 ? type.walltime_default_ns : type.walltime_max_ns;
  }
  if (type.walltime_max_ns > 0 && spec.walltime_limit_ns > type.walltime_max_ns) {
    return bad_field("walltime_s",
                     fmt::format("requests {:g} s; {} permits at most {:g} s",
                                 base::to_seconds(spec.walltime_limit_ns), type.name,
                                 base::to_seconds(type.walltime_max_ns)),
                     "request less time");
  }
  return {};
}

/// Gives a job without a walltime limit the site's default, and a job without memory and resource
/// type the site's default memory. The controller checks the walltime limit.
Status fit_into_site(live::job::JobSpec& spec, const live::controller::JobLimits& limits) {
  if (spec.walltime_limit_ns == 0) {
    spec.walltime_limit_ns =
        limits.time_default_ns > 0 ? limits.time_default_ns : limits.time_max_ns;
  }
  if (!spec.resource_type.empty()) return {};
  if (spec.mem_bytes == 0) {
    spec.mem_bytes = limits.mem_default_bytes > 0 ? limits.mem_default_bytes : limits.mem_max_bytes;
  }
  if (limits.mem_max_bytes == 0 || spec.mem_bytes <= limits.mem_max_bytes) return {};
  return bad_field("mem_bytes",
                   fmt::format("requests {} MiB; this site allows at most {} MiB per node",
                               spec.mem_bytes >> 20, limits.mem_max_bytes >> 20),
                   "reduce --mem, or ask an operator to raise mem_max");
}

/// Gives a job that requests no GPU and no resource type the number of slots that its cores and its
/// memory require.
Status fit_into_slots(live::job::JobSpec& spec, const core::model::Cluster& cluster) {
  if (spec.num_gpus != 0 || !spec.resource_type.empty()) return {};
  const auto id = cluster.find_resource_type(kSlots);
  if (!id.valid()) return {};
  const core::model::ResourceType& slot = cluster.resource_type(id);
  const int64_t parts = std::max(spec.instances, 1);
  const int64_t cores = parts * std::max(spec.cores, 1);
  const int64_t slot_bytes = std::max<int64_t>(slot.host.mem_bytes, 1);
  const int64_t by_memory = parts * ceil_div(spec.mem_bytes, slot_bytes);
  const int64_t slots = std::max(cores, by_memory);
  if (slots > slot.max_instances) {
    const bool by_cores = cores > slot.max_instances;
    return bad_field(
        by_cores ? "cores" : "mem_bytes",
        fmt::format("requests {} cores and {} MiB; this machine has {} cores and {} MiB", cores,
                    (parts * spec.mem_bytes) >> 20, slot.max_instances,
                    (slot.max_instances * slot_bytes) >> 20),
        "request less");
  }
  spec.mem_bytes = ceil_div(parts * spec.mem_bytes, slots);
  spec.resource_type = kSlots;
  spec.instances = static_cast<int32_t>(slots);
  spec.cores = 1;
  return {};
}

}  // namespace

Status fill_unset(live::job::JobSpec& spec, const core::model::Cluster& cluster,
                  const live::controller::JobLimits& limits) {
  Status fits = fit_into_type(spec, cluster);
  if (fits) fits = fit_into_site(spec, limits);
  if (fits) fits = fit_into_slots(spec, cluster);
  return fits;
}

core::model::ResourceType core_slots(const core::model::HostResources& host) {
  const int32_t cores = std::max(host.cores, 1);
  return {.name = kSlots,
          .host = {.cores = 1, .mem_bytes = host.mem_bytes / cores},
          .max_instances = cores};
}

base::Result<SubmitRequest> parse_submit_request(std::string_view body,
                                                 const SubmitLimits& limits) {
  if (Status valid = check_json(body); !valid) return base::failure(std::move(valid.error()));
  json document = json::parse(body);
  if (!document.is_object()) return bad_field({}, "the body must be a JSON object");
  SubmitRequest out;
  std::vector<int32_t> tasks;
  for (const Status& checked : {check_script(document, limits), check_environment(document, limits),
                                read_tasks(document, limits, tasks)}) {
    if (!checked) return base::failure(checked.error());
  }
  json payload = json::object();
  for (const char* field : kPayloadFields) {
    if (!document.contains(field)) continue;
    if (field == std::string_view("dialect") && !document[field].is_string()) {
      return bad_field(field, "must be a string");
    }
    payload[field] = std::move(document[field]);
    document.erase(field);
  }
  if (const auto user = document.find("user"); user != document.end()) {
    if (!user->is_string() || !base::http::is_plain_text(user->get_ref<const std::string&>())) {
      return bad_field("user", "must be a user name");
    }
    out.user = user->get<std::string>();
    document.erase(user);
  }
  document.erase("array_tasks");
  std::vector<std::string> unknown;
  base::Result<live::job::JobSpec> spec = live::job::job_spec_from_json(document, &unknown);
  if (Status fields = check_fields(document, unknown); !fields)
    return base::failure(fields.error());
  if (!spec) return base::failure(std::move(spec.error()));
  if (Status texts = check_texts(*spec, limits); !texts) return base::failure(texts.error());
  if (spec->stdout_path.empty()) spec->stdout_path = "goban-%j.out";
  spec->script_hash = hash_of_script(payload);
  if (Status size = check_array_bytes(*spec, tasks.size(), limits); !size) {
    return base::failure(size.error());
  }
  if (tasks.empty()) {
    out.jobs.push_back(std::move(*spec));
  } else {
    for (const int32_t task : tasks) {
      out.jobs.push_back(*spec);
      out.jobs.back().array_task = task;
    }
  }
  out.payload = payload.dump();
  return out;
}

namespace {
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

/// Of a submission that was refused: by the daemon's trouble, by a limit of the user, or because of
/// its content.
int status_of(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::Failed:
      return base::http::kUnavailable;
    case base::ErrorCode::Usage:
      return base::http::kForbidden;
    case base::ErrorCode::BadData:
      break;
  }
  return base::http::kBadRequest;
}

base::http::Response submit(const Call& call, const ApiContext& context,
                            const live::controller::Site& site) {
  if (!call.who.may_submit())
    return base::http::refusal(base::http::kForbidden, "viewers are not permitted to submit jobs");
  base::Result<SubmitRequest> submission = parse_submit_request(call.request.body, context.limits);
  if (!submission) return base::http::refusal(base::http::kBadRequest, submission.error());
  base::Result<live::job::Owner> owner = owner_for(call, context, submission->user);
  if (!owner) return base::http::refusal(base::http::kForbidden, owner.error());
  for (const live::job::JobSpec& job : submission->jobs) {
    if (auto may = check_priority(job.priority, call.who); !may) {
      return base::http::refusal(base::http::kForbidden, may.error());
    }
  }
  base::Status belongs;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    belongs = check_membership(submission->jobs.front().account, call.who, *owner, snapshot.site);
  });
  if (!belongs) return base::http::refusal(base::http::kForbidden, belongs.error());
  for (live::job::JobSpec& job : submission->jobs) {
    if (auto fits = fill_unset(job, site.cluster, site.limits); !fits) {
      return base::http::refusal(base::http::kBadRequest, fits.error());
    }
  }
  // Tasks of an array differ only in their index.
  live::job::JobSpec& first_job = submission->jobs.front();
  if (auto settled = settle_past_dependencies(first_job, call.who, context); !settled) {
    return base::http::refusal(status_of(settled.error()), settled.error());
  }
  base::Result<std::string> payload = context.payloads.write(submission->payload, *owner);
  if (!payload) return base::http::refusal(status_of(payload.error()), payload.error());
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
    // If the journal failed, the job may exist nevertheless: keep its payload. The next start
    // removes payloads without a job.
    if (answer.error().code != base::ErrorCode::Failed) context.payloads.discard(*payload);
    return base::http::refusal(status_of(answer.error()), answer.error());
  }
  const uint64_t first = live::job::job_number(answer->first_job);
  json numbers = json::array();
  for (size_t i = 0; i < count; ++i) numbers.push_back(first + i);
  base::http::Response response = base::http::reply({{"job", first}, {"jobs", std::move(numbers)}});
  response.status = base::http::kCreated;
  return response;
}
}  // namespace

void add_submit_route(Router& router, const ApiContext& context) {
  // Submissions read only constant data here, so that they wait for no commit cycle but their own.
  const live::controller::Site* site = nullptr;
  context.scheduler.look(
      [&](const live::loop::SchedulerSnapshot& snapshot) { site = &snapshot.site; });
  router.add("POST", "/v1/jobs", Access::Known, {},
             [&context, site](const Call& call) { return submit(call, context, *site); });
}

}  // namespace goban::serve::api
