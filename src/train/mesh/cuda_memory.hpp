// GPU properties that LibTorch exposes only through CUDA headers. Compiled if LibTorch has CUDA
// (GOBAN_CUDA); otherwise the functions report no GPU. Internal to train/mesh.
#pragma once

#include <cstdint>
#include <string>

namespace goban::train::mesh {

[[nodiscard]] bool built_with_cuda();
/// The driver's name of the GPU.
[[nodiscard]] std::string cuda_device_name(int index);
/// Bytes of this process's tensors on the GPU: current, and maximum since forget_cuda_peak.
[[nodiscard]] int64_t cuda_used_bytes(int index);
[[nodiscard]] int64_t cuda_peak_bytes(int index);
void forget_cuda_peak(int index);
/// Limits LibTorch's allocator, for the whole process. 0: all memory of the GPU.
void limit_cuda_memory(int index, int64_t bytes);

}  // namespace goban::train::mesh
