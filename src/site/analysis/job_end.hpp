// How a job ended, from what accounting says of its state, exit code and signal.
#pragma once

#include <cstdint>

#include "site/records/record_table.hpp"

namespace goban::site::analysis {

/// The exit code as a shell shows it: 128 + signal of a job that a signal ended without a code
/// (Slurm's `0:9`). -1 = not known.
[[nodiscard]] inline int32_t shown_exit_code(const records::RecordRow& row) {
  constexpr int32_t kSignals = 128;
  return row.exit_code <= 0 && row.signal > 0 ? kSignals + row.signal : row.exit_code;
}

/// Whether a job ran to its end: its script's exit code is 0 or not known, no signal ended it, and
/// its state, if there is one, is COMPLETED.
[[nodiscard]] inline bool ended_well(const records::RecordRow& row) {
  using records::JobState;
  const bool completed = row.state == JobState::Completed || row.state == JobState::Unknown;
  return completed && shown_exit_code(row) <= 0;
}

}  // namespace goban::site::analysis
