// What a job says of itself, line by line: docs/progress.md. Everything here comes from programs of
// users, so nothing is believed beyond its form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "live/engine/local/run_order.hpp"

namespace goban::live::engine::local {

/// What a Pace is measured by: where a count began, and where it is.
struct PaceMark {
  double first = -1;  ///< negative = nobody told it
  double last = -1;
  base::TimeNs first_ns = 0;

  /// A line says that the count is `value` by now. One that fell begins anew.
  void heard(double value, base::TimeNs now_ns, Pace& pace);
};

/// The sum of all lines so far, of all connections of a run.
struct ProgressSum {
  RunProgress progress{};
  bool acknowledged = false;  ///< a checkpoint or `stopping` since expect_stop()
  bool ended = false;         ///< some connection said `end`
  int64_t lines = 0;          ///< taken
  int64_t refused = 0;        ///< not understood, or too long

  /// One line without its end, heard at `now_ns` of a clock that nobody sets.
  void take(std::string_view line, base::TimeNs now_ns = 0);
  /// From now on a checkpoint answers a stop.
  void expect_stop() { acknowledged = false; }

 private:
  bool take_progress(std::string_view words, base::TimeNs now_ns);
  bool take_rank(std::string_view words);

  PaceMark steps_{};
  PaceMark epochs_{};
};

/// Cuts the bytes of one connection into lines.
class LineCutter {
 public:
  static constexpr size_t kLineMax = 1024;  ///< bytes; a longer line is left out as a whole
  void feed(std::string_view bytes, ProgressSum& sum, base::TimeNs now_ns = 0);

 private:
  std::string line_;
  bool too_long_ = false;
};

}  // namespace goban::live::engine::local
