// Whether jobs fit together into the memory of a GPU, in bytes. EaCO admits jobs by "memory
// utilisation" (the share of time with an active memory bus) and by sums over GPUs; neither shows
// whether they fit.
#pragma once

#include <cstdint>
#include <span>

namespace goban::core::knowledge {

/// Memory of one GPU. The defaults are ours: about the size of a CUDA context with a deep-learning
/// library, and a reserve for fragmentation.
struct GpuMemory {
  int64_t total_bytes = 0;
  int64_t context_bytes = int64_t{512} << 20;  ///< per process
  int64_t margin_bytes = int64_t{512} << 20;   ///< per GPU
};

enum class MemoryFit : uint8_t {
  Fits,
  TooLarge,
  Unknown,  ///< the GPU's memory or a job's peak is unknown: no co-location
};

/// Peaks are per GPU (for data-parallel jobs, of one replica); 0 or less = unknown. A single job
/// always fits.
[[nodiscard]] constexpr MemoryFit memory_fit(const GpuMemory& gpu, std::span<const int64_t> peaks) {
  if (peaks.size() <= 1) return MemoryFit::Fits;
  if (gpu.total_bytes <= 0) return MemoryFit::Unknown;
  int64_t left = gpu.total_bytes - gpu.margin_bytes;
  bool all_known = true;
  for (const int64_t peak : peaks) {
    all_known = all_known && peak > 0;
    left -= gpu.context_bytes;
    if (left < 0 || peak > left) return MemoryFit::TooLarge;
    if (peak > 0) left -= peak;
  }
  return all_known ? MemoryFit::Fits : MemoryFit::Unknown;
}

}  // namespace goban::core::knowledge
