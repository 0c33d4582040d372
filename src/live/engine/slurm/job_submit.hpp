// The job_submit.lua that makes Slurm wait for Goban's decision (man job_submit.lua; lua 5.1
// in 22.05).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goban::live::engine::slurm {

struct SubmitRules {
  std::vector<std::string> partitions{};  ///< managed ones; empty = all
  std::vector<std::string> gpu_types{};   ///< GRES types that jobs may name
  std::vector<std::string>
      index_types{};       ///< one per GPU index; of GPUs: where jobs name them is a constraint
  int gpus_per_node = 0;   ///< the most that a node has
  uint32_t slurm_uid = 0;  ///< of SlurmUser, who may change what users may not
};

/// The first line of a file that we wrote.
inline constexpr std::string_view kSubmitHead = "-- Written by: goban engine slurm setup";

/// The whole file.
[[nodiscard]] std::string job_submit_lua(const SubmitRules& rules);

}  // namespace goban::live::engine::slurm
