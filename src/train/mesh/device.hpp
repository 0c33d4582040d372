// The device a rank computes on: the CPU or a GPU. Their differences are handled here; the rest of
// train/mesh creates its tensors on Variables::device() and leaves the choice of code to LibTorch.
#pragma once

#include <c10/core/Device.h>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace goban::train::mesh {

/// Resolves the device `text` for the rank with index `local_rank` on its machine: "cpu"; "cuda",
/// the GPU of that index (modulo the number of GPUs); "cuda:2"; "auto", which is "cuda" if LibTorch
/// sees a GPU and "cpu" otherwise; or another device type registered with LibTorch. Errors: Usage,
/// with what LibTorch sees, if there is no such device.
[[nodiscard]] base::Result<c10::Device> resolve_device(const std::string& text, int local_rank);

/// "cpu", or the driver's name of the GPU, such as "NVIDIA H200".
[[nodiscard]] std::string device_name(c10::Device device);

/// Waits until the device has finished all work submitted by this thread.
void finish_work(c10::Device device);

/// GPUs compute a convolution's gradients with the same bits each time, for the whole process.
/// Ranks that compute the same variable need that: else their copies drift apart.
void repeat_bits_on_gpus();

/// On a GPU, the calling thread's work no longer waits for that of the process's other threads.
void use_own_stream(c10::Device device);
/// Waits, on any thread, for the work that this thread had submitted to the device when it was
/// called.
[[nodiscard]] std::function<void()> work_so_far(c10::Device device);

/// Sets whether GPUs may multiply fp32 matrices as tf32 (10 bits of mantissa), for the whole
/// process. `false` also turns tf32 off for convolutions, where LibTorch has it on by default.
void allow_tf32(bool allow);

}  // namespace goban::train::mesh
