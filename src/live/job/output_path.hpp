// Output files of a job: the patterns of its specification, from those of other systems and to
// paths. Shared by the engine, which writes the files, and the API, which reads them.
#pragma once

#include <string>
#include <string_view>

#include "live/job/submit_directives.hpp"

namespace goban::live::job {

/// A pattern with its letters replaced, as output_path() does.
[[nodiscard]] std::string filled_pattern(const std::string& pattern, JobId job,
                                         const JobSpec& spec);

/// The file of standard input, likewise; empty if the job has none.
[[nodiscard]] std::string input_path(JobId job, const JobSpec& spec);

enum class OutputStream : uint8_t { Stdout, Stderr };

/// The file of a stream, relative to the work folder unless the pattern is absolute. %j job number
/// (for an array task FIRST_TASK, such as 7_2), %A number of the array's first task or of the job,
/// %a task index, %x name, %u user, %% a percent sign. Other letters are kept unchanged. Slashes in
/// names become underscores. Defaults: `goban-%j.out` for stdout, the same file for stderr.
[[nodiscard]] std::string output_path(JobId job, const JobSpec& spec, OutputStream stream);

/// Output file names: patterns of the other system become %j %x %u %a %A; patterns without a
/// counterpart add a note.
[[nodiscard]] std::string slurm_output(SubmitDirectives& request, std::string_view path);
[[nodiscard]] std::string batch_output(SubmitDirectives& request, std::string_view path);

}  // namespace goban::live::job
