// Starts the ranks of goban-train: threads of this process, or this process as one MPI rank.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"

namespace goban::train::trainer {

/// Options for starting ranks and moving their data.
struct RankOptions {
  comm::Options comm;
  int threads = 1;                   ///< ranks without MPI
  int runs_at_once = 1;              ///< that share the cores of this process
  std::string collectives = "auto";  ///< host, nccl, or auto: nccl between GPUs
};

/// The function that each rank runs.
using RankBody = std::function<base::Status(comm::Communicator&)>;

/// Prints the error on stderr and returns its exit code.
[[nodiscard]] int exit_code(const base::Error& error);

/// Runs `body` on each rank; ranks are threads of this process that compute on `device`.
[[nodiscard]] base::Status on_each_thread(const RankOptions& options, const std::string& device,
                                          const RankBody& body);

/// Runs `body` on this process's MPI rank. A failure is printed and ends all ranks; a usage error
/// common to all ranks is printed once, and the ranks exit cleanly. Returns the exit code.
[[nodiscard]] int on_mpi(const RankOptions& options, const std::string& device,
                         const RankBody& body);

}  // namespace goban::train::trainer
