// Joins jobs to the series of their GPUs: utilisation with coverage, and GPUs that were allocated
// but never had a process.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "site/series/job_values.hpp"

namespace goban::site::series {

/// Whether a GPU of a job ever had a process. Unknown without the process metric, with too few
/// samples of it, and under MIG; never None in these cases.
enum class ProcessUse : uint8_t { Seen, None, Unknown };

/// Values of one job. All lists are in the order of the job's devices.
struct JobSeriesValues {
  std::vector<DeviceValues> gpus;
  std::vector<ProcessUse> processes;
  uint32_t busy = 0;  ///< number of GPUs, as for the next ones
  uint32_t idle = 0;
  uint32_t unknown = 0;
  uint32_t no_process = 0;  ///< allocated, but no process in any sample
  double coverage = 0;      ///< mean over the GPUs
  double coverage_min = 0;  ///< minimum over the GPUs
  /// Mean over the busy GPUs of their means over time (percent); none if no GPU is busy.
  std::optional<double> busy_mean;
  /// Population standard deviation of the means of the busy GPUs (percentage points).
  std::optional<double> busy_sd;

  /// True if every GPU is known to be busy or idle.
  [[nodiscard]] bool complete() const { return unknown == 0; }
};

/// Computes jobs one by one; reuses its buffers.
class JobSeries {
 public:
  /// `processes` may be null. Both readers must outlive this.
  JobSeries(const StoreReader& utilization, const StoreReader* processes,
            const ValueOptions& options);
  [[nodiscard]] JobSeriesValues of(const SeriesJob& job);

 private:
  JobValues utilization_;
  std::optional<JobValues> processes_;
};

}  // namespace goban::site::series
