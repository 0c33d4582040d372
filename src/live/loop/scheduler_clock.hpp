// The time of the scheduler, which never goes back.
#pragma once

#include <algorithm>

#include "base/clock.hpp"
#include "base/time.hpp"

namespace goban::live::loop {

/// The wall clock at the start plus steady time, so that setting the clock has no effect. If the
/// clock is behind the journal, as it was set back, time goes on from there at half speed until the
/// clock has caught up: if it stood still, no hold, round or reservation would ever end.
class SchedulerClock {
 public:
  /// `journal_ns`: the last time of the journal; 0 = none.
  SchedulerClock(base::TimeNs wall_ns, base::TimeNs steady_ns, base::TimeNs journal_ns)
      : wall_ns_(wall_ns), steady_ns_(steady_ns), journal_ns_(journal_ns) {}

  [[nodiscard]] base::TimeNs at(base::TimeNs steady_ns) const {
    const base::TimeNs past_ns = steady_ns - steady_ns_;
    return std::max(wall_ns_ + past_ns, journal_ns_ + past_ns / 2);
  }
  [[nodiscard]] base::TimeNs operator()() const { return at(base::steady_ns()); }
  /// How far the clock is behind at the start.
  [[nodiscard]] base::TimeNs behind_ns() const {
    return std::max<base::TimeNs>(0, journal_ns_ - wall_ns_);
  }

 private:
  base::TimeNs wall_ns_;
  base::TimeNs steady_ns_;
  base::TimeNs journal_ns_;
};

}  // namespace goban::live::loop
