// Readings of GPUs over a time window, as a bounded number of points: means over equal intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "base/time.hpp"
#include "core/model/ids.hpp"

namespace goban::serve::api {

using base::gpus::GpuReading;

struct GpuWindow {
  std::vector<core::model::GpuId> gpus{};
  base::TimeNs from_ns = 0;  ///< Unix time
  base::TimeNs to_ns = 0;
  size_t points_max = 300;  ///< per GPU; at least 1
  bool only_power = false;  ///< the other readings may be missing: cheaper
};

struct GpuPoint {
  double at_s = 0;  ///< Unix time of the middle of its interval
  GpuReading mean{};
};

struct GpuCurves {
  double step_s = 0;  ///< length of a point's interval
  std::vector<std::vector<GpuPoint>>
      gpus{};  ///< as in the window; intervals without readings omitted
};

}  // namespace goban::serve::api
