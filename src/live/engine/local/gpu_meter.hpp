// Measures the GPUs of a run: utilisation, memory, energy.
#pragma once

#include <memory>
#include <sys/types.h>
#include <vector>

#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {

class GpuMeter {
 public:
  virtual ~GpuMeter() = default;
  /// Samples the GPUs; to be called about once per second. `cpu_s`: CPU time of the run so far.
  virtual void sample(const std::vector<pid_t>& processes, double cpu_s) = 0;
  /// Largest GPU memory of these processes on any GPU, as last sampled; -1 = unknown.
  [[nodiscard]] virtual int64_t gpu_mem_bytes() const = 0;
  /// Seconds that the GPUs were busy with this run, as a mean over the GPUs; negative = unknown.
  /// `cpu_s`: CPU time of the run so far.
  [[nodiscard]] virtual double busy_s(double cpu_s) const = 0;
  /// Sets the GPU fields of `usage`, once; its `cpu_s` and `mem_bytes_max` must be set. The energy
  /// of a shared GPU is the run's part (energy_ledger.hpp).
  virtual void finish(RunUsage& usage, double wall_s) = 0;
};

/// The meter of an order's GPUs: by the driver's library, or for virtual ones from the run's use of
/// its cores (their energy is modelled, not measured). Without GPUs it measures nothing.
[[nodiscard]] std::unique_ptr<GpuMeter> make_gpu_meter(
    const std::vector<base::gpus::LocalGpu>& gpus, const RunFolder& run);

}  // namespace goban::live::engine::local
