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

/// Lines for scontrol: jobs that were placed and wait again lose their nodes, and the indices that
/// were chosen for them by `index_types`; then all are released, in the order of `rows`. Pure.
/// `gres_prefix`: version.hpp.
[[nodiscard]] std::vector<std::string> release_scripts(std::span<const JobRow> rows,
                                                       const std::map<std::string, JobWords>& words,
                                                       const std::vector<std::string>& partitions,
                                                       std::span<const std::string> index_types,
                                                       Released& released,
                                                       std::string_view gres_prefix = "gres:");

/// Of these partitions; empty = of all. Errors: Failed if Slurm does not answer.
[[nodiscard]] base::Result<Released> release_all(const Client& client,
                                                 const std::vector<std::string>& partitions);

}  // namespace goban::live::engine::slurm
