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

/// Ignoring it would change what the job does or whom it runs as.
template <const std::string_view& Name>
Status refuse(SubmitDirectives&, std::string_view) {
  return base::bad_data({}, fmt::format("--{} is not supported", Name), "remove it");
}
constexpr std::string_view kContainer = "container";
constexpr std::string_view kUser = "uid";
constexpr std::string_view kGroup = "gid";
constexpr std::string_view kExportFile = "export-file";

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
    {"ntasks-per-gpu", 1, set_count<&SubmitDirectives::tasks_per_gpu>, {}},
    {"cpus-per-gpu", 1, set_count<&SubmitDirectives::cores_per_gpu>, {}},
    {"exclusive", kOptional, set_whole_node, {}},
    {"s oversubscribe share", 0, set_sharing<core::model::SharingRequest::Yes>, {}},
    {"d dependency", 1, set_dependencies, {}},
    {"b begin", 1, set_begin, {}},
    {"a array", 1, set_array, {}},
    {"o output", 1, set_output<&JobSpec::stdout_path, slurm_output>, {}},
    {"e error", 1, set_output<&JobSpec::stderr_path, slurm_output>, {}},
    {"i input", 1, set_output<&JobSpec::stdin_path, slurm_output>, {}},
    {"open-mode", 1, set_open_mode, {}},
    {"deadline", 1, set_deadline, {}},
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
    {"time-min", 1, nullptr, "the time limit is not shortened"},
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
    {"parsable", kOptional, set_manner<&SubmitManner::parsable>, {}},
    {"Q quiet", 0, set_manner<&SubmitManner::quiet>, {}},
    {"W wait", 0, set_manner<&SubmitManner::wait>, {}},
    {"test-only", 0, set_manner<&SubmitManner::test_only>, {}},
    {"v verbose", 0, nullptr, kOfSubmit},
    {"container", 1, refuse<kContainer>, {}},
    {"uid", 1, refuse<kUser>, {}},
    {"gid", 1, refuse<kGroup>, {}},
    {"export-file", 1, refuse<kExportFile>, {}},
    {"kill-on-invalid-dep", 1, nullptr, "a job that can never start is always ended"},
    {"k no-kill", kOptional, nullptr, "a job does not survive its node"},
    {"wckey", 1, nullptr, "it is not stored"},
    {"mcs-label", 1, nullptr, "it is not stored"},
    {"extra", 1, nullptr, "it is not stored"},
    {"prefer", 1, nullptr, kNoNodeChoice},
    {"cluster-constraint", 1, nullptr, kNoNodeChoice},
    {"batch", 1, nullptr, kNoNodeChoice},
    {"mincpus", 1, nullptr, "use -c"},
    {"use-min-nodes", 0, nullptr, kNoNodeChoice},
    {"spread-job", 0, nullptr, kNoNodeChoice},
    {"B extra-node-info", 1, nullptr, kNoBinding},
    {"gres-flags", 1, nullptr, kNoBinding},
    {"gpus-per-socket", 1, nullptr, kNoBinding},
    {"S core-spec", 1, nullptr, kNoBinding},
    {"thread-spec", 1, nullptr, kNoBinding},
    {"gpu-freq cpu-freq", 1, nullptr, "frequencies are not set"},
    {"power", 1, nullptr, "power is not capped"},
    {"profile acctg-freq", 1, nullptr, "runs are measured as the site configures it"},
    {"bb bbf", 1, nullptr, "there is no burst buffer; see --stage-in"},
    {"network", 1, nullptr, "networks are not managed"},
    {"delay-boot", 1, nullptr, "nodes are not booted"},
    {"reboot", 0, nullptr, "nodes are not booted"},
    {"ignore-pbs", 0, nullptr, "lines of PBS are read"},
    {"wait-all-nodes", 1, nullptr, "a job starts when it has all it needs"},
});

}  // namespace

const Dialect& slurm_dialect() {
  static constexpr Dialect kDialect{"slurm", "#SBATCH", kOptions, false};
  return kDialect;
}

}  // namespace goban::live::job
