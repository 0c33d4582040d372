// What the GPUs of this machine do now: real ones by the driver, virtual ones by what the runs that
// hold them take of their cores.
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

/// Called again and again, by one thread.
class GpuWatch {
 public:
  /// `gpus` by GpuId. `state`: state folder of the engine. `nvml`: null where all are virtual.
  GpuWatch(std::string state, std::vector<base::gpus::LocalGpu> gpus,
           std::shared_ptr<const base::gpus::NvmlLibrary> nvml = {});

  /// A reading a GPU. Of a virtual GPU: utilisation is the CPU time of the runs on it since the
  /// last call (of a run that is new: since it started) over the time of their GPUs' cores; memory
  /// is resident memory over the GPUs of the run; watts follow from the power model, else they are
  /// not known; there is no temperature. Without a run it is idle. Times are since 1970.
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
