// One connection of a job to a socket for its progress reports.
#pragma once

#include <cstdint>

#include "base/files.hpp"
#include "base/time.hpp"
#include "live/engine/local/progress_lines.hpp"

namespace goban::live::engine::local {

class ProgressConnection {
 public:
  static constexpr int64_t kBytesPerSecond = 65'536;  ///< beyond this, reading is delayed

  explicit ProgressConnection(base::Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// False: the bytes of this second are used up.
  [[nodiscard]] bool may_read(base::TimeNs now_ns) const;
  /// Reads once, and adds to the sum. False: nothing was read.
  bool read(ProgressSum& sum, base::TimeNs now_ns);
  /// The job has closed it.
  [[nodiscard]] bool is_gone() const { return is_gone_; }

 private:
  base::Descriptor socket_;
  LineCutter cutter_{};
  base::TimeNs window_ns_ = 0;  ///< start of the second in which bytes are counted
  int64_t window_bytes_ = 0;
  bool is_gone_ = false;
};

}  // namespace goban::live::engine::local
