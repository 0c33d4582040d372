// Starts the ranks of goban-train: threads of this process, or this process as one rank of MPI.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"

namespace goban::train::trainer {

/// How ranks are started, and what moves their data.
struct RankOptions {
  comm::Options comm;
  int threads = 1;                   ///< ranks without MPI
  std::string collectives = "auto";  ///< host, nccl, or auto: nccl between GPUs
};

/// What each rank does.
using RankBody = std::function<base::Status(comm::Communicator&)>;

/// Says the error on stderr; the program's exit code for it.
[[nodiscard]] int exit_code(const base::Error& error);

/// Runs `body` on each rank, a thread of this process that computes on `device`.
[[nodiscard]] base::Status on_each_thread(const RankOptions& options, const std::string& device,
                                          const RankBody& body);

/// Runs `body` on this process's rank of MPI. A failure is said and ends all ranks; a usage error
/// that all ranks have is said once, and they leave in order. The exit code.
[[nodiscard]] int on_mpi(const RankOptions& options, const std::string& device,
                         const RankBody& body);

}  // namespace goban::train::trainer
