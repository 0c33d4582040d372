// The kernels of the profiler on a virtual GPU: real work on its cores, one thread per core.
#pragma once

#include <cstdint>
#include <vector>

#include "live/machine/kernel_runs.hpp"

namespace goban::live::machine {

/// Runs each kernel `runs` times on these cores and measures wall time, from the common start of
/// all threads until the last one ends. Compute-bound: products of matrices that fit in a core's
/// cache; memory-bound: a[i] = b[i] + s * c[i] over three arrays of 16 MiB per core; mixed: one
/// after the other. `slowness`: factor of the amount of work, as injected into the virtual GPU.
/// About 10 ms per run. Errors: Failed naming a core on which a thread cannot run.
[[nodiscard]] base::Result<KernelRuns> run_cpu_kernels(const std::vector<int32_t>& cpus,
                                                       double slowness, int runs);

}  // namespace goban::live::machine
