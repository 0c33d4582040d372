// A GPU of this machine, and what an instrument says of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace goban::base::gpus {

/// A GPU of this machine, real or virtual.
struct LocalGpu {
  int32_t index = 0;  ///< as the driver counts, in order of PCI address; of virtual ones: from 0
  std::string uuid{};
  std::string name{};
  std::string pci{};
  int64_t mem_bytes = 0;
  double power_idle_w = 0;  ///< virtual: of the power model; real: 0
  double power_max_w = 0;
  double power_exponent = 1;  ///< virtual: of the utilisation, see virtual_power_w()
  bool is_virtual = false;
  std::vector<int32_t> cpus{};  ///< virtual: the cores it computes on
  double slowness = 1;          ///< virtual: 1.2 = takes 20 % longer
  /// What processes take of its memory can be told, or each has a slice; not part of orders.
  bool memory_enforced = true;
  friend bool operator==(const LocalGpu&, const LocalGpu&) = default;
};

/// What a GPU does now; -1 = not known.
struct GpuReading {
  double util_pct = -1;         ///< of time that a kernel ran
  double memory_busy_pct = -1;  ///< of time that its memory was read or written
  int64_t mem_used_bytes = -1;
  double power_w = -1;
  double energy_j = -1;  ///< since the driver was loaded
  double temperature_c = -1;
  double sm_clock_mhz = -1;
  double mem_clock_mhz = -1;
};

}  // namespace goban::base::gpus
