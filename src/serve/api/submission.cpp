#include "serve/api/submission.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>
#include <utility>

#include "base/http/http_uri.hpp"
#include "base/http/reply.hpp"
#include "base/nearest.hpp"
#include "live/job/job_spec.hpp"
#include "serve/api/api.hpp"
#include "serve/api/job_requests.hpp"
#include "serve/api/membership.hpp"
#include "serve/api/typed_jobs.hpp"

namespace goban::serve::api {

using base::Status;
using nlohmann::json;

namespace {
constexpr std::array<const char*, 4> kPayloadFields = {"script", "args", "env", "dialect"};
constexpr std::array<std::string_view, 39> kKnown = {
    "account",     "app_class",    "args",        "array_limit",   "array_tasks",   "begin_s",
    "cores",       "dependencies", "dialect",     "env",           "exclude_nodes", "gpu_model",
    "held",        "instances",    "interactive", "mem_bytes",     "model",         "name",
    "node_list",   "num_gpus",     "open_mode",   "partition",     "preemptible",   "priority",
    "qos",         "requeue",      "reservation", "resource_type", "script",        "script_path",
    "stderr_path", "stdin_path",   "stdout_path", "stop",          "training",      "umask",
    "user",        "walltime_s",   "work_folder"};

tl::unexpected<base::Error> wrong(std::string field, std::string message, std::string remedy = {}) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = std::move(field)},
                        std::move(message), std::move(remedy));
}

bool has_zero(const std::string& text) { return text.find('\0') != std::string::npos; }

Status check_script(const json& body, const SubmitLimits& limits) {
  const auto script = body.find("script");
  const auto args = body.find("args");
  if (script != body.end()) {
    if (!script->is_string()) return wrong("script", "must be a string");
    const auto& text = script->get_ref<const std::string&>();
    if (text.size() > limits.script_bytes_max) {
      return wrong("script", fmt::format("is longer than {} bytes", limits.script_bytes_max),
                   "store data in files");
    }
    if (has_zero(text)) return wrong("script", "contains a zero byte", "it must be text");
  }
  if (args != body.end()) {
    if (!args->is_array()) return wrong("args", "must be an array");
    if (args->size() > limits.argument_count_max) {
      return wrong("args", fmt::format("has more than {} entries", limits.argument_count_max));
    }
    for (const json& each : *args) {
      if (!each.is_string() || has_zero(each.get_ref<const std::string&>())) {
        return wrong("args", "entries must be strings without zero bytes");
      }
    }
  }
  const bool is_empty = (script == body.end() || script->get_ref<const std::string&>().empty()) &&
                        (args == body.end() || args->empty());
  if (is_empty)
    return wrong("script", "is missing",
                 "set it to the text of a script, or put a command into args");
  return {};
}

Status check_environment(const json& body, const SubmitLimits& limits) {
  const auto env = body.find("env");
  if (env == body.end()) return {};
  if (!env->is_object()) return wrong("env", "must be an object");
  if (env->size() > limits.env_count_max) {
    return wrong("env", fmt::format("has more than {} variables", limits.env_count_max));
  }
  for (const auto& [name, value] : env->items()) {
    if (name.empty() || name.find('=') != std::string::npos || has_zero(name)) {
      return wrong("env", "contains an invalid variable name");
    }
    if (!value.is_string() || has_zero(value.get_ref<const std::string&>())) {
      return wrong("env", "values must be strings without zero bytes");
    }
  }
  return {};
}

