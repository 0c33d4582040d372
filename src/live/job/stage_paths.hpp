// Paths of --stage-in and --stage-out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::job {

/// What is wrong with a path that a user names: NUL and control characters, `..`, its length.
/// Empty: nothing. It may be relative.
[[nodiscard]] std::string stage_path_problem(std::string_view path);

/// "FROM:TO". Errors: BadData without a place.
[[nodiscard]] base::Result<StageOut> parse_stage_out(std::string_view text);

/// Reads what a job of an engine's own queue says in a comment or annotation into its
/// specification: "stage-in=/lustre/images;stage-out=results:/lustre/out;stage-out-on=always". A
/// word may be repeated; other words are ignored. Paths are absolute, except FROM. Returns what is
/// wrong, for users, and then changes nothing; empty: nothing.
[[nodiscard]] std::string read_stage_words(std::string_view text, JobSpec& spec);

/// The path of a job: patterns as in output_path.hpp are filled in; a relative path is in `folder`.
[[nodiscard]] std::string stage_path(const std::string& path, const std::string& folder, JobId job,
                                     const JobSpec& spec);

}  // namespace goban::live::job
