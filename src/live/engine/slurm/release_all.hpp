// Scheduling goes back to Slurm: every job that we hold is released, as its user submitted it.
#pragma once

#include "live/engine/slurm/client.hpp"
#include "live/engine/slurm/queue_view.hpp"

namespace goban::live::engine::slurm {

struct Released {
  size_t jobs = 0;       ///< released
  size_t kept_held = 0;  ///< held by their users
  std::vector<std::string> problems{};
};

/// Lines for scontrol: jobs that were placed and wait again lose their nodes; then all are
/// released, in the order of `rows`. A request that names GPU indices keeps them: Slurm 22.05
/// refuses one without types in its place, and a job whose request was cleared starts without GPUs.
/// Pure.
[[nodiscard]] std::vector<std::string> release_scripts(std::span<const JobRow> rows,
                                                       const std::vector<std::string>& partitions,
                                                       Released& released);

/// Of these partitions; empty = of all. Errors: Failed if Slurm does not answer.
[[nodiscard]] base::Result<Released> release_all(const Client& client,
                                                 const std::vector<std::string>& partitions);

}  // namespace goban::live::engine::slurm
