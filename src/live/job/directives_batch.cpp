// `#$` (Grid Engine 8.1, ABCI 2.0) and `#PBS` (PBS Pro, Torque, ABCI 3.0).
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/number.hpp"
#include "live/job/directive_dialect.hpp"

namespace goban::live::job {
namespace {

using base::Status;

constexpr std::string_view kShebang = "the first line of the script selects its shell";

struct Pair {
  std::string_view name;
  std::string_view value;
};
Pair pair_of(std::string_view text) {
  const size_t sign = std::min(text.find('='), text.size());
  return {text.substr(0, sign), sign < text.size() ? text.substr(sign + 1) : std::string_view{}};
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// -v NAME,NAME=value: in addition to those of -V.
Status add_variables(SubmitDirectives& request, std::string_view value) {
  SubmitDirectives read;
  if (const auto status = apply_export(read, value); !status) return status;
  for (std::string& name : read.environment.names)
    request.environment.names.push_back(std::move(name));
  for (auto& each : read.environment.values) request.environment.values.push_back(std::move(each));
  return {};
}

Status export_all(SubmitDirectives& request, std::string_view) {
  request.environment.all = true;
  return {};
}

Status add_sge_resource(SubmitDirectives& request, std::string_view item) {
  const auto [name, value] = pair_of(item);
  if (is_one_of(name, {"h_rt", "s_rt"})) {
    return set_time<&JobSpec::walltime_limit_ns, parse_batch_time>(request, value);
  }
  if (is_one_of(name, {"gpu", "gpus", "ngpus", "num_gpus"})) {
    return set_gpus<&SubmitDirectives::gpus_per_node>(request, value);
  }
  if (is_one_of(name, {"h_vmem", "mem_free", "mem_req", "s_vmem", "mem"})) {
    return set_memory_per<&SubmitDirectives::mem_per_core_bytes, 1>(request, value);
  }
  if (name == "exclusive" || name == "excl") {
    return set_sharing<core::model::SharingRequest::No>(request, {});
  }
  if (name.starts_with("rt_")) return set_resource_type(request, name, value);
  request.notes.push_back(fmt::format("unknown resource '{}'", name));
  return {};
}

Status add_sge_resources(SubmitDirectives& request, std::string_view value) {
  for (const std::string_view item : split_list(value)) {
    if (const auto status = add_sge_resource(request, item); !status) return status;
  }
  return {};
}

/// "smp 8": the name of the parallel environment is ignored.
Status set_slots(SubmitDirectives& request, std::string_view value) {
  const size_t space = std::min(value.find(' '), value.size());
  std::string_view count = value.substr(std::min(space + 1, value.size()));
  if (const size_t dash = count.find('-'); dash != std::string_view::npos) {
    request.notes.push_back(fmt::format("the minimum of {} slots is used", count));
    count = count.substr(0, dash);
  }
  return set_count<&SubmitDirectives::slots>(request, count);
}

Status join_output(SubmitDirectives& request, std::string_view value) {
  request.separate_errors = !is_one_of(value, {"y", "yes", "oe", "eo"});
  if (!request.separate_errors) request.spec.stderr_path.clear();
  return {};
}

Status hold_for_jobs(SubmitDirectives& request, std::string_view value) {
  for (const std::string_view job : split_list(value)) {
    const auto one = parse_dependencies(job);
    if (!one || job.find(':') != std::string_view::npos) {
      return base::bad_data({}, fmt::format("'{}' is not a valid job number", job),
                            "write job numbers, as printed by goban submit");
    }
    request.spec.dependencies.push_back(one->front());
  }
  return {};
}

Status set_task_limit(SubmitDirectives& request, std::string_view value) {
  const auto limit = parse_count(value, 1);
  if (!limit) return base::failure(limit.error());
  request.spec.array_limit = *limit;
  return {};
}

Status notify(SubmitDirectives& request, std::string_view) {
  return apply_signal(request, "USR2@60");
}

/// A limit that was set separately (-tc) is kept.
Status set_sge_array(SubmitDirectives& request, std::string_view value) {
  const int32_t limit = request.spec.array_limit;
  const auto status = set_array(request, value);
  if (request.spec.array_limit == 0) request.spec.array_limit = limit;
  return status;
}

Status keep_folder(SubmitDirectives&, std::string_view) { return {}; }

constexpr auto kGridEngine = std::to_array<DirectiveOption>({
    {"N", 1, set_text<&JobSpec::name>, {}},
    {"cwd", 0, keep_folder, {}},
    {"wd", 1, set_text<&JobSpec::work_folder>, {}},
    {"j", 1, join_output, {}},
    {"o", 1, set_output<&JobSpec::stdout_path, batch_output>, {}},
    {"e", 1, set_output<&JobSpec::stderr_path, batch_output>, {}},
    {"l", 1, add_sge_resources, {}},
    {"pe", 2, set_slots, {}},
    {"t", 1, set_sge_array, {}},
    {"tc", 1, set_task_limit, {}},
    {"v", 1, add_variables, {}},
    {"V", 0, export_all, {}},
    {"q", 1, set_text<&JobSpec::partition>, {}},
    {"g", 1, set_text<&JobSpec::account>, {}},
    {"A", 1, set_text<&JobSpec::account>, {}},
    {"P", 1, set_text<&JobSpec::account>, {}},
    {"hold_jid", 1, hold_for_jobs, {}},
    {"p", 1, set_priority, {}},
    {"r", 1, set_rerunnable, {}},
    {"h", 0, set_flag<&JobSpec::held, true>, {}},
    {"ar", 1, set_text<&JobSpec::reservation>, {}},
    {"notify", 0, notify, {}},
    {"m", 1, nullptr, kNoMail},
    {"M", 1, nullptr, kNoMail},
    {"S", 1, nullptr, kShebang},
    {"b", 1, nullptr, "only scripts can be submitted"},
    {"shell", 1, nullptr, kShebang},
    {"R", 1, nullptr, "the policy decides on backfill reservations"},
    {"sync", 1, nullptr, kOfSubmit},
    {"now", 1, nullptr, kOfSubmit},
    {"terse", 0, nullptr, kOfSubmit},
    {"a", 1, nullptr, "the job may start at once; use -h to hold it"},
    {"i", 1, nullptr, "standard input is empty"},
});

/// "2:ncpus=8:ngpus=4:mem=64gb:mpiprocs=4" of select, or Torque's nodes ("ppn", "gpus").
Status set_chunks(SubmitDirectives& request, std::string_view value) {
  if (value.find('+') != std::string_view::npos) {
    return base::bad_data({}, fmt::format("'{}' requests different kinds of nodes", value),
                          "submit the parts as separate jobs");
  }
  const auto parts = split_list(value, ':');
  const bool counted = !parts.empty() && base::parse_int(parts[0]).has_value();
  if (const auto nodes = set_nodes(request, counted ? parts[0] : "1"); !nodes) return nodes;
  for (size_t i = counted ? 1 : 0; i < parts.size(); ++i) {
    const auto [name, count] = pair_of(parts[i]);
    Status status;
    if (is_one_of(name, {"ngpus", "gpus"})) {
      status = set_gpus<&SubmitDirectives::gpus_per_node>(request, count);
    } else if (is_one_of(name, {"ncpus", "ppn"})) {
      const auto cores = parse_count(count, 1);
      if (!cores) return base::failure(cores.error());
      request.spec.cores = *cores;
    } else if (name == "mem") {
      status = set_memory<1>(request, count);
    } else if (!is_one_of(name, {"mpiprocs", "ompthreads"})) {
      request.notes.push_back(fmt::format("unknown node resource '{}'", parts[i]));
    }
    if (!status) return status;
  }
  return {};
}

Status add_pbs_resource(SubmitDirectives& request, std::string_view item) {
  const auto [name, value] = pair_of(item);
  if (name == "walltime") {
    return set_time<&JobSpec::walltime_limit_ns, parse_batch_time>(request, value);
  }
  if (is_one_of(name, {"select", "nodes"})) return set_chunks(request, value);
  if (is_one_of(name, {"ngpus", "gpus"}))
    return set_gpus<&SubmitDirectives::gpus_per_node>(request, value);
  if (name == "ncpus") {
    const auto cores = parse_count(value, 1);
    if (!cores) return base::failure(cores.error());
    request.spec.cores = *cores;
    return {};
  }
  if (name == "mem") return set_memory<1>(request, value);
  request.notes.push_back(fmt::format("unknown resource '{}'", name));
  return {};
}

Status add_pbs_resources(SubmitDirectives& request, std::string_view value) {
  for (const std::string_view item : split_list(value)) {
    if (const auto status = add_pbs_resource(request, item); !status) return status;
  }
  return {};
}

/// In ABCI 3.0, resource types are queue names.
Status set_pbs_queue(SubmitDirectives& request, std::string_view value) {
  if (!value.starts_with("rt_")) return set_text<&JobSpec::partition>(request, value);
  const int32_t nodes = request.nodes;
  const auto status = set_resource_type(request, value, {});
  request.nodes = nodes;
  return status;
}

Status add_pbs_attribute(SubmitDirectives& request, std::string_view item) {
  const auto [name, value] = pair_of(item);
  if (name == "group_list") return set_text<&JobSpec::account>(request, value);
  if (name == "depend") return set_dependencies(request, value);
  request.notes.push_back(fmt::format("unknown attribute '{}'", name));
  return {};
}

constexpr auto kPbs = std::to_array<DirectiveOption>({
    {"N", 1, set_text<&JobSpec::name>, {}},
    {"l", 1, add_pbs_resources, {}},
    {"q", 1, set_pbs_queue, {}},
    {"P", 1, set_text<&JobSpec::account>, {}},
    {"A", 1, set_text<&JobSpec::account>, {}},
    {"W", 1, add_pbs_attribute, {}},
    {"j", 1, join_output, {}},
    {"o", 1, set_output<&JobSpec::stdout_path, batch_output>, {}},
    {"e", 1, set_output<&JobSpec::stderr_path, batch_output>, {}},
    {"v", 1, add_variables, {}},
    {"V", 0, export_all, {}},
    {"J", 1, set_sge_array, {}},
    {"t", 1, set_sge_array, {}},
    {"h", 0, set_flag<&JobSpec::held, true>, {}},
    {"r", 1, set_rerunnable, {}},
    {"p", 1, set_priority, {}},
    {"d", 1, set_text<&JobSpec::work_folder>, {}},
    {"w", 1, set_text<&JobSpec::work_folder>, {}},
    {"m", 1, nullptr, kNoMail},
    {"M", 1, nullptr, kNoMail},
    {"S", 1, nullptr, kShebang},
    {"k", 1, nullptr, "output is written directly to its final file"},
    {"c", 1, nullptr, "jobs write their checkpoints themselves"},
    {"a", 1, nullptr, "the job may start at once; use -h to hold it"},
});

}  // namespace

const Dialect& grid_engine_dialect() {
  static constexpr Dialect kDialect{"sge", "#$", kGridEngine, true};
  return kDialect;
}

const Dialect& pbs_dialect() {
  static constexpr Dialect kDialect{"pbs", "#PBS", kPbs, false};
  return kDialect;
}

}  // namespace goban::live::job
