// How a job ended, from the state, exit code and signal in its accounting record.
#pragma once

#include <cstdint>

#include "site/records/record_table.hpp"

namespace goban::site::analysis {

/// The exit code as a shell shows it: 128 + signal for a job that was killed by a signal and has no
/// exit code (Slurm's `0:9`). -1 = unknown.
[[nodiscard]] inline int32_t shown_exit_code(const records::RecordRow& row) {
  constexpr int32_t kSignals = 128;
  return row.exit_code <= 0 && row.signal > 0 ? kSignals + row.signal : row.exit_code;
}

/// Whether a job completed: its exit code is 0 or unknown, it was not killed by a signal, and its
/// state, if recorded, is COMPLETED.
[[nodiscard]] inline bool ended_well(const records::RecordRow& row) {
  using records::RecordedState;
  const bool completed =
      row.state == RecordedState::Completed || row.state == RecordedState::Unknown;
  return completed && shown_exit_code(row) <= 0;
}

}  // namespace goban::site::analysis
