// The folders of a job's output files, looked at where it is submitted: a missing one is found
// before the job fails on it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::cli {

/// Replaces a folder by the file of the usual name in it.
void complete_output(std::string& path, const std::string& folder, const char* usual);

/// Errors: BadData if the work folder or the folder of an output file is not there or is a file. A
/// job that starts later, after another one perhaps, is warned about on stderr.
[[nodiscard]] base::Status check_folders(const live::job::JobSpec& spec);

}  // namespace goban::cli
