// The tables of a store, identical on all databases:
//
//   goban_meta       name -> value: schema version, month in which fiscal years begin, salt
//   goban_names      id -> kind, name: users, partitions, node lists, ... (NameKind)
//   goban_imports    one row per import: source, format, checksum, counts, start, end
//   goban_open       jobs that were unfinished when they were imported
//   goban_seen       hook records of jobs: modules, images, processes, GPUs (seen.hpp)
//   goban_daily      sums by day and user of years without jobs (retention.hpp)
//   goban_jobs_fyY   the jobs submitted in fiscal year Y (kJobColumns), clustered by key
//   goban_jobs       a view of all of these tables
//
// Unknown numbers are NULL, times are nanoseconds since 1970 UTC. `start_key_ns` is start_ns of
// finished jobs and -1 otherwise: it distinguishes the runs of a job that was submitted once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "site/store/sql.hpp"

namespace goban::site::store {

inline constexpr int64_t kSchemaVersion = 6;
inline constexpr int kFiscalMonthDefault = 4;  ///< April, as at ABCI
inline constexpr size_t kJobIdBytesMax = 190;  ///< MariaDB's longest key

/// Reports of hooks that repeat within this period for a job share one row: `seen_slot` is
/// the time in these units. It distinguishes the runs of a job.
inline constexpr base::TimeNs kSeenSlotNs = int64_t{300} * base::kSecond;

enum class NameKind : uint8_t {
  Cluster,
  User,
  Account,
  Group,
  Partition,
  Qos,
  Reservation,
  ResourceType,
  GpuType,
  NodeList,
  Software,
  Model,
  Gpu,
};
inline constexpr size_t kNumNameKinds = 13;

enum class JobColumn : size_t {
  JobNumber,
  Submit,
  StartKey,
  JobId,
  Cluster,
  // End of the key.
  ArrayTask,
  HetPart,
  Restarts,
  User,
  Account,
  Group,
  Partition,
  Qos,
  Reservation,
  ResourceType,
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
  ArrayTasks,
  ArrayLimit,
  Model,
  JobName,
  CommandLine,
  Import,
  // Since version 4; ALTER TABLE appends, so the newest are last.
  Energy,
  Details,  ///< since version 6
};
inline constexpr size_t kNumKeyColumns = 5;
inline constexpr std::array<std::string_view, 51> kJobColumns = {
    "job_number",    "submit_ns",         "start_key_ns",
    "job_id",        "cluster_id",        "array_task",
    "het_part",      "restarts",          "user_id",
    "account_id",    "group_id",          "partition_id",
    "qos_id",        "reservation_id",    "resource_type_id",
    "eligible_ns",   "start_ns",          "end_ns",
    "work_s",        "walltime_limit_ns", "state",
    "kind",          "exit_code",         "signal_number",
    "failed_code",   "num_gpus",          "gpu_milli",
    "gpu_share",     "gpu_type_id",       "instances",
    "num_nodes",     "cpu_cores",         "mem_bytes",
    "priority",      "node_list_id",      "gpus",
    "software_id",   "gpu_util_pct_max",  "gpu_mem_bytes_max",
    "mem_bytes_max", "read_bytes",        "write_bytes",
    "cpu_s",         "array_tasks",       "array_limit",
    "model_id",      "job_name",          "command_line",
    "import_id",     "energy_j",          "details"};

/// The fiscal year of a time: 2019 = April 2019 to March 2020 (UTC).
[[nodiscard]] int fiscal_year(base::TimeNs unix_ns, int first_month);
/// The start of a fiscal year.
[[nodiscard]] base::TimeNs fiscal_year_begin(int year, int first_month);
[[nodiscard]] std::string partition_name(int year);

/// Creates the tables, or migrates those of an older version and keeps their rows. Errors: Failed;
/// BadData if the store was written by a newer version of goban.
[[nodiscard]] base::Status migrate(SqlConnection& connection, int fiscal_month);
/// Fiscal years that have a table, ascending.
[[nodiscard]] base::Result<std::vector<int>> partitions(SqlConnection& connection);
/// Creates the table of a year if it does not exist, without indexes: an import creates them at its
/// end, when all rows exist, which is much faster.
[[nodiscard]] base::Status create_partition(SqlConnection& connection, int year);
/// The database's type name for floating-point numbers.
[[nodiscard]] std::string_view real_type(Dialect dialect);

/// Creates missing indexes.
[[nodiscard]] base::Status create_indexes(SqlConnection& connection);
[[nodiscard]] base::Status drop_partition(SqlConnection& connection, int year);

}  // namespace goban::site::store
