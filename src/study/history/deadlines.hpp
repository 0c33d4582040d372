// Deadlines that stand beside a job history: from a file, or drawn as Gavel draws them. They take
// the place of those in the history.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/model/job.hpp"

namespace goban::study::history {

/// What became of the deadlines.
struct DeadlineCounts {
  int64_t jobs = 0;           ///< that have a deadline now
  int64_t unknown_jobs = 0;   ///< rows whose job the history does not hold
  std::string first_unknown;  ///< the first of these
  int64_t impossible = 0;     ///< before the work alone is over
};

/// Reads a CSV of the columns `job` and `deadline_s` (seconds after the submission; empty = none).
/// Jobs that are not in it have no deadline. Errors: Failed if it cannot be read, BadData with line
/// and column: a time that is none or negative, a job with two rows, other columns.
[[nodiscard]] base::Result<DeadlineCounts> read_deadlines(const std::string& path,
                                                          core::model::JobHistory& history);
/// The same of a text; `file` stands for it in messages. After an error the history is as it was.
[[nodiscard]] base::Result<DeadlineCounts> parse_deadlines(std::string_view text,
                                                           const std::string& file,
                                                           core::model::JobHistory& history);

/// 1.2, 2 or 10 times the duration, in equal thirds by chance (Narayanan et al., OSDI 2020).
DeadlineCounts draw_gavel_deadlines(core::model::JobHistory& history, uint64_t seed);

/// Takes all deadlines away.
void clear_deadlines(core::model::JobHistory& history);

}  // namespace goban::study::history
