// One block of a measurement in a process of its own, which may crash or hang without harm.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "live/machine/kernel_runs.hpp"

namespace goban::live::machine {

struct BlockOptions {
  /// What to start: the words before the arguments of the block, `goban measure-block`.
  std::vector<std::string> program{};
  int runs = 3;  ///< of each kernel
  double timeout_s = 60;
};

/// What run_block() hands to the process: `--runs 3 --cpus 0,1 --slowness 1`, or `--runs 3 --cuda`.
[[nodiscard]] std::vector<std::string> block_arguments(const base::gpus::LocalGpu& gpu, int runs);

/// Measures on this GPU; a real one is the only one that the process sees. Ends early, killing the
/// process, when `interrupted`. Errors: Failed with what the process wrote to stderr, its signal,
/// or that it took too long.
[[nodiscard]] base::Result<KernelRuns> run_block(const base::gpus::LocalGpu& gpu,
                                                 const BlockOptions& options,
                                                 const std::atomic<bool>& interrupted);

/// In that process, first of all: it does not outlive whoever started it.
void die_with_parent();

}  // namespace goban::live::machine
