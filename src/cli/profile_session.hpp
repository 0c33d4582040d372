// One session of `goban profile`: blocks in turn over the GPUs, into the book of measurements.
#pragma once

#include <functional>

#include "cli/busy_gpus.hpp"
#include "engine/measure/block_process.hpp"
#include "profile/measure/findings.hpp"

namespace goban::cli {

struct SessionPlan {
  std::vector<size_t> gpus{};  ///< positions in MachineGpus
  int blocks = 16;             ///< of each GPU
  double seconds = 0;          ///< no new block after so long, once each GPU has one; 0 = no limit
  bool forced = false;         ///< GPUs may be busy
  engine::measure::BlockOptions block{};
};

struct SessionResult {
  /// By position in the plan.
  std::vector<profile::GpuSession> sessions{};  ///< without blocks: nothing was measured
  std::vector<std::string> problems{};          ///< why; or empty
  double spent_s = 0;                           ///< GPU seconds
};

/// Measures the GPUs one after the other, block by block, so that whatever slows the machine for a
/// while meets all alike. A GPU that two blocks failed on, or that a job came to in the meantime,
/// is given up. `busy` is asked before each round and at the end; `step` is called after each
/// block.
[[nodiscard]] SessionResult measure_gpus(const service::MachineGpus& machine,
                                         const SessionPlan& plan,
                                         const std::function<BusyGpus()>& busy,
                                         const std::function<void()>& step);

/// The GPUs as they are now, for scores_of().
[[nodiscard]] std::vector<profile::GpuNow> gpus_now(const service::MachineGpus& machine);

}  // namespace goban::cli
