// One measurement session: runs blocks over the GPUs in round-robin order, for the measurement log.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "core/knowledge/measure/findings.hpp"
#include "live/machine/block_process.hpp"
#include "live/machine/busy_gpus.hpp"

namespace goban::live::machine {

struct SessionPlan {
  std::vector<size_t> gpus{};  ///< positions in base::gpus::MachineGpus
  int blocks = 16;             ///< per GPU
  double seconds = 0;   ///< no new block after this time, once each GPU has one; 0 = no limit
  bool forced = false;  ///< measure busy GPUs, too
  BlockOptions block{};
};

struct SessionResult {
  /// By position in the plan.
  std::vector<core::knowledge::GpuSession> sessions{};  ///< without blocks: not measured
  std::vector<std::string> problems{};                  ///< the reason, or empty
  double spent_s = 0;                                   ///< GPU seconds
};

/// Measures the GPUs one after the other, block by block, so that a temporary slowdown of the
/// machine affects all equally. A GPU is dropped if two of its blocks failed or if it became busy.
/// `busy` is called before each round and at the end, `step` after each block. Ends early when
/// `interrupted` is set.
[[nodiscard]] SessionResult measure_gpus(const base::gpus::MachineGpus& machine,
                                         const SessionPlan& plan,
                                         const std::function<BusyGpus()>& busy,
                                         const std::function<void()>& step,
                                         const std::atomic<bool>& interrupted);

/// The current condition of the GPUs (driver, firmware), for core::knowledge::scores_of().
[[nodiscard]] std::vector<core::knowledge::GpuNow> gpus_now(const base::gpus::MachineGpus& machine);

}  // namespace goban::live::machine
