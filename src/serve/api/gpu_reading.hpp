// One look at a GPU.
#pragma once

#include <cstdint>

namespace goban::serve::api {

/// What an instrument says of a GPU now; negative = not known.
struct GpuReading {
  double util_pct = -1;
  int64_t mem_used_bytes = -1;
  double power_w = -1;
  double temperature_c = -1;
};

}  // namespace goban::serve::api
