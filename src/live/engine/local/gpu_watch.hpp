// Current readings of this machine's GPUs: real ones by the driver, virtual ones by the CPU use of
// the runs that hold them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/gpus/nvml.hpp"
#include "base/time.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::local {

/// Watts of a virtual GPU at a utilisation of 0 to 1: idle + (max - idle) * busy^exponent. -1
/// without a power model.
[[nodiscard]] double virtual_power_w(const base::gpus::LocalGpu& gpu, double busy);

/// To be called periodically, by one thread.
class GpuWatch {
 public:
  /// `gpus` by GpuId. `state`: state folder of the engine. `nvml`: null where all are virtual.
  GpuWatch(std::string state, std::vector<base::gpus::LocalGpu> gpus,
           std::shared_ptr<const base::gpus::NvmlLibrary> nvml = {});

  /// One reading per GPU. For a virtual GPU: utilisation is the CPU time of its runs since the last
  /// call (for a new run: since its start) / the time of their GPUs' cores; memory is the run's
  /// resident memory / its number of GPUs; power follows from the power model and is unknown
  /// without one; there is no temperature. Without a run it is idle. `now_ns`: since 1970.
  [[nodiscard]] std::vector<base::gpus::GpuReading> read(const std::vector<HoldingRun>& runs,
                                                         base::TimeNs now_ns);

 private:
  struct Seen {
    double cpu_s = 0;
    base::TimeNs at_ns = 0;
  };
  [[nodiscard]] std::vector<base::gpus::GpuReading> read_virtual(
      const std::vector<HoldingRun>& runs, base::TimeNs now_ns);
  void add_run(const HoldingRun& held, base::TimeNs now_ns,
               std::vector<base::gpus::GpuReading>& out, std::map<RunId, Seen>& seen) const;

  std::string state_;
  std::vector<base::gpus::LocalGpu> gpus_;
  std::shared_ptr<const base::gpus::NvmlLibrary> nvml_;
  std::map<RunId, Seen> seen_{};
};

}  // namespace goban::live::engine::local
