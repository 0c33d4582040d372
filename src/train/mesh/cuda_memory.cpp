#include "train/mesh/cuda_memory.hpp"

#include <torch/version.h>

#ifdef GOBAN_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <algorithm>
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace goban::train::mesh {

#ifdef GOBAN_CUDA

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 5)
constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
#else
constexpr auto kAll = static_cast<size_t>(allocator::StatType::AGGREGATE);
#endif

auto of_tensors(int index) {
  return allocator::getDeviceStats(static_cast<c10::DeviceIndex>(index)).allocated_bytes[kAll];
}

}  // namespace

bool built_with_cuda() { return true; }

std::string cuda_device_name(int index) {
  return at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index))->name;
}

int64_t cuda_used_bytes(int index) { return of_tensors(index).current; }
int64_t cuda_peak_bytes(int index) { return of_tensors(index).peak; }
void forget_cuda_peak(int index) {
  allocator::resetPeakStats(static_cast<c10::DeviceIndex>(index));
}

void limit_cuda_memory(int index, int64_t bytes) {
  const auto device = static_cast<c10::DeviceIndex>(index);
  const auto all = static_cast<double>(at::cuda::getDeviceProperties(device)->totalGlobalMem);
  const double share = bytes > 0 ? std::min(1.0, static_cast<double>(bytes) / all) : 1.0;
  allocator::setMemoryFraction(share, device);
}

#else

bool built_with_cuda() { return false; }
std::string cuda_device_name(int) { return "cuda"; }
int64_t cuda_used_bytes(int) { return 0; }
int64_t cuda_peak_bytes(int) { return 0; }
void forget_cuda_peak(int) {}
void limit_cuda_memory(int, int64_t) {}

#endif

}  // namespace goban::train::mesh
