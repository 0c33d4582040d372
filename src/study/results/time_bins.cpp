#include "study/results/time_bins.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace goban::study::results {

namespace {

/// Seconds; each divides the next. After the last one, widths double.
constexpr std::array<int64_t, 15> kWidths = {1,    2,    10,    30,    60,    120,    600,   1800,
                                             3600, 7200, 21600, 43200, 86400, 172800, 864000};

TimeNs wider_ns(TimeNs width_ns) {
  const auto* next = std::ranges::upper_bound(kWidths, width_ns / base::kSecond);
  return next == kWidths.end() ? 2 * width_ns : *next * base::kSecond;
}

}  // namespace

void TimeBins::merge() {
  const TimeNs wider = wider_ns(width_ns_);
  const auto factor = static_cast<size_t>(wider / width_ns_);
  for (size_t row = 0; row < rows_; ++row) {
    double* sums = &sums_[row * bins_max_];
    for (size_t bin = 0; bin < bins_max_; ++bin) {
      const double sum = std::exchange(sums[bin], 0.0);
      sums[bin / factor] += sum;
    }
  }
  width_ns_ = wider;
}

void TimeBins::widen(TimeNs width_ns) {
  while (width_ns_ < width_ns) merge();
}

void TimeBins::add(size_t row, TimeNs from, TimeNs to, double value) {
  from = std::max(from, origin_ns_);
  if (to <= from) return;
  while (bins_until(to) > bins_max_) merge();
  double* sums = &sums_[row * bins_max_];
  auto bin = static_cast<size_t>((from - origin_ns_) / width_ns_);
  while (from < to) {
    const TimeNs end = std::min(to, origin_ns_ + static_cast<TimeNs>(bin + 1) * width_ns_);
    sums[bin++] += value * base::to_seconds(end - from);
    from = end;
  }
}

size_t TimeBins::bins_until(TimeNs end_ns) const {
  if (end_ns <= origin_ns_) return 0;
  return static_cast<size_t>((end_ns - origin_ns_ - 1) / width_ns_ + 1);
}

double TimeBins::mean(size_t row, size_t bin, TimeNs end_ns) const {
  const TimeNs from = origin_ns_ + static_cast<TimeNs>(bin) * width_ns_;
  const TimeNs covered = std::min(width_ns_, end_ns - from);
  if (covered <= 0) return 0;
  return sums_[row * bins_max_ + bin] / base::to_seconds(covered);
}

}  // namespace goban::study::results
