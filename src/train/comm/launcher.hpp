// Who started this process: what the environment says of mpirun, srun, or neither. Free of MPI.
#pragma once

#include "base/result.hpp"

namespace goban::train::comm {

/// True if a launcher started this process as one rank of an MPI run. Names that a batch system
/// sets for a job of one task as well (OMPI_COMM_WORLD_SIZE=1 and the like) are no sign of it.
[[nodiscard]] bool launched_by_mpi();

/// Rank within this machine, as the launcher says it; 0 without one.
[[nodiscard]] int launcher_local_rank();

/// Errors: Usage, if srun started several tasks and MPI, which sees `world_size` ranks, knows of
/// one only: each would train alone, and all would write the same files.
[[nodiscard]] base::Status check_srun(int world_size);

}  // namespace goban::train::comm
