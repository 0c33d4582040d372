// The columns of format `records`, in the order of output.
#pragma once

#include <array>
#include <string_view>

namespace goban::site::records {

enum class RecordsColumn : size_t {
  Id,
  JobNumber,
  ArrayTask,
  HetPart,
  Run,
  Restarts,
  Cluster,
  User,
  Account,
  Group,
  Partition,
  Qos,
  Reservation,
  ResourceType,
  Submit,
  Eligible,
  Start,
  End,
  Work,
  Walltime,
  State,
  Kind,
  ExitCode,
  Signal,
  FailedCode,
  NumGpus,
  GpuMilli,
  GpuShare,
  GpuType,
  Instances,
  NumNodes,
  CpuCores,
  Mem,
  Priority,
  NodeList,
  Gpus,
  Software,
  UtilMax,
  GpuMemMax,
  MemMax,
  Read,
  Write,
  CpuSeconds,
  Energy,
  ArrayTasks,
  Model,
  JobName,
  CommandLine,
};

inline constexpr std::array<std::string_view, 48> kRecordsColumns = {
    "job_id",       "job_number",    "array_task",    "het_part",
    "run",          "restarts",      "cluster",       "user",
    "account",      "group",         "partition",     "qos",
    "reservation",  "resource_type", "submit_unix_s", "eligible_unix_s",
    "start_unix_s", "end_unix_s",    "work_s",        "walltime_limit_s",
    "state",        "kind",          "exit_code",     "signal",
    "failed_code",  "num_gpus",      "gpu_milli",     "gpu_share",
    "gpu_type",     "instances",     "num_nodes",     "cpu_cores",
    "mem_bytes",    "priority",      "node_list",     "gpus",
    "software",     "gpu_util_max",  "gpu_mem_max",   "mem_max",
    "read_bytes",   "write_bytes",   "cpu_s",         "energy_j",
    "array_tasks",  "model",         "job_name",      "command_line"};

}  // namespace goban::site::records
