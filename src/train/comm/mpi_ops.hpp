// MPI's types and operations for elements and reductions. Used by mpi_world.cpp; includes mpi.h.
#pragma once

#include <mpi.h>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// BF16 has no MPI type; its bytes are used.
[[nodiscard]] MPI_Datatype mpi_type(Element element);

/// MPI must be initialised. MPI does not define max and min of NaN; here a separate operation for
/// floating-point types propagates NaN, as reduce_in_order does.
[[nodiscard]] MPI_Op mpi_op(Element element, Reduction reduction);

}  // namespace goban::train::comm
