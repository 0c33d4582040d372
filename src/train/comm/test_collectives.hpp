// Checks of every collective on integers, whose sums are exact. Run by the thread tests and by the
// MPI test program.
#pragma once

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// Runs all collectives over the world and over sub-groups (rows and columns of a 2 x n/2 mesh
/// when the size is even). Errors: Failed, naming the first collective with a wrong result.
[[nodiscard]] base::Status check_collectives(Communicator& end);

/// Sum, max and min of values of which one rank's is NaN: all ranks must get NaN. Errors: Failed,
/// if it was lost. (NCCL does not guarantee this.)
[[nodiscard]] base::Status check_nan_wins(Communicator& end);

}  // namespace goban::train::comm
