// Collectives by NCCL: each rank drives its own GPU.
#pragma once

#include <memory>

#include "train/comm/communicator.hpp"
#include "train/comm/nccl_library.hpp"

namespace goban::train::comm {

/// A communicator that moves data by NCCL. `host` (threads or MPI; must outlive it) starts it and
/// compares calls before each collective, so a rank that diverges or never arrives is named as in
/// the other worlds. Host buffers are copied to the GPU and back; GPU buffers (DeviceData) are used
/// in place. Sums in fixed order and of bf16 are formed by `host`, because NCCL's rounding depends
/// on the number of ranks. Collective. `gpu`: the index of this rank's GPU. Errors: Failed, when
/// NCCL or CUDA cannot be loaded or there is no GPU for this rank; if one rank fails, all do.
[[nodiscard]] base::Result<std::unique_ptr<Communicator>> start_nccl(Communicator& host, int gpu,
                                                                     const NcclPaths& paths = {});

}  // namespace goban::train::comm
