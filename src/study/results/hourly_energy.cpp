#include "study/results/hourly_energy.hpp"

#include <algorithm>

namespace goban::study::results {

base::TimeNs HourlyEnergy::begin_of(size_t i) const {
  return std::max(begin_ns_, (first_hour_ + static_cast<int64_t>(i)) * base::kHour - zero_unix_ns_);
}

void HourlyEnergy::add(base::TimeNs from, base::TimeNs to, double power_w) {
  from = std::max(from, begin_ns_);
  if (to <= from) return;
  auto hour = static_cast<size_t>((from + zero_unix_ns_) / base::kHour - first_hour_);
  const auto last = static_cast<size_t>((to - 1 + zero_unix_ns_) / base::kHour - first_hour_);
  if (last >= joules_.size()) joules_.resize(last + 1);
  for (; from < to; ++hour) {
    const base::TimeNs end = std::min(to, begin_of(hour + 1));
    joules_[hour] += power_w * base::to_seconds(end - from);
    from = end;
  }
}

}  // namespace goban::study::results
