// Memory and power limits of GPU models, by the names that Slurm and Kubernetes use.
#pragma once

#include <cstdint>
#include <string_view>

namespace goban::core::model {

/// From the vendor's data sheet; 0 = depends on the variant, which the name does not state.
struct GpuSpec {
  std::string_view key;  ///< lower case; a-z and 0-9 only, without "nvidia" and "tesla"
  int64_t mem_bytes = 0;
  double power_max_w = 0;
};

/// The entry of a name such as "NVIDIA-A100-SXM4-80GB", "Tesla V100-SXM2-16GB" or "l4", or null.
[[nodiscard]] const GpuSpec* find_gpu_spec(std::string_view name);

}  // namespace goban::core::model
