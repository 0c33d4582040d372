// Orderly stop: a signal to any rank, agreed on by all ranks.
#pragma once

#include <atomic>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"

namespace goban::train::trainer {

/// Set by a signal handler; the run ends at the next point on which all ranks agree.
extern std::atomic<bool> stop_requested;

/// Has signals set stop_requested. Called before other threads are started. The signals are blocked
/// in this thread and in those that it starts, and taken by a thread of their own: while oneDNN
/// multiplies matrices (2.6), its stack pointer may point into the heap, where the frame of a
/// signal handler would overwrite what lies there.
void stop_on(const std::vector<int>& signals);

/// True on all ranks if any rank received a signal. Collective.
[[nodiscard]] base::Result<bool> agreed_to_stop(comm::Communicator& end);

}  // namespace goban::train::trainer
