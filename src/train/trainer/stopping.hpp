// Stopping in good order: a signal to any rank, agreed on by all of them.
#pragma once

#include <atomic>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"

namespace goban::train::trainer {

/// Set by a signal handler: what runs ends at the next point that all ranks agree on.
extern std::atomic<bool> stop_requested;

/// True on all ranks if a signal came to any. Collective.
[[nodiscard]] base::Result<bool> agreed_to_stop(comm::Communicator& end);

}  // namespace goban::train::trainer
