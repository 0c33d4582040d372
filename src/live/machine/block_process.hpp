// One block of a measurement in a process of its own, which may crash or hang without harm.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "live/machine/kernel_runs.hpp"

namespace goban::live::machine {

struct BlockOptions {
  /// The program and its first arguments, before those of the block: `goban measure-block`.
  std::vector<std::string> program{};
  int runs = 3;  ///< of each kernel
  double timeout_s = 60;
};

/// Arguments that run_block() passes to the process: `--runs 3 --cpus 0,1 --slowness 1`, or `--runs
/// 3 --cuda`.
[[nodiscard]] std::vector<std::string> block_arguments(const base::gpus::LocalGpu& gpu, int runs);

/// Measures one block on this GPU; a real GPU is the only one visible to the process. When
/// `interrupted` is set, kills the process and returns. Errors: Failed with the process's stderr,
/// its signal, or a timeout.
[[nodiscard]] base::Result<KernelRuns> run_block(const base::gpus::LocalGpu& gpu,
                                                 const BlockOptions& options,
                                                 const std::atomic<bool>& interrupted);

/// Called first in that process: it is killed when its parent exits.
void die_with_parent();

}  // namespace goban::live::machine
