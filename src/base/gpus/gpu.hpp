// A GPU of this machine, and its readings.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace goban::base::gpus {

/// A character device, as in the listing of its file.
struct DeviceNumber {
  uint32_t major = 0;
  uint32_t minor = 0;
  friend auto operator<=>(const DeviceNumber&, const DeviceNumber&) = default;
};

/// A GPU of this machine, real or virtual.
struct LocalGpu {
  int32_t index = 0;  ///< the driver's index, in order of PCI address; virtual: from 0
  std::string uuid{};
  std::string name{};
  std::string pci{};
  int64_t mem_bytes = 0;
  double power_idle_w = 0;  ///< virtual: of the power model; real: 0
  double power_max_w = 0;
  double power_exponent = 1;  ///< virtual: exponent of the utilisation, see virtual_power_w()
  bool is_virtual = false;
  std::vector<int32_t> cpus{};  ///< virtual: the cores it computes on
  double slowness = 1;          ///< virtual: 1.2 = takes 20 % longer
  /// The memory use of processes can be measured, or the GPU is a slice; not part of orders.
  bool memory_enforced = true;
  /// Whoever can open these can compute on it; empty: unknown or none. Not part of orders.
  std::vector<DeviceNumber> devices{};
  friend bool operator==(const LocalGpu&, const LocalGpu&) = default;
};

/// Current readings of a GPU; -1 = unknown.
struct GpuReading {
  double util_pct = -1;         ///< share of time in which a kernel ran
  double memory_busy_pct = -1;  ///< share of time in which its memory was read or written
  int64_t mem_used_bytes = -1;
  double power_w = -1;
  double energy_j = -1;  ///< since the driver was loaded
  double temperature_c = -1;
  double sm_clock_mhz = -1;
  double mem_clock_mhz = -1;
};

}  // namespace goban::base::gpus
