// What a job's comment says of its training: Slurm has no words for it.
#pragma once

#include <string>
#include <string_view>

#include "live/job/job_spec.hpp"

namespace goban::live::engine::slurm {

/// Reads "gpu-memory=20G;model=resnet50" of a comment's words into the specification: the most
/// memory of each GPU that it uses, without which it is not placed beside others, and the name by
/// which jobs of the same application are known. Other words are ignored. Returns what is wrong,
/// for users, and then changes nothing; empty: nothing.
[[nodiscard]] std::string read_training_words(std::string_view text, job::JobSpec& spec);

}  // namespace goban::live::engine::slurm
