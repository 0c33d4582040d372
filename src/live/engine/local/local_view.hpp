// Read-only view of runs and GPUs of the local engine, from run folders and the driver.
#pragma once

#include "live/engine/local/gpu_watch.hpp"

namespace goban::live::engine::local {

class LocalView final : public EngineView {
 public:
  /// `state`: state folder of the engine. `gpus` by GpuId. `nvml`: null where all are virtual.
  LocalView(std::string state, std::vector<base::gpus::LocalGpu> gpus,
            std::shared_ptr<const base::gpus::NvmlLibrary> nvml);

  [[nodiscard]] std::vector<base::gpus::GpuReading> read_gpus(
      const std::vector<HoldingRun>& holding, base::TimeNs now_ns) override;
  [[nodiscard]] std::vector<RankTimes> rank_times(RunId run) const override;
  [[nodiscard]] std::string terminal_socket(RunId run) const override;

 private:
  std::string state_;
  GpuWatch watch_;
};

}  // namespace goban::live::engine::local
