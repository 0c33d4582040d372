// Checks of every collective on whole numbers, whose sums are exact: run by the thread tests and
// by the MPI test program alike.
#pragma once

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// Runs all collectives over the world and over sub-groups (rows and columns of a 2 x n/2 mesh
/// when the size is even). Errors: Failed, naming the first collective with a wrong result.
[[nodiscard]] base::Status check_collectives(Communicator& end);

/// Sums, largest and least values of numbers, one of which is a NaN of some rank: all ranks see it.
/// Errors: Failed, where it was lost. (Not promised of NCCL.)
[[nodiscard]] base::Status check_nan_wins(Communicator& end);

}  // namespace goban::train::comm
