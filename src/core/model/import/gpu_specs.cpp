#include "core/model/import/gpu_specs.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/units.hpp"

namespace goban::core::model {
namespace {

using base::kGib;

constexpr int64_t kGB = 1'000'000'000;

// Source: NVIDIA's data sheet of each product (total board power, GPU memory). A bare "a100" may be
// 40 or 80 GB at 250 to 400 W, so its values are unknown.
constexpr std::array kSpecs = {
    GpuSpec{"p100sxm216gb", 16 * kGib, 300},
    GpuSpec{"p100pcie16gb", 16 * kGib, 250},
    GpuSpec{"v100", 0, 0},
    GpuSpec{"v100sxm216gb", 16 * kGib, 300},
    GpuSpec{"v100sxm232gb", 32 * kGib, 300},
    GpuSpec{"v100sxm332gb", 32 * kGib, 350},
    GpuSpec{"v100pcie16gb", 16 * kGib, 250},
    GpuSpec{"v100pcie32gb", 32 * kGib, 250},
    GpuSpec{"t4", 16 * kGib, 70},
    GpuSpec{"a10", 24 * kGib, 150},
    GpuSpec{"a30", 24 * kGib, 165},
    GpuSpec{"a40", 48 * kGib, 300},
    GpuSpec{"a100", 0, 0},
    GpuSpec{"a100sxm440gb", 40 * kGib, 400},
    GpuSpec{"a100sxm480gb", 80 * kGib, 400},
    GpuSpec{"a100pcie40gb", 40 * kGib, 250},
    GpuSpec{"a10080gbpcie", 80 * kGib, 300},
    GpuSpec{"a100pcie80gb", 80 * kGib, 300},
    GpuSpec{"l4", 24 * kGib, 72},
    GpuSpec{"l40", 48 * kGib, 300},
    GpuSpec{"l40s", 48 * kGib, 350},
    GpuSpec{"h100", 0, 0},
    GpuSpec{"h10080gbhbm3", 80 * kGib, 700},
    GpuSpec{"h100sxm580gb", 80 * kGib, 700},
    GpuSpec{"h100pcie", 80 * kGib, 350},
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
