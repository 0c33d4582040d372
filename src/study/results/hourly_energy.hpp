// Energy by hour, for prices by hour.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace goban::study::results {

/// Joules by hour of the calendar. Memory: a double per hour of the run.
class HourlyEnergy {
 public:
  /// `begin_ns` is the first time of the run; earlier time is ignored. Time 0 of the run is the
  /// Unix time `zero_unix_ns`.
  HourlyEnergy(base::TimeNs begin_ns, base::TimeNs zero_unix_ns)
      : begin_ns_(begin_ns),
        zero_unix_ns_(zero_unix_ns),
        first_hour_((begin_ns + zero_unix_ns) / base::kHour) {}

  /// Adds a power from `from` to `to`, in times of the run. Cost: the hours between them.
  void add(base::TimeNs from, base::TimeNs to, double power_w);

  /// The hour of joules()[0], counted from 1970-01-01 00:00 UTC.
  [[nodiscard]] int64_t first_hour() const { return first_hour_; }
  [[nodiscard]] const std::vector<double>& joules() const { return joules_; }
  /// When hour i begins, in times of the run; the first one not before the run.
  [[nodiscard]] base::TimeNs begin_of(size_t i) const;

 private:
  base::TimeNs begin_ns_;
  base::TimeNs zero_unix_ns_;
  int64_t first_hour_;
  std::vector<double> joules_;
};

}  // namespace goban::study::results