Status check_texts(const live::job::JobSpec& spec, const SubmitLimits& limits) {
  const auto names = std::to_array<std::pair<const char*, const std::string*>>({
      {"name", &spec.name},
      {"account", &spec.account},
      {"partition", &spec.partition},
      {"qos", &spec.qos},
      {"model", &spec.model},
      {"resource_type", &spec.resource_type},
      {"reservation", &spec.reservation},
      {"gpu_model", &spec.gpu_model},
  });
  for (const auto& [field, text] : names) {
    if (text->size() > limits.text_bytes_max) {
      return wrong(field, fmt::format("is longer than {} bytes", limits.text_bytes_max));
    }
    if (!base::http::is_plain_text(*text)) return wrong(field, "contains control characters");
  }
  const auto paths = std::to_array<std::pair<const char*, const std::string*>>({
      {"work_folder", &spec.work_folder},
      {"stdout_path", &spec.stdout_path},
      {"stderr_path", &spec.stderr_path},
      {"stdin_path", &spec.stdin_path},
      {"script_path", &spec.script_path},
  });
  for (const auto& [field, text] : paths) {
    if (text->size() > limits.path_bytes_max) {
      return wrong(field, fmt::format("is longer than {} bytes", limits.path_bytes_max));
    }
    if (!base::http::is_plain_text(*text)) return wrong(field, "contains control characters");
  }
  if (!spec.work_folder.empty() && spec.work_folder.front() != '/') {
    return wrong("work_folder", "must be an absolute path", "start it with /");
  }
  for (const auto& [field, nodes] :
       {std::pair{"node_list", &spec.node_list}, std::pair{"exclude_nodes", &spec.exclude_nodes}}) {
    if (nodes->size() > limits.nodes_max) {
      return wrong(field, fmt::format("has more than {} entries", limits.nodes_max));
    }
    for (const std::string& name : *nodes) {
      if (name.size() > limits.text_bytes_max || !base::http::is_plain_text(name)) {
        return wrong(field, "contains an invalid name");
      }
    }
  }
  std::vector<std::string_view> staged(spec.stage_in.begin(), spec.stage_in.end());
  for (const live::job::StageOut& each : spec.stage_out) {
    staged.emplace_back(each.from);
    staged.emplace_back(each.to);
  }
  const char* stage_field = spec.stage_in.empty() ? "stage_out" : "stage_in";
  for (const std::string_view path : staged) {
    if (path.size() > limits.path_bytes_max || !base::http::is_plain_text(path)) {
      return wrong(stage_field, "contains a path that is too long or has control characters");
    }
  }
  if (spec.dependencies.size() > limits.dependencies_max) {
    return wrong("dependencies", fmt::format("has more than {} entries", limits.dependencies_max));
  }
  return {};
}

Status check_array_bytes(const live::job::JobSpec& spec, size_t tasks, const SubmitLimits& limits) {
  const size_t bytes = tasks > 1 ? tasks * live::job::to_json(spec).dump().size() : 0;
  if (bytes <= limits.array_bytes_max) return {};
  return wrong("array_tasks",
               fmt::format("{} tasks with these names and paths take {} bytes; the maximum is {}",
                           tasks, bytes, limits.array_bytes_max),
               "submit fewer tasks at once, or use shorter names and paths");
}

Status read_tasks(const json& body, const SubmitLimits& limits, std::vector<int32_t>& tasks) {
  const auto list = body.find("array_tasks");
  if (list == body.end()) return {};
  constexpr int64_t kTaskMax = 1'000'000'000;
  if (!list->is_array() || list->empty())
    return wrong("array_tasks", "must be a non-empty array of integers");
  if (list->size() > limits.array_tasks_max) {
    return wrong("array_tasks", fmt::format("has more than {} tasks", limits.array_tasks_max),
                 "submit several arrays");
  }
  int64_t last = -1;
  for (const json& each : *list) {
    // Rejects negative and huge numbers too.
    if (!each.is_number_unsigned() || each.get<uint64_t>() > uint64_t{kTaskMax} ||
        each.get<int64_t>() <= last) {
      return wrong("array_tasks", "must contain integers from 0 to 10^9 in ascending order");
    }
    last = each.get<int64_t>();
    tasks.push_back(static_cast<int32_t>(last));
  }
  return {};
}

Status check_fields(const json& body, const std::vector<std::string>& unknown) {
  for (const char* field : {"owner", "payload", "array_first", "array_task"}) {
    if (body.contains(field)) {
      return wrong(field, "is set by the server and cannot be submitted",
                   "operators can submit for another user with the field user");
    }
  }
  if (unknown.empty()) return {};
  const std::string_view meant = base::nearest_name(unknown.front(), kKnown);
  return wrong(unknown.front().substr(0, 64), "unknown field",
               meant.empty() ? "see /v1/openapi.json" : fmt::format("did you mean {}?", meant));
}
}  // namespace

Status check_json(std::string_view text) {
  constexpr int kDepthMax = 16;
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDepthMax) return wrong({}, "the body is nested too deeply");
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  if (!json::accept(text)) {
    return wrong({}, "the body is not valid JSON", "send one object in UTF-8");
  }
  return {};
}

base::Result<SubmitRequest> parse_submit_request(std::string_view body,
                                                 const SubmitLimits& limits) {
  if (Status valid = check_json(body); !valid) return base::failure(std::move(valid.error()));
  json document = json::parse(body);
  if (!document.is_object()) return wrong({}, "the body must be a JSON object");
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
      return wrong(field, "must be a string");
    }
    payload[field] = std::move(document[field]);
    document.erase(field);
  }
  if (const auto user = document.find("user"); user != document.end()) {
    if (!user->is_string() || !base::http::is_plain_text(user->get_ref<const std::string&>())) {
      return wrong("user", "must be a user name");
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
    auto fits = fit_into_type(job, site.cluster);
    if (fits) fits = fit_into_site(job, site.limits);
    if (fits) fits = fit_into_slots(job, site.cluster);
    if (!fits) {
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
