// The kernels of the profiler on a CUDA GPU, as PTX text compiled by the driver.
#pragma once

#include <string>

#include "live/machine/cuda_driver.hpp"
#include "live/machine/kernel_runs.hpp"

namespace goban::live::machine {

/// Runs each kernel `runs` times on the driver's device and measures the time by events. The work
/// is the same on every GPU: fused multiply-adds in single precision (compute), a[i] = b[i] + s *
/// c[i] (memory) and the same with 64 multiply-adds per element (mixed), over 384 MiB. Errors:
/// Failed naming the driver call.
[[nodiscard]] base::Result<KernelRuns> run_cuda_kernels(const CudaDriver& driver, int runs);

/// PTX of the kernels goban_compute, goban_memory and goban_mixed.
[[nodiscard]] std::string kernel_ptx();

}  // namespace goban::live::machine
