#include "live/job/job_spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_fields.hpp"

namespace goban::live::job {

using base::Result;
using nlohmann::json;

namespace {

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
constexpr int64_t kSpecBytesMax = int64_t{1} << 50;
constexpr std::array<std::string_view, 5> kDependencyNames = {"after", "afterany", "afterok",
                                                              "afternotok", "singleton"};
constexpr std::array<const char*, 3> kClassSources = {"submission", "model", "measured"};
constexpr std::array<const char*, 3> kOpenModes = {"", "append", "truncate"};
constexpr std::array<const char*, 3> kShareNames = {"unsaid", "no", "yes"};

template <typename Enum, size_t N>
bool find_name(const std::array<const char*, N>& names, const std::string& name, Enum& value) {
  for (size_t i = 0; i < N; ++i) {
    if (name != names[i]) continue;
    value = static_cast<Enum>(i);
    return true;
  }
  return false;
}

json training_json(const core::model::TrainingFacts& facts) {
  const core::model::TrainingFacts normal;
  json object = json::object();
  base::FieldWriter out(object);
  out.seconds("deadline_s", facts.deadline_ns, normal.deadline_ns);
  out.field("gpu_mem_bytes", facts.gpu_mem_bytes, normal.gpu_mem_bytes);
  out.field("gpu_util_pct", facts.gpu_util_pct, normal.gpu_util_pct);
  out.field("epochs", facts.epochs, normal.epochs);
  out.field("batch_size", facts.batch_size, normal.batch_size);
  out.field("max_slowdown", facts.max_slowdown, normal.max_slowdown);
  out.seconds("max_wait_s", facts.max_wait_ns, normal.max_wait_ns);
  out.field("gpus_min", facts.gpus_min, normal.gpus_min);
  out.field("gpus_max", facts.gpus_max, normal.gpus_max);
  out.field("steps", facts.steps, normal.steps);
  out.seconds("resize_cost_s", facts.resize_cost_ns, normal.resize_cost_ns);
  if (facts.sharing != normal.sharing) {
    object["share"] = kShareNames[static_cast<size_t>(facts.sharing)];
  }
  return object;
}

void read_training(base::FieldReader& in, core::model::TrainingFacts& facts) {
  in.seconds("deadline_s", facts.deadline_ns);
  in.field("gpu_mem_bytes", facts.gpu_mem_bytes, int64_t{0}, kSpecBytesMax);
  in.field("gpu_util_pct", facts.gpu_util_pct, 0, 100);
  in.field("epochs", facts.epochs, 0, kMost);
  in.field("batch_size", facts.batch_size, 0, kMost);
  in.field("max_slowdown", facts.max_slowdown, 0, 1e6);
  in.seconds("max_wait_s", facts.max_wait_ns);
  in.field("gpus_min", facts.gpus_min, 0, kMost);
  in.field("gpus_max", facts.gpus_max, 0, kMost);
  in.field("steps", facts.steps, int64_t{0}, kSpecBytesMax);
  in.seconds("resize_cost_s", facts.resize_cost_ns);
  std::string share = kShareNames[0];
  in.field("share", share);
  if (!find_name(kShareNames, share, facts.sharing)) in.fail("share", "must be yes or no");
}

void read_owner(base::FieldReader& in, Owner& owner) {
  constexpr uint32_t kIdMax = std::numeric_limits<uint32_t>::max();
  in.field("uid", owner.uid, uint32_t{0}, kIdMax);
  in.field("gid", owner.gid, uint32_t{0}, kIdMax);
  in.field("user", owner.user);
  in.field("realm", owner.realm);
}

void read_job_number(base::FieldReader& in, const char* name, JobId& job) {
  uint32_t number = 0;
  in.field(name, number, uint32_t{1}, std::numeric_limits<uint32_t>::max() - 1);
  if (number > 0) job = JobId(number - 1);
}

void read_dependency(base::FieldReader& in, Dependency& dependency) {
  std::string kind = "afterany";
  in.field("kind", kind);
  if (const auto known = parse_dependency_kind(kind)) {
    dependency.kind = *known;
  } else {
    in.fail("kind", "must be after, afterany, afterok, afternotok or singleton");
  }
  read_job_number(in, "job", dependency.job);
  const bool needs_job = dependency.kind != DependencyKind::Singleton;
  if (needs_job && !dependency.job.valid()) in.fail("job", "is missing");
  if (!needs_job && dependency.job.valid()) in.fail("job", "must be absent with singleton");
}

void read_class(base::FieldReader& in, JobSpec& spec) {
  if (const json* given = in.find("app_class"); given != nullptr) {
    const std::string letter = given->is_string() ? given->get<std::string>() : "";
    if (letter.size() == 1 && letter[0] >= 'A' && letter[0] <= 'Z') {
      spec.app_class = static_cast<int8_t>(letter[0] - 'A');
    } else {
      in.fail("app_class", "must be a letter from A to Z");
    }
  }
  std::string from;
  in.field("class_from", from);
  if (!from.empty() && !find_name(kClassSources, from, spec.class_from)) {
    in.fail("class_from", "must be submission, model or measured");
  }
}

void read_open_mode(base::FieldReader& in, OpenMode& mode) {
  std::string name;
  in.field("open_mode", name);
  if (!find_name(kOpenModes, name, mode)) in.fail("open_mode", "must be append or truncate");
}

void read_umask(base::FieldReader& in, uint32_t& umask) {
  std::string text;
  in.field("umask", text);
  if (text.empty()) return;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size() || value > 0777) {
    return in.fail("umask", "must be an octal number from 0 to 0777, such as 0027");
  }
  umask = value;
}

void read_parts(base::FieldReader& in, JobSpec& spec) {
  in.object("owner", [&](base::FieldReader& part) { read_owner(part, spec.owner); });
  in.object("training", [&](base::FieldReader& part) { read_training(part, spec.training); });
  in.list("dependencies", [&](base::FieldReader& part) {
    read_dependency(part, spec.dependencies.emplace_back());
  });
  in.object("stop", [&](base::FieldReader& part) {
    part.field("signal", spec.stop.signal, 0, 64);
    part.seconds("lead_s", spec.stop.lead_ns);
    part.seconds("grace_s", spec.stop.grace_ns);
  });
  in.field("stage_in", spec.stage_in);
  in.list("stage_out", [&](base::FieldReader& part) {
    StageOut& each = spec.stage_out.emplace_back();
    part.field("from", each.from);
    part.field("to", each.to);
  });
  in.field("stage_out_always", spec.stage_out_always);
  read_job_number(in, "array_first", spec.array_first);
  read_class(in, spec);
}

}  // namespace

