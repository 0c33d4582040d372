// Where the output of a job goes: the patterns of its specification, filled in. One place, for the
// engine that writes and the API that reads.
#pragma once

#include <string>

#include "live/job/job_spec.hpp"

namespace goban::live::job {

enum class OutputStream : uint8_t { Stdout, Stderr };

/// The file of a stream, under the work folder unless the pattern is absolute. %j number (of the
/// first task, with _TASK, for a task of an array), %A number of the array's first task or the job,
/// %a task, %x name, %u user, %% a percent sign; other letters stay as they are. Slashes in names
/// become underscores. Without a pattern: stdout as `goban-%j.out`, stderr as stdout.
[[nodiscard]] std::string output_path(JobId job, const JobSpec& spec, OutputStream stream);

}  // namespace goban::live::job
