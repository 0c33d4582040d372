// State of a job when its record was written, and the words that accounting systems use for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/job.hpp"

namespace goban::site::records {

/// State of a job. A finished job has one of Completed to DeadlineMissed.
enum class RecordedState : uint8_t {
  Unknown,
  Pending,
  Running,
  Suspended,
  Requeued,  ///< this run was stopped, another one follows
  Completed,
  Failed,
  Cancelled,
  TimedOut,
  NodeFailed,
  OutOfMemory,
  Preempted,
  BootFailed,
  DeadlineMissed,
};
inline constexpr size_t kNumJobStates = 14;

/// Batch or interactive; used by ABCI's second condition.
enum class JobKind : uint8_t { Unknown, Batch, Interactive };

/// Slurm's words for finished jobs, for messages.
inline constexpr std::string_view kEndStateNames =
    "COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL";

/// Parses the words of Slurm (`CANCELLED by 123`, truncated `CANCELLED+`), Helios, Philly (Pass,
/// Killed) and Kubernetes, in upper or lower case. None if the word is unknown.
[[nodiscard]] std::optional<RecordedState> parse_job_state(std::string_view word);

/// Upper-case word of Slurm; UNKNOWN for Unknown.
[[nodiscard]] std::string_view job_state_name(RecordedState state);
/// "batch", "interactive", "unknown".
[[nodiscard]] std::string_view job_kind_name(JobKind kind);

/// True if the job is finished.
[[nodiscard]] constexpr bool has_ended(RecordedState state) {
  return state >= RecordedState::Completed;
}

/// The states that the simulator distinguishes; Unknown for unfinished jobs.
[[nodiscard]] core::model::RecordedEnd recorded_end(RecordedState state);

}  // namespace goban::site::records
