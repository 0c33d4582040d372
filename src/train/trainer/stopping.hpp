// Orderly stop: a signal to any rank, agreed on by all ranks.
#pragma once

#include <atomic>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"

namespace goban::train::trainer {

/// Set by a signal handler; the run ends at the next point on which all ranks agree.
extern std::atomic<bool> stop_requested;

/// True on all ranks if any rank received a signal. Collective.
[[nodiscard]] base::Result<bool> agreed_to_stop(comm::Communicator& end);

}  // namespace goban::train::trainer
