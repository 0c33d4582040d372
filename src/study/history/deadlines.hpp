// Deadlines given separately from a job history: from a file, or drawn as Gavel draws them. They
// replace those in the history.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/model/job_history.hpp"

namespace goban::study::history {

/// Counts from setting the deadlines.
struct DeadlineImport {
  int64_t jobs = 0;           ///< that have a deadline now
  int64_t unknown_jobs = 0;   ///< rows whose job is not in the history
  std::string first_unknown;  ///< the first of these
  int64_t impossible = 0;     ///< earlier than submission plus work
};

/// Reads a CSV with the columns `job` and `deadline_s` (seconds after submission; empty = none).
/// Jobs that are not listed have no deadline. Errors: Failed if the file cannot be read; BadData
/// with line and column for an invalid or negative time, a job with two rows, or other columns.
[[nodiscard]] base::Result<DeadlineImport> read_deadlines(const std::string& path,
                                                          core::model::JobHistory& history);
/// The same from text; `file` is its name in messages. After an error the history is unchanged.
[[nodiscard]] base::Result<DeadlineImport> parse_deadlines(std::string_view text,
                                                           const std::string& file,
                                                           core::model::JobHistory& history);

/// 1.2, 2 or 10 times the duration, each with probability 1/3 (Narayanan et al., OSDI 2020).
DeadlineImport draw_gavel_deadlines(core::model::JobHistory& history, uint64_t seed);

/// Removes all deadlines.
void clear_deadlines(core::model::JobHistory& history);

}  // namespace goban::study::history
