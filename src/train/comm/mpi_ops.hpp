// Element types and reductions as MPI names them. For mpi_world.cpp: includes mpi.h.
#pragma once

#include <mpi.h>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// BF16 has none of its own: its bytes.
[[nodiscard]] MPI_Datatype mpi_type(Element element);

/// MPI must have been started. Where MPI leaves open what becomes of a NaN (largest and least of
/// floating-point numbers), an operation of our own: a NaN wins, as in reduce_in_order.
[[nodiscard]] MPI_Op mpi_op(Element element, Reduction reduction);

}  // namespace goban::train::comm
