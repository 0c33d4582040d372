// The files and lines a run writes: metrics, job profile, progress.
#pragma once

#include <string>

#include "base/reports/time_table.hpp"
#include "base/result.hpp"
#include "train/mesh/device_memory.hpp"
#include "train/mesh/plan.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/progress_socket.hpp"

namespace goban::train::trainer {

/// Appends a line to metrics.csv (with a header if new) and replaces metrics.prom.
[[nodiscard]] base::Status write_metrics(const TrainOptions& options, const EpochResult& result);

/// The file of a run's folder `out` that marks a run with values that are not finite.
[[nodiscard]] std::string divergence_mark(const std::string& out);

/// Removes what an earlier run left in the folder `out` and this one writes later or not at all.
/// metrics.csv stays: lines are appended.
void remove_results(const std::string& out);

/// Measurements of the steps of a run.
struct StepStatistics {
  int64_t steps = 0;
  double sum_s = 0, sum_s2 = 0;  ///< of whole steps
  double input_s = 0;            ///< waiting for batches
  double exposed_s = 0;          ///< waiting for other ranks, while nothing is computed
  double reducing_s = 0;         ///< in reductions that run while the rank computes
  double late_s = 0;             ///< of exposed_s, until the last rank had arrived
  double moving_s = 0;           ///< of reducing_s, after that
};

/// Writes profile.json: the job profile that the scheduler's policies read. `table`: where the time
/// went, at the end of a run.
[[nodiscard]] base::Status write_profile(const TrainOptions& options, const EpochResult& result,
                                         const StepStatistics& steps, const mesh::Plan& plan,
                                         int micro_batches, const mesh::DeviceMemory& memory,
                                         const base::reports::TimeTable* table = nullptr);

/// Redraws a line on a terminal, at most a few times per second; prints nothing elsewhere.
class ProgressBar {
 public:
  ProgressBar(bool visible, int64_t epoch, int64_t epochs, int64_t steps);
  /// `position`: finished steps of the epoch.
  void show(int64_t position, const Progress& progress);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  bool visible_, drawn_ = false;
  int64_t epoch_, epochs_, steps_;
  double last_s_ = 0;
};

}  // namespace goban::train::trainer
