// A standby's view of the active daemon of a state folder: whether it is alive.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace goban::live::journal {

enum class HolderState : uint8_t {
  Gone,    ///< no process holds the lock
  Lives,   ///< it is held, and its time was updated within the patience
  Silent,  ///< it is held, but its time was not updated for longer: the process or its machine
           ///< hangs
};

class HolderWatch {
 public:
  /// `patience_ns`: several seconds, as the lock's time is updated once per second.
  HolderWatch(std::string folder, base::TimeNs patience_ns)
      : folder_(std::move(folder)), patience_ns_(patience_ns) {}

  /// Checks the lock of the folder. `now_ns`: on a monotonic clock; the holder's clock does not
  /// matter. A folder that does not exist yet has no holder.
  [[nodiscard]] HolderState look(base::TimeNs now_ns);
  /// Process and host of the holder, as written by it; empty = unknown. As of the last look() that
  /// found a holder.
  [[nodiscard]] const std::string& holder() const { return holder_; }
  /// For StateLock::take_from_silent().
  [[nodiscard]] uint64_t inode() const { return inode_; }

 private:
  std::string folder_;
  base::TimeNs patience_ns_;
  std::string holder_;
  uint64_t inode_ = 0;
  base::TimeNs beat_ns_ = -1;       ///< modification time of the file, on any clock
  base::TimeNs beat_seen_ns_ = -1;  ///< when it last changed, on our clock
};

}  // namespace goban::live::journal
