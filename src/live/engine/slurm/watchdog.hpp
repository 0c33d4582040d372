// Whether a daemon still decides: a file that only a completed commit cycle touches. The watchdog
// shares nothing else with the daemon. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"

namespace goban::live::engine::slurm {

class Heartbeat {
 public:
  explicit Heartbeat(base::TimeNs patience_ns) : patience_ns_(patience_ns) {}
  /// What the file shows now (its times and content; empty: it is missing), at a time on a clock
  /// that nobody sets. True: it has not changed for longer than the patience, so scheduling goes
  /// back to Slurm. A file that is missing from the beginning counts from the first call.
  bool is_late(std::string_view shown, base::TimeNs now_ns) {
    if (changed_ns_ < 0 || shown != shown_) {
      shown_ = shown;
      changed_ns_ = now_ns;
    }
    return now_ns - changed_ns_ > patience_ns_;
  }

 private:
  base::TimeNs patience_ns_;
  base::TimeNs changed_ns_ = -1;
  std::string shown_;
};

}  // namespace goban::live::engine::slurm
