// What a run uses: its memory against its limits, and its GPUs.
#pragma once

#include <memory>
#include <string>

#include "live/engine/local/gpu_meter.hpp"
#include "live/engine/local/run_processes.hpp"

namespace goban::live::engine::local {

class UsageWatch {
 public:
  /// All must outlive the watch.
  UsageWatch(const RunOrder& order, const RunFolder& folder, const RunProcesses& processes);

  /// Other runs hold some of its GPUs from now on, on which its memory is limited then.
  void share() { shares_ = true; }
  /// Measures, if it is time. Records the GPU busy time in `latest`, where it replaces the progress
  /// of a job that reports no epochs. True: the run exceeds a limit for the first time; excess()
  /// says which.
  [[nodiscard]] bool sample(ProgressReport& latest);
  [[nodiscard]] base::TimeNs next_ns() const { return next_sample_ns_; }
  /// The usage of the run, all of whose processes have been waited for.
  [[nodiscard]] RunUsage finish(base::TimeNs ran_ns);
  /// For users; empty = it kept to its limits.
  [[nodiscard]] const std::string& excess() const { return excess_; }

 private:
  /// What of it is used beyond its limit; null = nothing.
  [[nodiscard]] const char* above_limit(const std::vector<pid_t>& processes);

  const RunOrder& order_;
  const RunProcesses& processes_;
  std::unique_ptr<GpuMeter> meter_;
  bool shares_;
  std::string excess_{};
  int64_t mem_bytes_max_ = -1;
  base::TimeNs next_sample_ns_ = 0;
  base::TimeNs next_meter_ns_ = 0;
  base::TimeNs next_busy_ns_ = 0;
};

}  // namespace goban::live::engine::local
