#include "core/model/import/gpu_specs.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace goban::core::model {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kGB = 1'000'000'000;

// Source: NVIDIA's data sheet of each product (total board power, GPU memory). A bare "a100" may be
// 40 or 80 GB at 250 to 400 W, so its values are unknown.
constexpr std::array kSpecs = {
    GpuSpec{"p100sxm216gb", 16 * kGiB, 300},
    GpuSpec{"p100pcie16gb", 16 * kGiB, 250},
    GpuSpec{"v100", 0, 0},
    GpuSpec{"v100sxm216gb", 16 * kGiB, 300},
    GpuSpec{"v100sxm232gb", 32 * kGiB, 300},
    GpuSpec{"v100sxm332gb", 32 * kGiB, 350},
    GpuSpec{"v100pcie16gb", 16 * kGiB, 250},
    GpuSpec{"v100pcie32gb", 32 * kGiB, 250},
    GpuSpec{"t4", 16 * kGiB, 70},
    GpuSpec{"a10", 24 * kGiB, 150},
    GpuSpec{"a30", 24 * kGiB, 165},
    GpuSpec{"a40", 48 * kGiB, 300},
    GpuSpec{"a100", 0, 0},
    GpuSpec{"a100sxm440gb", 40 * kGiB, 400},
    GpuSpec{"a100sxm480gb", 80 * kGiB, 400},
    GpuSpec{"a100pcie40gb", 40 * kGiB, 250},
    GpuSpec{"a10080gbpcie", 80 * kGiB, 300},
    GpuSpec{"a100pcie80gb", 80 * kGiB, 300},
    GpuSpec{"l4", 24 * kGiB, 72},
    GpuSpec{"l40", 48 * kGiB, 300},
    GpuSpec{"l40s", 48 * kGiB, 350},
    GpuSpec{"h100", 0, 0},
    GpuSpec{"h10080gbhbm3", 80 * kGiB, 700},
    GpuSpec{"h100sxm580gb", 80 * kGiB, 700},
    GpuSpec{"h100pcie", 80 * kGiB, 350},
    GpuSpec{"h200", 141 * kGB, 0},
    GpuSpec{"h200sxm141gb", 141 * kGB, 700},
};

std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') key += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) key += c;
  }
  for (const std::string_view maker : {"nvidia", "tesla"}) {
    if (key.starts_with(maker)) key.erase(0, maker.size());
  }
  return key;
}

}  // namespace

const GpuSpec* find_gpu_spec(std::string_view name) {
  const auto* const found = std::ranges::find(kSpecs, key_of(name), &GpuSpec::key);
  return found == kSpecs.end() ? nullptr : found;
}

}  // namespace goban::core::model
