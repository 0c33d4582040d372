// One block of a measurement in a process of its own, which may crash or hang without harm.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "engine/local/local_gpu.hpp"
#include "engine/measure/kernel_runs.hpp"

namespace goban::engine::measure {

struct BlockOptions {
  /// What to start: the words before the arguments of the block, `goban measure-block`.
  std::vector<std::string> program{};
  int runs = 3;  ///< of each kernel
  double timeout_s = 60;
};

/// What run_block() hands to the process: `--runs 3 --cpus 0,1 --slowness 1`, or `--runs 3 --cuda`.
[[nodiscard]] std::vector<std::string> block_arguments(const local::LocalGpu& gpu, int runs);

/// Measures on this GPU; a real one is the only one that the process sees. Ends early, killing the
/// process, when `interrupted`. Errors: Failed with what the process wrote to stderr, its signal,
/// or that it took too long.
[[nodiscard]] base::Result<KernelRuns> run_block(const local::LocalGpu& gpu,
                                                 const BlockOptions& options,
                                                 const std::atomic<bool>& interrupted);

/// In that process, first of all: it does not outlive whoever started it.
void die_with_parent();

}  // namespace goban::engine::measure
