// What a run's GPUs do while it lasts: utilisation, memory, energy.
#pragma once

#include <memory>
#include <sys/types.h>
#include <vector>

#include "live/engine/local/run_folder.hpp"
#include "live/engine/local/run_order.hpp"

namespace goban::live::engine::local {

class GpuMeter {
 public:
  virtual ~GpuMeter() = default;
  /// Looks at the GPUs; once a second or so. `cpu_s`: what the run has used of the host so far.
  virtual void sample(const std::vector<pid_t>& processes, double cpu_s) = 0;
  /// Memory of these processes on the GPU where they have most, as last sampled; -1 = not known.
  [[nodiscard]] virtual int64_t gpu_mem_bytes() const = 0;
  /// Seconds that these GPUs were busy for the run alone, their mean; negative = not known.
  /// `cpu_s`: what it has used of the host so far.
  [[nodiscard]] virtual double busy_s(double cpu_s) const = 0;
  /// Fills in the GPU fields, once. `cpu_s`, `mem_bytes_max`: what the run used of the host. Of the
  /// energy of a shared GPU it is the run's part (energy_ledger.hpp).
  virtual void finish(RunUsage& usage, double wall_s) = 0;
};

/// The meter of an order's GPUs: by the driver's library, or for virtual ones from what the run
/// used of its cores (its energy is then modelled, not measured). Without GPUs: a meter of nothing.
[[nodiscard]] std::unique_ptr<GpuMeter> make_gpu_meter(
    const std::vector<base::gpus::LocalGpu>& gpus, const RunFolder& run);

}  // namespace goban::live::engine::local
