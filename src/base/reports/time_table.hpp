// Where the time of a training run went: its parts, each beside the limit measured on its machine,
// the bottleneck and its remedy. Written by goban-train (time_table.json), read by goban doctor
// run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace goban::base::reports {

/// One part of the time.
struct TimePart {
  std::string name;    ///< "input", "compute", "exposed communication", ...
  double seconds = 0;  ///< of rank 0, on the critical path
  /// A rate reached in this part, and its limit, in `unit`; absent if unknown.
  std::optional<double> rate{}, limit{};
  std::string unit{};
  /// Part of the part before it, not an addition to it.
  bool inside = false;
};

/// The part of the run from one evaluation to the next.
struct TimeInterval {
  double begin_s = 0, end_s = 0;  ///< since the first step
  int64_t step = 0;               ///< at its end
  /// Seconds by the names of parts; what is missing to its length is "other".
  std::vector<std::pair<std::string, double>> parts;
};

struct TimeTable {
  static constexpr int kVersion = 1;
  double wall_s = 0;  ///< from the first step to the end
  std::vector<TimePart> parts;
  /// Empty in files of older releases, and of a run that was stopped before its first step ended.
  std::vector<TimeInterval> intervals{};
  /// Options of the run that remedies name, such as "--overlap buckets".
  std::vector<std::string> options{};
};

/// A run writes at most so many intervals, and a page draws as many: more columns would be narrower
/// than half a pixel.
inline constexpr size_t kMostIntervals = 2000;
/// Larger ones are no time tables: what releases without that limit wrote fits, too.
inline constexpr size_t kLargestTimeTable = size_t{64} << 20;

/// Joins as many neighbours as it takes to have at most `most` intervals: parts are summed, and a
/// gap becomes "other".
void join_neighbours(std::vector<TimeInterval>& intervals, size_t most = kMostIntervals);

/// The part that holds the run back, and what to do.
struct Bottleneck {
  std::string part;
  double share = 0;  ///< of the wall time
  std::string remedy;
};
/// The largest part besides computing, if it takes at least 5 % of the time; else computing.
[[nodiscard]] Bottleneck bottleneck_of(const TimeTable& table);

/// The table as text, with the bottleneck in its last line.
[[nodiscard]] std::string to_text(const TimeTable& table);

[[nodiscard]] std::string to_json(const TimeTable& table);
/// A page that needs no other file: the intervals as columns over time, each divided into its
/// parts, and the table. `title`: the run's name.
[[nodiscard]] std::string to_html(const TimeTable& table, const std::string& title);
/// Errors: BadData with `file` and the field, also for a newer version and for numbers that
/// contradict each other.
[[nodiscard]] Result<TimeTable> parse_time_table(std::string_view text, const std::string& file);

}  // namespace goban::base::reports
