// Averages readings of GPUs into curves of a bounded number of points.
#pragma once

#include <cstdint>
#include <vector>

#include "serve/api/gpu_curves.hpp"

namespace goban::serve::daemon {

using api::GpuCurves;
using api::GpuPoint;
using api::GpuWindow;
using base::gpus::GpuReading;

/// Collects the readings of one window.
class CurveSums {
 public:
  /// The interval of a point is at least `least_step_ns`.
  CurveSums(const GpuWindow& window, base::TimeNs least_step_ns);
  /// `gpu`: its index in the window. Readings outside the window are ignored.
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

}  // namespace goban::serve::daemon
