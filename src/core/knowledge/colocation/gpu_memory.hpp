// Whether jobs fit together into the memory of a GPU, in bytes. EaCO admits by "memory
// utilisation", which is time with an active memory bus, and by sums over GPUs; neither says what
// fits.
#pragma once

#include <cstdint>
#include <span>

namespace goban::core::knowledge {

/// Memory of one GPU. The defaults are ours: about what a CUDA context with a deep-learning
/// library takes, and what is kept free for fragments.
struct GpuMemory {
  int64_t total_bytes = 0;
  int64_t context_bytes = int64_t{512} << 20;  ///< of each process
  int64_t margin_bytes = int64_t{512} << 20;   ///< of the GPU
};

enum class MemoryFit : uint8_t {
  Fits,
  TooLarge,
  Unknown,  ///< the GPU's memory or someone's peak is not known: such a job stays alone
};

/// Peaks are of one GPU each, for data-parallel jobs of one replica; 0 or less = not known. One job
/// alone always fits: that it ran is all that is known.
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
