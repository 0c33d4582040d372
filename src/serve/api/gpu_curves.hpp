// What GPUs did over a stretch of time, as a bounded number of points: means over equal parts of
// it.
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
  base::TimeNs from_ns = 0;  ///< since 1970
  base::TimeNs to_ns = 0;
  size_t points_max = 300;  ///< of each GPU; 1 at least
};

struct GpuPoint {
  double at_s = 0;  ///< since 1970: the middle of the time that it stands for
  GpuReading mean{};
};

struct GpuCurves {
  double step_s = 0;                          ///< time that a point stands for
  std::vector<std::vector<GpuPoint>> gpus{};  ///< as in the window; without points of no reading
};

}  // namespace goban::serve::api
