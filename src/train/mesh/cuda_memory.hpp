// What LibTorch tells of GPUs only through headers of CUDA: compiled where LibTorch has CUDA
// (GOBAN_CUDA), and "nothing there" elsewhere. Inside the room only.
#pragma once

#include <cstdint>
#include <string>

namespace goban::train::mesh {

[[nodiscard]] bool built_with_cuda();
/// As the driver calls it.
[[nodiscard]] std::string cuda_device_name(int index);
/// Bytes of tensors on the GPU by this process: now, and at most since forget_cuda_peak.
[[nodiscard]] int64_t cuda_used_bytes(int index);
[[nodiscard]] int64_t cuda_peak_bytes(int index);
void forget_cuda_peak(int index);
/// Makes LibTorch's allocator refuse what lies beyond; of the whole process. 0: all of the GPU.
void limit_cuda_memory(int index, int64_t bytes);

}  // namespace goban::train::mesh
