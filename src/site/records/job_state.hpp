// How a job stood when its record was written, and the words accounting systems have for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/job.hpp"

namespace goban::site::records {

/// State of a job. What ended has one of Completed to DeadlineMissed.
enum class JobState : uint8_t {
  Unknown,
  Pending,
  Running,
  Suspended,
  Requeued,  ///< this run was given up, another one follows
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

/// Batch or interactive; ABCI's second condition asks for it.
enum class JobKind : uint8_t { Unknown, Batch, Interactive };

/// The words of Slurm that end a job, for messages.
inline constexpr std::string_view kEndStateNames =
    "COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL";

/// Reads the words of Slurm (`CANCELLED by 123`, a cut `CANCELLED+`), Helios, Philly (Pass, Killed)
/// and Kubernetes in any case. None if the word is not known.
[[nodiscard]] std::optional<JobState> parse_job_state(std::string_view word);

/// Upper-case word of Slurm; UNKNOWN for Unknown.
[[nodiscard]] std::string_view job_state_name(JobState state);
/// "batch", "interactive", "unknown".
[[nodiscard]] std::string_view job_kind_name(JobKind kind);

/// The job will not change any more.
[[nodiscard]] constexpr bool has_ended(JobState state) { return state >= JobState::Completed; }

/// What the simulator distinguishes; Unknown for all that has not ended.
[[nodiscard]] core::model::RecordedEnd recorded_end(JobState state);

}  // namespace goban::site::records
