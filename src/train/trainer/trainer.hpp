// One training run on one rank: builds the model, checks its layout, trains, evaluates, saves.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// Trains; every rank calls it with equal options. Rank 0 prints and writes files. After a signal
/// (stop_requested) the ranks agree on a step, save and leave; so they do while they plan.
/// Errors: Usage for options and layouts; Failed for a loss or a variable that is no finite number
/// (nothing is saved then: the last checkpoint stays), for files, and for lost ranks.
[[nodiscard]] base::Result<std::vector<EpochResult>> train(const TrainOptions& options,
                                                           comm::Communicator& end);

}  // namespace goban::train::trainer
