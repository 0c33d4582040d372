// Reports of a run: its progress, the times of its ranks, its pace and its resource usage. Plain
// values, shared by the engines, the live scheduler, the journal and the API
// (run_reports_json.hpp).
#pragma once

#include <cstdint>
#include <vector>

namespace goban::base::reports {

/// Progress of a job. The job reports it itself, except for `busy_s`. Negative = not reported.
struct ProgressReport {
  double epoch = -1;   ///< epochs done, including the fraction of the current one
  double epochs = -1;  ///< in total
  int64_t step = -1;   ///< iterations done in this run and earlier ones
  int64_t steps = -1;  ///< in total
  double samples_per_s = -1;
  double loss = -1;
  /// Busy GPU time of this run in seconds, the mean over its GPUs, measured by the engine; only for
  /// jobs that report no epochs.
  double busy_s = -1;
  double input_stall_pct = -1;  ///< share of time so far spent waiting for input
  bool checkpointed = false;    ///< a checkpoint of this step is complete
  friend bool operator==(const ProgressReport&, const ProgressReport&) = default;
};

/// The times of one rank of a run: sums since the start of the run (docs/progress.md).
struct RankTimes {
  int32_t rank = 0;   ///< the index of the run's GPU that it uses
  int32_t ranks = 0;  ///< number of ranks
  int64_t steps = 0;
  double busy_s = 0;   ///< without waiting in collectives
  double wait_s = 0;   ///< in collectives
  double data_s = -1;  ///< waiting for input; negative = not reported
  friend bool operator==(const RankTimes&, const RankTimes&) = default;
};

/// Maximum number of ranks of a run whose times are stored; none are stored for larger runs.
inline constexpr int32_t kRanksMax = 64;

/// The increase of a count between the first progress report of a run that contained it and the
/// last one that increased it, and the time between them on the listener's clock.
struct Pace {
  double done = 0;  ///< 0 = unknown
  double over_s = 0;
  friend bool operator==(const Pace&, const Pace&) = default;
};

struct RunPace {
  Pace steps{};
  Pace epochs{};
  friend bool operator==(const RunPace&, const RunPace&) = default;
};

/// Everything that a run has reported so far.
struct RunProgress {
  ProgressReport latest{};
  int64_t checkpoint_step = -1;    ///< step of the last complete checkpoint; -1 = none
  std::vector<RankTimes> ranks{};  ///< by rank
  RunPace pace{};
  friend bool operator==(const RunProgress&, const RunProgress&) = default;
};

/// Resource usage of a run, measured by the engine; negative = unknown.
struct RunUsage {
  double cpu_s = -1;
  int64_t mem_bytes_max = -1;
  int64_t gpu_mem_bytes_max = -1;  ///< of one GPU
  float gpu_util_pct = -1;         ///< mean over GPUs and time, as are the next three
  float memory_busy_pct = -1;      ///< share of time in which GPU memory was read or written
  float dram_util_pct = -1;        ///< of the peak bandwidth of GPU memory
  float fu_util_pct = -1;          ///< of peak, of the most used functional units
  double energy_j = -1;            ///< of its GPUs
  friend bool operator==(const RunUsage&, const RunUsage&) = default;
};

}  // namespace goban::base::reports
