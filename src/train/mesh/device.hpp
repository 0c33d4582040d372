// The device a rank computes on: the processor, or a GPU. What differs between them is here; the
// rest of the room makes its tensors on Variables::device() and lets LibTorch choose the code.
#pragma once

#include <c10/core/Device.h>
#include <string>

#include "base/result.hpp"

namespace goban::train::mesh {

/// The device `text` names for a rank that is number `local_rank` on its machine: "cpu"; "cuda",
/// the GPU of that number (ranks beyond the last GPU share from the first one on); "cuda:2";
/// "auto", "cuda" if LibTorch sees a GPU and "cpu" otherwise; another kind of device LibTorch was
/// given. Errors: Usage, naming what LibTorch sees, if there is no such device.
[[nodiscard]] base::Result<c10::Device> resolve_device(const std::string& text, int local_rank);

/// "cpu", or what the driver calls the GPU, such as "NVIDIA H200".
[[nodiscard]] std::string device_name(c10::Device device);

/// Waits until all that was asked of the device by this thread is done.
void finish_work(c10::Device device);

/// Whether GPUs may multiply fp32 matrices as tf32 (10 bits of mantissa). Of the whole process; off
/// for convolutions as well, where LibTorch has it on by itself.
void allow_tf32(bool allow);

}  // namespace goban::train::mesh
