// The kernels of the profiler on a virtual GPU: real work on its cores, one thread a core.
#pragma once

#include <cstdint>
#include <vector>

#include "live/machine/kernel_runs.hpp"

namespace goban::live::machine {

/// Runs each kernel `runs` times on these cores and takes the wall clock, from when all threads
/// begin until the last has ended. Compute-bound: products of matrices that fit a core's cache;
/// memory-bound: a[i] = b[i] + s * c[i] over 48 MiB a core; mixed: both in turn. `slowness`: so
/// many times the work, as injected into the virtual GPU. About 10 ms a run.
/// Errors: Failed if a thread may not run on its core, naming it.
[[nodiscard]] base::Result<KernelRuns> run_cpu_kernels(const std::vector<int32_t>& cpus,
                                                       double slowness, int runs);

}  // namespace goban::live::machine
