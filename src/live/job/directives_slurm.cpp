// `#SBATCH`: the options of sbatch (Slurm 22.05).
#include <array>
#include <fmt/format.h>

#include "live/job/directive_dialect.hpp"

namespace goban::live::job {
namespace {

using base::Status;

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr std::string_view kNoNodeChoice = "nodes are chosen by the policy";
constexpr std::string_view kNoBinding = "processes are not bound to cores";

Status set_partition(SubmitDirectives& request, std::string_view value) {
  const auto parts = split_list(value);
  if (parts.size() > 1) {
    request.notes.push_back(fmt::format("only the first of the partitions {} is used", value));
  }
  return set_text<&JobSpec::partition>(request, parts.empty() ? value : parts.front());
}

Status set_nice(SubmitDirectives& request, std::string_view value) {
  if (value.empty()) value = "100";
  const auto status = set_priority(request, value);
  if (status) request.spec.priority = -request.spec.priority;
  return status;
}

Status refuse_hetjob(SubmitDirectives&, std::string_view) {
  return base::bad_data({}, "heterogeneous jobs are not supported",
                        "submit the parts as separate jobs");
}

constexpr auto kOptions = std::to_array<DirectiveOption>({
    {"J job-name", 1, set_text<&JobSpec::name>, {}},
    {"N nodes", 1, set_nodes, {}},
    {"n ntasks", 1, set_count<&SubmitDirectives::tasks>, {}},
    {"ntasks-per-node tasks-per-node", 1, set_count<&SubmitDirectives::tasks_per_node>, {}},
    {"c cpus-per-task", 1, set_count<&SubmitDirectives::cores_per_task>, {}},
    {"mem", 1, set_memory<kMebibyte>, {}},
    {"mem-per-cpu", 1, set_memory_per<&SubmitDirectives::mem_per_core_bytes, kMebibyte>, {}},
    {"mem-per-gpu", 1, set_memory_per<&SubmitDirectives::mem_per_gpu_bytes, kMebibyte>, {}},
    {"t time", 1, set_time<&JobSpec::walltime_limit_ns, parse_slurm_time>, {}},
    {"p partition", 1, set_partition, {}},
    {"A account", 1, set_text<&JobSpec::account>, {}},
    {"q qos", 1, set_text<&JobSpec::qos>, {}},
    {"reservation", 1, set_text<&JobSpec::reservation>, {}},
    {"gres", 1, set_gres, {}},
    {"G gpus", 1, set_gpus<&SubmitDirectives::gpus>, {}},
    {"gpus-per-node", 1, set_gpus<&SubmitDirectives::gpus_per_node>, {}},
    {"gpus-per-task", 1, set_gpus<&SubmitDirectives::gpus_per_task>, {}},
    {"w nodelist", 1, set_node_names<&JobSpec::node_list>, {}},
    {"x exclude", 1, set_node_names<&JobSpec::exclude_nodes>, {}},
    {"exclusive", kOptional, set_sharing<core::model::SharingRequest::No>, {}},
    {"s oversubscribe share", 0, set_sharing<core::model::SharingRequest::Yes>, {}},
    {"d dependency", 1, set_dependencies, {}},
    {"b begin", 1, set_begin, {}},
    {"a array", 1, set_array, {}},
    {"o output", 1, set_output<&JobSpec::stdout_path, slurm_output>, {}},
    {"e error", 1, set_output<&JobSpec::stderr_path, slurm_output>, {}},
    {"export", 1, apply_export, {}},
    {"requeue", 0, set_flag<&JobSpec::requeue, true>, {}},
    {"no-requeue", 0, set_flag<&JobSpec::requeue, false>, {}},
    {"signal", 1, apply_signal, {}},
    {"D chdir workdir", 1, set_text<&JobSpec::work_folder>, {}},
    {"H hold", 0, set_flag<&JobSpec::held, true>, {}},
    {"priority", 1, set_priority, {}},
    {"nice", kOptional, set_nice, {}},
    {"hetjob packjob", 0, refuse_hetjob, {}},
    {"comment", 1, nullptr, "comments are not stored"},
    {"C constraint", 1, nullptr, kNoNodeChoice},
    {"F nodefile", 1, nullptr, kNoNodeChoice},
    {"switches", 1, nullptr, kNoNodeChoice},
    {"contiguous", 0, nullptr, kNoNodeChoice},
    {"mail-type", 1, nullptr, kNoMail},
    {"mail-user", 1, nullptr, kNoMail},
    {"deadline", 1, nullptr, "deadlines are durations; use #GOBAN --deadline 12h"},
    {"time-min", 1, nullptr, "the time limit is not shortened"},
    {"i input", 1, nullptr, "standard input is empty"},
    {"open-mode", 1, nullptr, "the first run overwrites output files, later runs append"},
    {"cpus-per-gpu", 1, nullptr, "use -c"},
    {"ntasks-per-gpu", 1, nullptr, "use --ntasks-per-node"},
    {"ntasks-per-socket", 1, nullptr, kNoBinding},
    {"ntasks-per-core", 1, nullptr, kNoBinding},
    {"threads-per-core", 1, nullptr, kNoBinding},
    {"cores-per-socket", 1, nullptr, kNoBinding},
    {"sockets-per-node", 1, nullptr, kNoBinding},
    {"hint", 1, nullptr, kNoBinding},
    {"gpu-bind", 1, nullptr, kNoBinding},
    {"mem-bind", 1, nullptr, kNoBinding},
    {"m distribution", 1, nullptr, kNoBinding},
    {"O overcommit", 0, nullptr, kNoBinding},
    {"L licenses", 1, nullptr, "licences are not managed"},
    {"M clusters", 1, nullptr, "there is one cluster"},
    {"tmp", 1, nullptr, "local disk is not managed"},
    {"get-user-env", kOptional, nullptr, "the job gets the environment of its submission"},
    {"propagate", kOptional, nullptr, "resource limits are those of the supervisor"},
    {"parsable", kOptional, nullptr, kOfSubmit},
    {"Q quiet", 0, nullptr, kOfSubmit},
    {"v verbose", 0, nullptr, kOfSubmit},
    {"W wait", 0, nullptr, kOfSubmit},
});

}  // namespace

const Dialect& slurm_dialect() {
  static constexpr Dialect kDialect{"slurm", "#SBATCH", kOptions, false};
  return kDialect;
}

}  // namespace goban::live::job
