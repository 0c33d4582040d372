// One session of measuring: blocks in turn over the GPUs, into the book of measurements.
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
  int blocks = 16;             ///< of each GPU
  double seconds = 0;          ///< no new block after so long, once each GPU has one; 0 = no limit
  bool forced = false;         ///< GPUs may be busy
  BlockOptions block{};
};

struct SessionResult {
  /// By position in the plan.
  std::vector<core::knowledge::GpuSession> sessions{};  ///< without blocks: nothing was measured
  std::vector<std::string> problems{};                  ///< why; or empty
  double spent_s = 0;                                   ///< GPU seconds
};

/// Measures the GPUs one after the other, block by block, so that whatever slows the machine for a
/// while meets all alike. A GPU that two blocks failed on, or that a job came to in the meantime,
/// is given up. `busy` is asked before each round and at the end; `step` is called after each
/// block. Ends early when `interrupted`.
[[nodiscard]] SessionResult measure_gpus(const base::gpus::MachineGpus& machine,
                                         const SessionPlan& plan,
                                         const std::function<BusyGpus()>& busy,
                                         const std::function<void()>& step,
                                         const std::atomic<bool>& interrupted);

/// The GPUs as they are now, for core::knowledge::scores_of(). The driver is asked.
[[nodiscard]] std::vector<core::knowledge::GpuNow> gpus_now(const base::gpus::MachineGpus& machine);

}  // namespace goban::live::machine
