// What a run reports: its progress, the times of its ranks, its pace and what it used. Plain
// values, shared by the engines, the live scheduler, the journal and the API
// (run_reports_json.hpp).
#pragma once

#include <cstdint>
#include <vector>

namespace goban::base::reports {

/// How far a job is, as it reports itself, except for `busy_s`. Negative = not reported.
struct ProgressReport {
  double epoch = -1;   ///< epochs done, with the fraction of the one in progress
  double epochs = -1;  ///< of all its work
  int64_t step = -1;   ///< iterations done in this run and those before
  int64_t steps = -1;
  double samples_per_s = -1;
  double loss = -1;
  /// Seconds of a GPU that this run kept busy, the mean of its GPUs, as the engine measured it; of
  /// jobs that report no epochs.
  double busy_s = -1;
  double input_stall_pct = -1;  ///< share of its time so far that it waited for input
  bool checkpointed = false;    ///< a checkpoint as of this step is safe
  friend bool operator==(const ProgressReport&, const ProgressReport&) = default;
};

/// The times of one rank of a run: sums since the run began (docs/progress.md).
struct RankTimes {
  int32_t rank = 0;   ///< computes on the run's GPU of this position
  int32_t ranks = 0;  ///< how many there are
  int64_t steps = 0;
  double busy_s = 0;   ///< without the waits of collectives
  double wait_s = 0;   ///< in collectives
  double data_s = -1;  ///< waiting for input; negative = not reported
  friend bool operator==(const RankTimes&, const RankTimes&) = default;
};

/// Ranks of a run whose times are kept; of a run with more none are.
inline constexpr int32_t kRanksMax = 64;

/// How far a count came between the first progress line of a run that reported it and the last one
/// that raised it, by the clock of the listener.
struct Pace {
  double done = 0;  ///< 0 = not known
  double over_s = 0;
  friend bool operator==(const Pace&, const Pace&) = default;
};

struct RunPace {
  Pace steps{};
  Pace epochs{};
  friend bool operator==(const RunPace&, const RunPace&) = default;
};

/// All that a run has reported so far.
struct RunProgress {
  ProgressReport latest{};
  int64_t checkpoint_step = -1;    ///< a checkpoint as of this step is safe; -1 = none
  std::vector<RankTimes> ranks{};  ///< by rank
  RunPace pace{};
  friend bool operator==(const RunProgress&, const RunProgress&) = default;
};

/// What a run used, as far as the engine measured it; negative = not known.
struct RunUsage {
  double cpu_s = -1;
  int64_t mem_bytes_max = -1;
  int64_t gpu_mem_bytes_max = -1;  ///< of one GPU
  float gpu_util_pct = -1;         ///< mean over its GPUs and its time; so are the next three
  float memory_busy_pct = -1;      ///< share of time that GPU memory was read or written
  float dram_util_pct = -1;        ///< of the peak bandwidth of GPU memory
  float fu_util_pct = -1;          ///< of peak, of the functional units that it used most
  double energy_j = -1;            ///< of its GPUs
  friend bool operator==(const RunUsage&, const RunUsage&) = default;
};

}  // namespace goban::base::reports
