// Ranks as MPI processes (Open MPI), started by mpirun or srun. mpi.h stays in the source file.
#pragma once

#include <memory>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// Name and version of the MPI library, one line. MPI need not be initialised.
[[nodiscard]] std::string mpi_library();

/// Initialises MPI and returns this process's communicator over MPI_COMM_WORLD; its destructor
/// finalises MPI. Call at most once per process. After a failed call the owner must call `abandon`,
/// which ends all ranks. Without `fixed_order` the MPI library chooses the order of sums (identical
/// on all ranks of one call). Errors: Failed, when MPI cannot start; those of check_srun.
[[nodiscard]] base::Result<std::unique_ptr<Communicator>> start_mpi(Options options);

}  // namespace goban::train::comm
