// Syntax of single fields of Slurm's accounting (man sacct).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace goban::site::records {

/// `123`, `123_4`, `123_[1-3,9%2]` (pending tasks; sacct shortens them
/// to `123_[1-3...]`), `123+1` (component of a heterogeneous job),
/// each optionally followed by a step: `.batch`, `.extern`, `.interactive` or `.0`.
struct SlurmJobId {
  std::string_view job;   ///< without the step
  std::string_view step;  ///< empty = the job itself
  int64_t number = -1;
  int64_t array_task = -1;  ///< -1 = none, or several pending ones
  int32_t het_part = -1;
};
/// None if it does not start with a number.
[[nodiscard]] std::optional<SlurmJobId> parse_slurm_job_id(std::string_view text);

/// True for `123_[1-3,9%2]`: the pending tasks of an array.
[[nodiscard]] bool is_array_rest(std::string_view id);
/// True if the task is one of them: 2 of `123_[1-3,9%2]` and of `123_[0-8:2]`.
[[nodiscard]] bool is_task_of_rest(int64_t task, std::string_view id);

/// `[DD-[HH:]]MM:SS[.mmm]`, or seconds if it is digits only; at most kMaxSeconds.
[[nodiscard]] std::optional<base::TimeNs> parse_slurm_span(std::string_view text);

/// Bytes of `31000M`, `62.50G` or `3000` (then in `unit`, a power of 1024 such as 'M').
[[nodiscard]] std::optional<int64_t> parse_slurm_bytes(std::string_view text, char unit);

/// `code:signal`; -1 = a number out of range.
struct SlurmExit {
  int32_t code = 0;
  int32_t signal = 0;
};
[[nodiscard]] std::optional<SlurmExit> parse_slurm_exit(std::string_view text);

/// Resources of one job. -1 = not in the list.
struct SlurmTres {
  int64_t cpus = -1;
  int64_t mem_bytes = -1;
  int64_t nodes = -1;
  int64_t gpus = -1;           ///< untyped count if present, otherwise the sum of the typed ones
  int64_t gpu_shards = -1;     ///< gres/shard or gres/mps: parts of GPUs
  std::string gpu_type;        ///< several joined by '+'
  bool has_mig = false;        ///< a type such as 1g.10gb: instances, not whole GPUs
  double held_gpus = 0;        ///< gpus, with MIG instances as their share
  float gpu_util_pct = -1;     ///< gres/gpuutil
  int64_t gpu_mem_bytes = -1;  ///< gres/gpumem
  int64_t disk_bytes = -1;     ///< fs/disk

  /// Resets the values and keeps the allocated memory.
  void clear();
};
/// `billing=12,cpu=12,gres/gpu=2,gres/gpu:a100=2,mem=31000M,node=1`, or with the numbers of
/// slurmdbd (`1=12,2=31000,4=1,1001=2`; 1001 is assumed to be gres/gpu). Unknown names are skipped,
/// counts out of range are unknown. False if it is not such a list.
[[nodiscard]] bool parse_slurm_tres(std::string_view text, SlurmTres& tres);

/// The GPUs of the older columns AllocGRES and ReqGRES: `gpu:2`, `gpu:a100:2(S:0-1)`, `gpu`; the
/// counts are per node.
[[nodiscard]] int64_t parse_slurm_gres_gpus(std::string_view text);

/// True for names such as `1g.10gb`: a MIG instance, not an entire GPU.
[[nodiscard]] bool is_mig_profile(std::string_view type);
/// The share of the GPU's compute slices that an instance of the profile has: `3g.20gb` = 3/7. An
/// A30 has 4 slices (`1g.6gb`), all others 7. 1 if it is not a profile.
[[nodiscard]] double mig_share(std::string_view type);

}  // namespace goban::site::records
