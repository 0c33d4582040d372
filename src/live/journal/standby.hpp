// A stand-by's view of the daemon that works on a state folder: whether it lives.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace goban::live::journal {

enum class HolderState : uint8_t {
  Gone,    ///< nobody holds the lock
  Lives,   ///< it is held, and its time has moved on within the patience
  Silent,  ///< it is held, and its time stands still for longer: frozen, or its machine is
};

class HolderWatch {
 public:
  /// `patience_ns`: several seconds, for a holder's lock moves on once a second.
  HolderWatch(std::string folder, base::TimeNs patience_ns)
      : folder_(std::move(folder)), patience_ns_(patience_ns) {}

  /// Looks at the lock of the folder. `now_ns`: of a clock that nobody sets; the holder's clock
  /// does not matter. A folder that is not there yet is nobody's.
  [[nodiscard]] HolderState look(base::TimeNs now_ns);
  /// Who holds it, as it says; empty = unknown. As of the last look that found a holder.
  [[nodiscard]] const std::string& holder() const { return holder_; }
  /// For StateLock::take_from_silent().
  [[nodiscard]] uint64_t inode() const { return inode_; }

 private:
  std::string folder_;
  base::TimeNs patience_ns_;
  std::string holder_;
  uint64_t inode_ = 0;
  base::TimeNs beat_ns_ = -1;       ///< time of the file, by whatever clock
  base::TimeNs beat_seen_ns_ = -1;  ///< when it last moved, by ours
};

}  // namespace goban::live::journal
