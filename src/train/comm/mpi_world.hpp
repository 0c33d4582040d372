// Ranks as MPI processes (Open MPI), started by mpirun or srun. mpi.h stays in the source file.
#pragma once

#include <memory>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// Name and version of the MPI library, one line. MPI needs not have been started.
[[nodiscard]] std::string mpi_library();

/// Starts MPI and returns this process's end of MPI_COMM_WORLD; MPI ends with it. Once a process.
/// After a failed call the owner must call `abandon`, which ends all ranks. Without `fixed_order`
/// the MPI library chooses the order of sums (equal on all ranks of one call).
/// Errors: Failed, when MPI cannot start; those of check_srun.
[[nodiscard]] base::Result<std::unique_ptr<Communicator>> start_mpi(Options options);

}  // namespace goban::train::comm
