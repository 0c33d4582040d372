// Detects from the environment whether mpirun or srun started this process. Free of MPI.
#pragma once

#include "base/result.hpp"

namespace goban::train::comm {

/// True if a launcher started this process as one rank of an MPI run. Variables that a batch system
/// also sets for a job of one task (such as OMPI_COMM_WORLD_SIZE=1) do not count.
[[nodiscard]] bool launched_by_mpi();

/// Rank within this machine as set by the launcher; 0 without a launcher.
[[nodiscard]] int launcher_local_rank();

/// Errors: Usage, if srun started several tasks but MPI sees only one rank (`world_size`): each
/// task would train alone and all would write the same files.
[[nodiscard]] base::Status check_srun(int world_size);

}  // namespace goban::train::comm
