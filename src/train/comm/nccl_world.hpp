// Collectives by NCCL: each rank drives one GPU of its own.
#pragma once

#include <memory>

#include "train/comm/communicator.hpp"
#include "train/comm/nccl_library.hpp"

namespace goban::train::comm {

/// An end whose data move by NCCL. `host` (threads or MPI; outlives it) starts it and compares
/// calls before each, so that a rank that diverges or never comes is named as elsewhere. Buffers of
/// the host are copied to the GPU and back; those of the GPU (DeviceData) are used where they lie.
/// Sums in fixed order and of bf16 are formed by `host`, as NCCL's own rounding depends on the
/// number of ranks. Collective. `gpu`: the number of this rank's GPU. Errors: Failed, when NCCL or
/// CUDA cannot be loaded or there is no GPU for this rank; if one rank fails, all do.
[[nodiscard]] base::Result<std::unique_ptr<Communicator>> start_nccl(Communicator& host, int gpu,
                                                                     const NcclPaths& paths = {});

}  // namespace goban::train::comm
