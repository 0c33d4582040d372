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

/// Adds up readings of a window.
class CurveSums {
 public:
  /// A point stands for `least_step_ns` at least.
  CurveSums(const GpuWindow& window, base::TimeNs least_step_ns);
  /// `gpu`: its place in the window. Readings outside of the window count nothing.
  void add(size_t gpu, int64_t time_ms, const GpuReading& reading);
  [[nodiscard]] GpuCurves take() const;

 private:
  struct Mean {
    double sum = 0;
    int64_t count = 0;
    void add(double value);
    [[nodiscard]] double value() const;
  };
  struct Bin {
    Mean util_pct{}, mem_used_bytes{}, power_w{};
    [[nodiscard]] bool is_empty() const;
  };

  base::TimeNs from_ns_ = 0;
  base::TimeNs step_ns_ = 1;
  size_t num_bins_ = 0;
  std::vector<std::vector<Bin>> gpus_{};
};

}  // namespace goban::serve::api
