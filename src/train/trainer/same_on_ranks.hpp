// Comparison of what must be equal on all ranks of a run: options, plan and data, before the first
// step. Ranks that differ would train without an error, each on its own weights.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/program.hpp"
#include "train/mesh/variables.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// Properties of a run: the name that its user knows (such as "--seed"), and the value.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// The options that must be equal on all ranks; not those that name files and folders, of which
/// each machine may have its own.
[[nodiscard]] Facts facts_of(const TrainOptions& options);
/// Sizes and checksums of training and test set.
[[nodiscard]] Facts facts_of(const Batches& batches);

/// Compares the facts of all ranks. Collective. Errors: Usage on all ranks, with `what` ("the ranks
/// have different options") and each fact that differs: its values and their ranks.
[[nodiscard]] base::Status same_on_ranks(comm::Communicator& end, const Facts& facts,
                                         const std::string& what, const std::string& remedy);
/// The same for options.
[[nodiscard]] base::Status same_options(comm::Communicator& end, const Facts& facts);

/// Ranks that feed the same part of the batch must have the same samples. Collective. Errors:
/// Failed, naming two ranks.
[[nodiscard]] base::Status check_fed_alike(comm::Communicator& end, const Batches& batches,
                                           const mesh::Plan& plan, const mesh::Feeds& feeds);
/// Ranks that hold the same part of a variable must hold the same values after this step.
/// Collective. Errors: Failed, naming two ranks.
[[nodiscard]] base::Status check_copies(mesh::Variables& variables, int64_t step);

}  // namespace goban::train::trainer