OwnerKey key_of(const Owner& owner) {
  if (owner.realm.empty()) return {.realm = {}, .uid = owner.uid, .user = {}};
  return {.realm = owner.realm, .uid = 0, .user = owner.user};
}

std::string full_name(const Owner& owner) {
  return owner.realm.empty() ? owner.user : owner.realm + '/' + owner.user;
}

std::string_view dependency_name(DependencyKind kind) {
  return kDependencyNames[static_cast<size_t>(kind)];
}

std::optional<DependencyKind> parse_dependency_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kDependencyNames, name);
  if (found == kDependencyNames.end()) return std::nullopt;
  return static_cast<DependencyKind>(found - kDependencyNames.begin());
}

std::string job_name_of(JobId job, const JobSpec& spec) {
  if (spec.array_task < 0) return fmt::format("{}", job_number(job));
  return fmt::format("{}_{}", job_number(spec.array_first), spec.array_task);
}

json to_json(const JobSpec& spec) {
  const JobSpec normal;
  json object = json::object();
  base::FieldWriter out(object);
  out.field("name", spec.name, normal.name);
  if (spec.owner != normal.owner) {
    object["owner"] = {{"uid", spec.owner.uid}, {"gid", spec.owner.gid}, {"user", spec.owner.user}};
    if (!spec.owner.realm.empty()) object["owner"]["realm"] = spec.owner.realm;
  }
  out.field("account", spec.account, normal.account);
  out.field("partition", spec.partition, normal.partition);
  out.field("qos", spec.qos, normal.qos);
  out.field("model", spec.model, normal.model);
  out.field("application", spec.application, normal.application);
  out.field("resource_type", spec.resource_type, normal.resource_type);
  out.field("reservation", spec.reservation, normal.reservation);
  out.field("gpu_model", spec.gpu_model, normal.gpu_model);
  if (!spec.node_list.empty()) object["node_list"] = spec.node_list;
  if (!spec.exclude_nodes.empty()) object["exclude_nodes"] = spec.exclude_nodes;
  if (spec.app_class >= 0) {
    object["app_class"] = std::string(1, char('A' + spec.app_class));
    if (spec.class_from != normal.class_from) {
      object["class_from"] = kClassSources[static_cast<size_t>(spec.class_from)];
    }
  }
  out.field("num_gpus", spec.num_gpus, normal.num_gpus);
  out.field("instances", spec.instances, normal.instances);
  out.field("equal_indices", spec.equal_indices, normal.equal_indices);
  out.field("cores", spec.cores, normal.cores);
  out.field("mem_bytes", spec.mem_bytes, normal.mem_bytes);
  out.field("priority", spec.priority, normal.priority);
  out.seconds("walltime_s", spec.walltime_limit_ns, normal.walltime_limit_ns);
  out.seconds("begin_s", spec.begin_ns, normal.begin_ns);
  if (spec.training != normal.training) object["training"] = training_json(spec.training);
  for (const Dependency& each : spec.dependencies) {
    json& entry = object["dependencies"].emplace_back();
    entry["kind"] = dependency_name(each.kind);
    if (each.job.valid()) entry["job"] = job_number(each.job);
  }
  if (spec.array_first.valid()) object["array_first"] = job_number(spec.array_first);
  out.field("array_task", spec.array_task, normal.array_task);
  out.field("array_limit", spec.array_limit, normal.array_limit);
  out.field("held", spec.held, normal.held);
  out.field("requeue", spec.requeue, normal.requeue);
  out.field("preemptible", spec.preemptible, normal.preemptible);
  out.field("interactive", spec.interactive, normal.interactive);
  out.field("payload", spec.payload, normal.payload);
  out.field("work_folder", spec.work_folder, normal.work_folder);
  if (spec.umask != normal.umask) object["umask"] = fmt::format("{:04o}", spec.umask);
  out.field("stdout_path", spec.stdout_path, normal.stdout_path);
  out.field("stderr_path", spec.stderr_path, normal.stderr_path);
  out.field("stdin_path", spec.stdin_path, normal.stdin_path);
  if (spec.open_mode != normal.open_mode) {
    object["open_mode"] = kOpenModes[static_cast<size_t>(spec.open_mode)];
  }
  out.field("script_path", spec.script_path, normal.script_path);
  out.field("script_hash", spec.script_hash, normal.script_hash);
  if (spec.stop != normal.stop) {
    object["stop"] = {{"signal", spec.stop.signal},
                      {"lead_s", base::to_seconds(spec.stop.lead_ns)},
                      {"grace_s", base::to_seconds(spec.stop.grace_ns)}};
  }
  if (!spec.stage_in.empty()) object["stage_in"] = spec.stage_in;
  for (const StageOut& each : spec.stage_out) {
    object["stage_out"].push_back({{"from", each.from}, {"to", each.to}});
  }
  out.field("stage_out_always", spec.stage_out_always, normal.stage_out_always);
  return object;
}

