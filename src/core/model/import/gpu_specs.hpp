// Memory and power limits of GPU models by the names that Slurm and Kubernetes use for them.
#pragma once

#include <cstdint>
#include <string_view>

namespace goban::core::model {

/// From the maker's data sheet; 0 = it depends on the variant, which the name does not say.
struct GpuSpec {
  std::string_view key;  ///< lower case, without "nvidia", "tesla" and everything but a-z, 0-9
  int64_t mem_bytes = 0;
  double power_max_w = 0;
};

/// "NVIDIA-A100-SXM4-80GB", "Tesla V100-SXM2-16GB", "l4": the entry of that name, or null.
[[nodiscard]] const GpuSpec* find_gpu_spec(std::string_view name);

}  // namespace goban::core::model
