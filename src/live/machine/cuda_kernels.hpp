// The kernels of the profiler on a GPU with CUDA, as PTX text that its driver compiles.
#pragma once

#include <string>

#include "live/machine/cuda_driver.hpp"
#include "live/machine/kernel_runs.hpp"

namespace goban::live::machine {

/// Runs each kernel `runs` times on the driver's device and takes its time by events. The work is
/// the same on every GPU: fused multiply-adds in single precision (compute), a[i] = b[i] + s * c[i]
/// (memory) and the same with 64 multiply-adds an element (mixed), over 384 MiB.
/// Errors: Failed, saying which call of the driver did.
[[nodiscard]] base::Result<KernelRuns> run_cuda_kernels(const CudaDriver& driver, int runs);

/// The text of the kernels goban_compute, goban_memory and goban_mixed.
[[nodiscard]] std::string kernel_ptx();

}  // namespace goban::live::machine
