#include "live/job/submit_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/number.hpp"
#include "live/job/begin_time.hpp"
#include "live/job/stage_paths.hpp"

namespace goban::live::job {

using base::Result;
using base::Status;

namespace {

using core::model::SharingRequest;
using core::model::TrainingFacts;

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr std::string_view kWhat = "Resources";
constexpr std::string_view kWhen = "Scheduling";
constexpr std::string_view kTraining = "Training";
constexpr std::string_view kHow = "Execution";

template <TimeNs TrainingFacts::* Field>
Status set_promise(SubmitDirectives& request, std::string_view value) {
  const auto span = parse_span(value);
  if (!span) return base::failure(span.error());
  request.spec.training.*Field = *span;
  return {};
}

/// A resize may cost nothing, and nothing has no unit.
Status set_resize_cost(SubmitDirectives& request, std::string_view value) {
  if (value == "0") value = "0s";
  return set_promise<&TrainingFacts::resize_cost_ns>(request, value);
}

template <int32_t TrainingFacts::* Field>
Status set_fact(SubmitDirectives& request, std::string_view value) {
  const auto count = parse_count(value, 1);
  if (!count) return base::failure(count.error());
  request.spec.training.*Field = *count;
  return {};
}

/// As "2..8" or "8": from one GPU on.
Status set_range(SubmitDirectives& request, std::string_view value) {
  constexpr std::string_view kTo = "..";
  const size_t to = value.find(kTo);
  const bool both = to != std::string_view::npos;
  const auto least = both ? parse_count(value.substr(0, to), 1) : base::Result<int32_t>(1);
  const auto most = parse_count(both ? value.substr(to + kTo.size()) : value, 1);
  if (!least || !most || *least > *most) {
    return refused_value(value, "not a range of GPUs",
                         "write the least and the most, such as 2..8");
  }
  request.spec.training.gpus_min = *least;
  request.spec.training.gpus_max = *most;
  return {};
}

Status set_steps(SubmitDirectives& request, std::string_view value) {
  const auto steps = base::parse_int(value);
  if (!steps || *steps < 1 || *steps > int64_t{1} << 50) {
    return refused_value(value, "not a number of steps", "write a whole number from 1 on");
  }
  request.spec.training.steps = *steps;
  return {};
}

Status set_slowdown(SubmitDirectives& request, std::string_view value) {
  const auto number = base::parse_double(value);
  if (!number || *number < 1 || *number > 1e6) {
    return refused_value(value, "not a valid slowdown",
                         "write a number from 1 to 1000000, such as 1.5");
  }
  request.spec.training.max_slowdown = static_cast<float>(*number);
  return {};
}

Status set_gpu_util(SubmitDirectives& request, std::string_view value) {
  if (value.ends_with('%')) value.remove_suffix(1);
  const auto number = base::parse_double(value);
  if (!number || *number < 0 || *number > 100) {
    return refused_value(value, "not a valid utilisation", "write a percentage from 0 to 100");
  }
  request.spec.training.gpu_util_pct = static_cast<float>(*number);
  return {};
}

Status set_gpu_memory(SubmitDirectives& request, std::string_view value) {
  const auto bytes = parse_memory(value, 1);
  if (!bytes) return base::failure(bytes.error());
  request.spec.training.gpu_mem_bytes = *bytes;
  return {};
}

Status set_class(SubmitDirectives& request, std::string_view value) {
  if (value.size() != 1 || value[0] < 'A' || value[0] > 'Z') {
    return refused_value(value, "not a valid class",
                         "write a letter from A to Z; A is the most sensitive to slow GPUs");
  }
  request.spec.app_class = static_cast<int8_t>(value[0] - 'A');
  return {};
}

Status set_type(SubmitDirectives& request, std::string_view value) {
  const size_t sign = std::min(value.find('='), value.size());
  return set_resource_type(request, value.substr(0, sign),
                           sign < value.size() ? value.substr(sign + 1) : std::string_view{});
}

Status set_cores(SubmitDirectives& request, std::string_view value) {
  const auto count = parse_count(value, 1);
  if (!count) return base::failure(count.error());
  request.spec.cores = *count;
  request.tasks = request.tasks_per_node = request.cores_per_task = request.slots = -1;
  return {};
}

Status set_grace(SubmitDirectives& request, std::string_view value) {
  const auto span = parse_span(value);
  if (!span) return base::failure(span.error());
  request.spec.stop.grace_ns = *span;
  return {};
}

constexpr auto kOptions = std::to_array<SubmitOption>({
    {"-g,--gpus", "GPUS", kWhat,
     "Total number of GPUs (default 1), such as 4, or of a model, such as h200:4",
     set_gpus<&SubmitDirectives::gpus>},
    {"--gpus-per-node", "GPUS", kWhat, "GPUs per node, instead of --gpus",
     set_gpus<&SubmitDirectives::gpus_per_node>},
    {"--gres", "GRES", kWhat, "The same, as Slurm writes it: gpu:4 or gpu:h200:4", set_gres},
    {"-N,--nodes", "N", kWhat, "Number of nodes (default 1)", set_nodes},
    {"--type", "TYPE[=N]", kWhat, "Resource type of the site and number of instances (default 1)",
     set_type},
    {"-c,--cores", "N", kWhat, "CPU cores per node (default: the GPUs' share); with -n, per task",
     set_cores},
    {"--mem", "SIZE", kWhat, "Host memory per node, such as 32G; without a unit in MiB",
     set_memory<kMebibyte>},
    {"-t,--time", "TIME", kWhat, "Walltime limit: 90m, 12h, 1:30:00, 1-12:00:00 (default: none)",
     set_time<&JobSpec::walltime_limit_ns, parse_span>},
    {"--exclusive", "", kWhat, "Never co-locate with other jobs", set_sharing<SharingRequest::No>},
    {"--share", "", kWhat, "Allow co-location with other jobs", set_sharing<SharingRequest::Yes>},
    {"-A,--account", "NAME", kWhen, "Account to charge", set_text<&JobSpec::account>},
    {"-p,--partition", "NAME", kWhen, "Partition", set_text<&JobSpec::partition>},
    {"-q,--qos", "NAME", kWhen, "Quality of service", set_text<&JobSpec::qos>},
    {"--reservation", "NAME", kWhen, "Reservation to run in", set_text<&JobSpec::reservation>},
    {"-w,--nodelist", "NODES", kWhen, "Nodes to run on, such as n1 or g[003-007]",
     set_node_names<&JobSpec::node_list>},
    {"-x,--exclude", "NODES", kWhen, "Nodes not to run on",
     set_node_names<&JobSpec::exclude_nodes>},
    {"--priority", "N", kWhen, "Priority; larger runs first, if the policy uses it", set_priority},
    {"-a,--array", "TASKS", kWhen, "Indexes of array tasks: 0-9, 0-9%2 (two at once), 1,4,7-9",
     set_array},
    {"-d,--dependency", "LIST", kWhen,
     "Jobs this one waits for: afterok:12:13,afterany:14; singleton: earlier ones of its name",
     set_dependencies},
    {"-b,--begin", "TIME", kWhen,
     "Earliest start: 16:00, 2026-12-01T08:00 (local time), now+2hours, tomorrow", set_begin},
    {"--hold", "", kWhen, "Submit in the held state", set_flag<&JobSpec::held, true>},
    {"--requeue", "", kWhen, "Requeue after a node failure (the default)",
     set_flag<&JobSpec::requeue, true>},
    {"--no-requeue", "", kWhen, "Do not requeue after a node failure",
     set_flag<&JobSpec::requeue, false>},
    {"--deadline", "TIME", kTraining, "Deadline, relative to submission, such as 12h",
     set_promise<&TrainingFacts::deadline_ns>},
    {"--max-wait", "TIME", kTraining, "Maximum wait time, such as 30m",
     set_promise<&TrainingFacts::max_wait_ns>},
    {"--max-slowdown", "X", kTraining, "Maximum JCT / duration alone, such as 1.5", set_slowdown},
    {"--model", "NAME", kTraining, "Application, as named in the co-location history",
     set_text<&JobSpec::model>},
    {"--class", "LETTER", kTraining, "Sensitivity to slow GPUs: A (highest) to Z", set_class},
    {"--epochs", "N", kTraining, "Total number of epochs", set_fact<&TrainingFacts::epochs>},
    {"--batch-size", "N", kTraining, "Batch size", set_fact<&TrainingFacts::batch_size>},
    {"--elastic", "MIN..MAX", kTraining,
     "Numbers of GPUs the job can run on, such as 2..8; it resumes from its checkpoint", set_range},
    {"--steps", "N", kTraining, "Total number of steps", set_steps},
    {"--resize-cost", "TIME", kTraining,
     "Time lost when the job restarts on a different number of GPUs, such as 30s", set_resize_cost},
    {"--gpu-mem", "SIZE", kTraining, "Expected peak memory per GPU, such as 12G", set_gpu_memory},
    {"--gpu-util", "PERCENT", kTraining, "Expected utilisation per GPU in percent, 0 to 100",
     set_gpu_util},
    {"-J,--name", "NAME", kHow, "Job name (default: name of the script)", set_text<&JobSpec::name>},
    {"-D,--chdir", "DIR", kHow, "Working folder (default: the current one)",
     set_text<&JobSpec::work_folder>},
    {"--stage-in", "PATH", kHow,
     "File or folder to copy to the fast storage tier before the start; may be repeated",
     add_stage_in, true},
    {"--stage-out", "FROM:TO", kHow,
     "Copy FROM (in $GOBAN_FAST) to TO after the end; may be repeated; % as in --output",
     add_stage_out, true},
    {"--stage-out-on", "END", kHow, "When to copy: success (default) or always", set_stage_out_on},
    {"-o,--output", "FILE", kHow,
     "File for standard output; %j job number, %x name, %u user, %A array, %a task (default "
     "%x-%j.out)",
     set_output<&JobSpec::stdout_path, slurm_output>},
    {"-e,--error", "FILE", kHow, "File for standard error (default: the file for standard output)",
     set_output<&JobSpec::stderr_path, slurm_output>},
    {"-i,--input", "FILE", kHow, "File for standard input; % as in --output (default: none)",
     set_output<&JobSpec::stdin_path, slurm_output>},
    {"--open-mode", "MODE", kHow,
     "append to output files, or truncate them, at each run (default: the first run truncates)",
     set_open_mode},
    {"--export", "LIST", kHow,
     "Environment variables to pass: ALL (default), NONE, or NAME,NAME=value", apply_export},
    {"--signal", "SIG[@TIME]", kHow,
     "Signal to request a checkpoint, sent TIME (default 60s) before the job is stopped",
     apply_signal},
    {"--grace", "TIME", kHow, "Time between SIGTERM and SIGKILL (default 30s)", set_grace},
});

}  // namespace

Status set_priority(SubmitDirectives& request, std::string_view value) {
  constexpr int64_t kMost = 1'000'000'000;
  const auto number = base::parse_int(value);
  if (!number || *number < -kMost || *number > kMost) {
    return base::bad_data({}, fmt::format("'{}' is not a valid priority", value),
                          "write an integer; jobs with larger values go first");
  }
  request.spec.priority = static_cast<int32_t>(*number);
  return {};
}

Status set_nodes(SubmitDirectives& request, std::string_view value) {
  const size_t dash = value.find('-');
  const auto least = parse_count(value.substr(0, dash), 1);
  if (!least) return base::failure(least.error());
  if (dash != std::string_view::npos) {
    const auto most = parse_count(value.substr(dash + 1), *least);
    if (!most) return base::failure(most.error());
    request.notes.push_back(
        fmt::format("the minimum of {} nodes is used: jobs do not grow", value));
  }
  request.nodes = *least;
  return {};
}

Status set_array(SubmitDirectives& request, std::string_view value) {
  auto array = parse_array(value);
  if (!array) return base::failure(array.error());
  request.array_tasks = std::move(array->tasks);
  request.spec.array_limit = array->limit;
  request.array_step = array->step;
  return {};
}

Status set_begin(SubmitDirectives& request, std::string_view value) {
  const auto begin = parse_begin(value, base::wall_ns());
  if (!begin) return base::failure(begin.error());
  request.spec.begin_ns = *begin;
  return {};
}

Status set_deadline(SubmitDirectives& request, std::string_view value) {
  const TimeNs now_ns = base::wall_ns();
  const auto deadline = parse_begin(value, now_ns);
  if (!deadline) return base::failure(deadline.error());
  if (*deadline <= now_ns) return refused_value(value, "not in the future", "name a later time");
  request.spec.training.deadline_ns = *deadline - now_ns;
  request.notes.push_back(fmt::format(
      "the deadline {} is what the policy aims at; a job that misses it is not removed", value));
  return {};
}

Status set_open_mode(SubmitDirectives& request, std::string_view value) {
  // sbatch reads the first letter.
  if (value != "append" && value != "a" && value != "truncate" && value != "t") {
    return refused_value(value, "not a way to open files", "write append or truncate");
  }
  request.spec.open_mode = value.front() == 'a' ? OpenMode::Append : OpenMode::Truncate;
  return {};
}

Status set_whole_node(SubmitDirectives& request, std::string_view value) {
  request.spec.training.sharing = core::model::SharingRequest::No;
  request.notes.push_back(fmt::format(
      "--exclusive{}{} keeps other jobs off its GPUs, not off the node; request all GPUs of the "
      "node for that",
      value.empty() ? "" : "=", value));
  return {};
}

Status set_dependencies(SubmitDirectives& request, std::string_view value) {
  auto dependencies = parse_dependencies(value);
  if (!dependencies) return base::failure(dependencies.error());
  request.spec.dependencies = std::move(*dependencies);
  return {};
}

Status set_rerunnable(SubmitDirectives& request, std::string_view value) {
  const bool yes = value == "y" || value == "yes";
  if (!yes && value != "n" && value != "no") {
    return base::bad_data({}, fmt::format("'{}' is not a valid choice", value), "write y or n");
  }
  request.spec.requeue = yes;
  return {};
}

Status set_resource_type(SubmitDirectives& request, std::string_view name, std::string_view count) {
  const auto instances = count.empty() ? base::Result<int32_t>(1) : parse_count(count, 1);
  if (!instances) return base::failure(instances.error());
  auto text = checked_text(name);
  if (!text) return base::failure(text.error());
  request.spec.resource_type = std::move(*text);
  request.spec.instances = *instances;
  request.nodes = -1;
  return {};
}

Status add_stage_in(SubmitDirectives& request, std::string_view value) {
  if (const std::string problem = stage_path_problem(value); !problem.empty()) {
    return base::bad_data({}, fmt::format("the path '{}' {}", value, problem),
                          "write the path of a file or folder, such as /lustre/data/images");
  }
  request.spec.stage_in.emplace_back(value);
  return {};
}

Status add_stage_out(SubmitDirectives& request, std::string_view value) {
  auto out = parse_stage_out(value);
  if (!out) return base::failure(out.error());
  request.spec.stage_out.push_back(std::move(*out));
  return {};
}

Status set_stage_out_on(SubmitDirectives& request, std::string_view value) {
  if (value != "success" && value != "always") {
    return base::bad_data({}, fmt::format("'{}' is not a valid choice", value),
                          "write success or always");
  }
  request.spec.stage_out_always = value == "always";
  return {};
}

Status apply_signal(SubmitDirectives& request, std::string_view text) {
  TimeNs lead = 60 * base::kSecond;
  std::string_view name = text;
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    const std::string_view time = name.substr(at + 1);
    const auto seconds = base::parse_int(time);
    const auto span = seconds && *seconds >= 0 && *seconds <= 65'535
                          ? Result<TimeNs>(*seconds * base::kSecond)
                          : parse_span(time);
    if (!span) return base::failure(span.error());
    lead = *span;
    name = name.substr(0, at);
  }
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    name = name.substr(colon + 1);
  }
  const auto signal = parse_signal(name);
  if (!signal) return base::failure(signal.error());
  request.spec.stop.signal = *signal;
  request.spec.stop.lead_ns = lead;
  return {};
}

Status set_gres(SubmitDirectives& request, std::string_view value) {
  if (value == "none" || value == "NONE") value = "gpu:0";
  std::string gpus;
  for (const std::string_view each : split_list(value)) {
    if (each == "gpu" || each.starts_with("gpu:")) {
      gpus += fmt::format("{}{}", gpus.empty() ? "" : ",", each);
    } else {
      request.notes.push_back(fmt::format("unknown resource '{}'", each));
    }
  }
  if (gpus.empty()) return {};
  return set_gpus<&SubmitDirectives::gpus_per_node>(request, gpus);
}

Status apply_export(SubmitDirectives& request, std::string_view text) {
  auto environment = parse_export(text);
  if (!environment) return base::failure(environment.error());
  request.environment = std::move(*environment);
  return {};
}

std::span<const SubmitOption> submit_options() { return kOptions; }

const SubmitOption* find_submit_option(std::string_view name) {
  for (const SubmitOption& option : kOptions) {
    const auto names = split_list(option.names);
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

}  // namespace goban::live::job
