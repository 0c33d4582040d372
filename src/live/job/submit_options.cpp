#include "live/job/submit_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::live::job {
namespace {

using base::Status;
using core::model::SharingWish;
using core::model::TrainingFacts;

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr std::string_view kWhat = "What it needs";
constexpr std::string_view kWhen = "When it runs";
constexpr std::string_view kTraining = "What is known of the training";
constexpr std::string_view kHow = "How it runs";

Status refuse(std::string_view value, const char* what, const char* remedy) {
  return base::bad_data({}, fmt::format("'{}' is {}", value, what), remedy);
}

template <TimeNs TrainingFacts::* Field>
Status set_promise(JobWish& wish, std::string_view value) {
  const auto span = parse_span(value);
  if (!span) return base::failure(span.error());
  wish.spec.training.*Field = *span;
  return {};
}

template <int32_t TrainingFacts::* Field>
Status set_fact(JobWish& wish, std::string_view value) {
  const auto count = parse_count(value, 1);
  if (!count) return base::failure(count.error());
  wish.spec.training.*Field = *count;
  return {};
}

Status set_slowdown(JobWish& wish, std::string_view value) {
  const auto number = base::parse_double(value);
  if (!number || *number < 1 || *number > 1e6) {
    return refuse(value, "no slowdown", "write a number of at least 1, such as 1.5");
  }
  wish.spec.training.max_slowdown = static_cast<float>(*number);
  return {};
}

Status set_gpu_util(JobWish& wish, std::string_view value) {
  if (value.ends_with('%')) value.remove_suffix(1);
  const auto number = base::parse_double(value);
  if (!number || *number < 0 || *number > 100) {
    return refuse(value, "no utilisation", "write percent from 0 to 100");
  }
  wish.spec.training.gpu_util_pct = static_cast<float>(*number);
  return {};
}

Status set_gpu_memory(JobWish& wish, std::string_view value) {
  const auto bytes = parse_memory(value, 1);
  if (!bytes) return base::failure(bytes.error());
  wish.spec.training.gpu_mem_bytes = *bytes;
  return {};
}

Status set_class(JobWish& wish, std::string_view value) {
  if (value.size() != 1 || value[0] < 'A' || value[0] > 'Z') {
    return refuse(value, "no class", "write a letter, A is the most sensitive to slow GPUs");
  }
  wish.spec.app_class = static_cast<int8_t>(value[0] - 'A');
  return {};
}

Status set_type(JobWish& wish, std::string_view value) {
  const size_t sign = std::min(value.find('='), value.size());
  return set_resource_type(wish, value.substr(0, sign),
                           sign < value.size() ? value.substr(sign + 1) : std::string_view{});
}

Status set_cores(JobWish& wish, std::string_view value) {
  const auto count = parse_count(value, 1);
  if (!count) return base::failure(count.error());
  wish.spec.cores = *count;
  wish.tasks = wish.tasks_per_node = wish.cores_per_task = wish.slots = -1;
  return {};
}

Status set_grace(JobWish& wish, std::string_view value) {
  const auto span = parse_span(value);
  if (!span) return base::failure(span.error());
  wish.spec.stop.grace_ns = *span;
  return {};
}

constexpr auto kOptions = std::to_array<SubmitOption>({
    {"-g,--gpus", "N", kWhat, "GPUs of all nodes together (default 1)", set_gpus<&JobWish::gpus>},
    {"--gpus-per-node", "N", kWhat, "GPUs of each node, instead of --gpus",
     set_gpus<&JobWish::gpus_per_node>},
    {"-N,--nodes", "N", kWhat, "Nodes", set_nodes},
    {"--type", "TYPE[=N]", kWhat, "N instances (default 1) of a resource type of the site",
     set_type},
    {"-c,--cores", "N", kWhat, "CPU cores of each node (default: the GPUs' share)", set_cores},
    {"--mem", "SIZE", kWhat, "Host memory of each node, such as 32G; MiB without a unit",
     set_memory<kMebibyte>},
    {"-t,--time", "TIME", kWhat,
     "Limit after which it is stopped: 90m, 12h, 1:30:00, 1-12:00:00 (default: none)",
     set_time<&JobSpec::walltime_limit_ns, parse_span>},
    {"--exclusive", "", kWhat, "No neighbours on its GPUs", set_sharing<SharingWish::No>},
    {"--share", "", kWhat, "Neighbours on its GPUs are welcome", set_sharing<SharingWish::Yes>},
    {"-A,--account", "NAME", kWhen, "Account that pays for it", set_text<&JobSpec::account>},
    {"-p,--partition", "NAME", kWhen, "Partition", set_text<&JobSpec::partition>},
    {"-q,--qos", "NAME", kWhen, "Quality of service", set_text<&JobSpec::qos>},
    {"--reservation", "NAME", kWhen, "Reservation it runs in", set_text<&JobSpec::reservation>},
    {"--priority", "N", kWhen, "Larger goes first, where the policy looks at it", set_priority},
    {"-a,--array", "TASKS", kWhen, "Tasks of an array: 0-9, 0-9%2 (two at once), 1,4,7-9",
     set_array},
    {"-d,--dependency", "LIST", kWhen, "Other jobs it waits for: afterok:12:13,afterany:14",
     set_dependencies},
    {"--hold", "", kWhen, "Wait until somebody releases it", set_flag<&JobSpec::held, true>},
    {"--requeue", "", kWhen, "Start it again if its node fails (the default)",
     set_flag<&JobSpec::requeue, true>},
    {"--no-requeue", "", kWhen, "Never start it twice", set_flag<&JobSpec::requeue, false>},
    {"--deadline", "TIME", kTraining, "To be finished so long after submission",
     set_promise<&TrainingFacts::deadline_ns>},
    {"--max-wait", "TIME", kTraining, "Longest time without GPUs",
     set_promise<&TrainingFacts::max_wait_ns>},
    {"--max-slowdown", "X", kTraining, "Its time in the system / its time alone at most",
     set_slowdown},
    {"--model", "NAME", kTraining, "Application, as the co-location history names it",
     set_text<&JobSpec::model>},
    {"--class", "LETTER", kTraining, "Sensitivity to slow GPUs, A the highest", set_class},
    {"--epochs", "N", kTraining, "Epochs of all its work", set_fact<&TrainingFacts::epochs>},
    {"--batch-size", "N", kTraining, "Batch size", set_fact<&TrainingFacts::batch_size>},
    {"--gpu-mem", "SIZE", kTraining, "Peak memory of one GPU, such as 12G", set_gpu_memory},
    {"--gpu-util", "PERCENT", kTraining, "Utilisation of one GPU", set_gpu_util},
    {"-J,--name", "NAME", kHow, "Name (default: of the script)", set_text<&JobSpec::name>},
    {"-D,--chdir", "DIR", kHow, "Folder it runs in (default: the current one)",
     set_text<&JobSpec::work_folder>},
    {"-o,--output", "FILE", kHow,
     "Standard output; %j number, %x name, %u user, %A array, %a task (default %x-%j.out)",
     set_output<&JobSpec::stdout_path, slurm_output>},
    {"-e,--error", "FILE", kHow, "Standard error (default: with the output)",
     set_output<&JobSpec::stderr_path, slurm_output>},
    {"--export", "LIST", kHow, "Variables it gets: ALL (default), NONE or NAME,NAME=value",
     apply_export},
    {"--signal", "SIG[@TIME]", kHow,
     "Sent TIME (default 60 s) before it is stopped, so that it writes a checkpoint", apply_signal},
    {"--grace", "TIME", kHow, "Between SIGTERM and SIGKILL (default 30s)", set_grace},
});

}  // namespace

std::span<const SubmitOption> submit_options() { return kOptions; }

const SubmitOption* find_submit_option(std::string_view name) {
  for (const SubmitOption& option : kOptions) {
    const auto names = split_list(option.names);
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

}  // namespace goban::live::job