Result<JobSpec> job_spec_from_json(const json& document, std::vector<std::string>* unknown) {
  JobSpec spec;
  base::FieldReader in(document, "");
  in.field("name", spec.name);
  in.field("account", spec.account);
  in.field("partition", spec.partition);
  in.field("qos", spec.qos);
  in.field("model", spec.model);
  in.field("application", spec.application);
  in.field("resource_type", spec.resource_type);
  in.field("reservation", spec.reservation);
  in.field("gpu_model", spec.gpu_model);
  in.field("node_list", spec.node_list);
  in.field("exclude_nodes", spec.exclude_nodes);
  in.field("num_gpus", spec.num_gpus, 0, 1'000'000);
  in.field("instances", spec.instances, 1, 1'000'000);
  in.field("equal_indices", spec.equal_indices);
  in.field("cores", spec.cores, 0, 1'000'000);
  in.field("mem_bytes", spec.mem_bytes, int64_t{0}, kSpecBytesMax);
  in.field("priority", spec.priority, -kMost, kMost);
  in.seconds("walltime_s", spec.walltime_limit_ns);
  in.seconds("begin_s", spec.begin_ns);
  in.field("array_task", spec.array_task, -1, kMost);
  in.field("array_limit", spec.array_limit, 0, kMost);
  in.field("held", spec.held);
  in.field("requeue", spec.requeue);
  in.field("preemptible", spec.preemptible);
  in.field("interactive", spec.interactive);
  in.field("payload", spec.payload);
  in.field("work_folder", spec.work_folder);
  read_umask(in, spec.umask);
  in.field("stdout_path", spec.stdout_path);
  in.field("stderr_path", spec.stderr_path);
  in.field("stdin_path", spec.stdin_path);
  read_open_mode(in, spec.open_mode);
  in.field("script_path", spec.script_path);
  in.field("script_hash", spec.script_hash, uint32_t{0}, UINT32_MAX);
  read_parts(in, spec);
  if (const auto status = in.status(); !status) return base::failure(status.error());
  if (unknown != nullptr) *unknown = in.unknown();
  return spec;
}

}  // namespace goban::live::job
