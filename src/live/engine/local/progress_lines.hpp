// Parses progress reports of a job line by line (docs/progress.md). The lines are untrusted input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/reports/run_reports.hpp"
#include "base/time.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::local {

using base::TimeNs;
using base::reports::RunProgress;

/// State for measuring a Pace: first and latest value of a count.
struct PaceMark {
  double first = -1;  ///< negative = none yet
  double last = -1;
  base::TimeNs first_ns = 0;

  /// Takes a reported value of the count. A decrease restarts the measurement.
  void heard(double value, base::TimeNs now_ns, Pace& pace);
};

/// The combined state of all lines so far, from all connections of a run.
struct ProgressSum {
  RunProgress progress{};
  bool acknowledged = false;  ///< a checkpoint or `stopping` since expect_stop()
  bool ended = false;         ///< some connection sent `end`
  int64_t lines = 0;          ///< accepted lines
  int64_t refused = 0;        ///< invalid or too long lines

  /// Takes one line without its line break, received at `now_ns` on a monotonic clock.
  void take(std::string_view line, base::TimeNs now_ns = 0);
  /// From now on a checkpoint acknowledges the stop.
  void expect_stop() { acknowledged = false; }

 private:
  bool take_progress(std::string_view words, base::TimeNs now_ns);
  bool take_rank(std::string_view words);

  PaceMark steps_{};
  PaceMark epochs_{};
};

/// Splits the bytes of one connection into lines.
class LineCutter {
 public:
  static constexpr size_t kLineMax = 1024;  ///< bytes; longer lines are discarded
  void feed(std::string_view bytes, ProgressSum& sum, base::TimeNs now_ns = 0);

 private:
  std::string line_;
  bool too_long_ = false;
};

}  // namespace goban::live::engine::local
