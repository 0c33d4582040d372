// One training run on one rank: builds the model, checks its layout, trains, evaluates and saves.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// Trains. Every rank calls it with equal options; rank 0 prints and writes files. After a signal
/// (stop_requested) the ranks agree on a step, save and return; also during planning. Errors: Usage
/// for options and layouts; Failed for a loss or variable that is not finite (nothing is saved
/// then: the last checkpoint remains), for files, and for lost ranks.
[[nodiscard]] base::Result<std::vector<EpochResult>> train(const TrainOptions& options,
                                                           comm::Communicator& end);

}  // namespace goban::train::trainer
