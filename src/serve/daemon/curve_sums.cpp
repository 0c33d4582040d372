#include "serve/daemon/curve_sums.hpp"

#include <algorithm>

#include "base/time.hpp"

namespace goban::serve::daemon {

using base::TimeNs;

void CurveSums::Mean::add(double value) {
  if (value < 0) return;
  sum += value;
  ++count;
}

double CurveSums::Mean::value() const { return count > 0 ? sum / static_cast<double>(count) : -1; }

bool CurveSums::Bin::is_empty() const {
  return util_pct.count == 0 && mem_used_bytes.count == 0 && power_w.count == 0;
}

CurveSums::CurveSums(const GpuWindow& window, TimeNs least_step_ns) : from_ns_(window.from_ns) {
  const TimeNs span_ns = std::max<TimeNs>(0, window.to_ns - window.from_ns);
  const auto most = static_cast<TimeNs>(std::max<size_t>(1, window.points_max));
  step_ns_ = std::max<TimeNs>({1, least_step_ns, (span_ns + most - 1) / most});
  num_bins_ = static_cast<size_t>((span_ns + step_ns_ - 1) / step_ns_);
  gpus_.assign(window.gpus.size(), std::vector<Bin>(num_bins_));
}

void CurveSums::add(size_t gpu, int64_t time_ms, const GpuReading& reading) {
  const TimeNs since_ns = time_ms * base::kMillisecond - from_ns_;
  const auto bin = static_cast<size_t>(since_ns / step_ns_);
  if (since_ns < 0 || bin >= num_bins_) return;
  Bin& at = gpus_[gpu][bin];
  at.util_pct.add(reading.util_pct);
  at.mem_used_bytes.add(static_cast<double>(reading.mem_used_bytes));
  at.power_w.add(reading.power_w);
}

GpuCurves CurveSums::take() const {
  GpuCurves out{.step_s = base::to_seconds(step_ns_), .gpus = {}};
  for (const std::vector<Bin>& bins : gpus_) {
    std::vector<GpuPoint>& points = out.gpus.emplace_back();
    for (size_t i = 0; i < bins.size(); ++i) {
      if (bins[i].is_empty()) continue;
      const TimeNs middle_ns = from_ns_ + static_cast<TimeNs>(i) * step_ns_ + step_ns_ / 2;
      points.push_back(
          {.at_s = base::to_seconds(middle_ns),
           .mean = {.util_pct = bins[i].util_pct.value(),
                    .mem_used_bytes = static_cast<int64_t>(bins[i].mem_used_bytes.value()),
                    .power_w = bins[i].power_w.value()}});
    }
  }
  return out;
}

}  // namespace goban::serve::daemon
