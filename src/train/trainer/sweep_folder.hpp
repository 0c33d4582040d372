// A sweep's folder holds runs of the same options and data.
#pragma once

#include "base/result.hpp"
#include "train/trainer/same_on_ranks.hpp"
#include "train/trainer/sweep.hpp"

namespace goban::train::trainer {

/// Writes the settings of the sweep to a new folder, or compares them with those there. `of_data`:
/// as of facts_of(Batches). Errors: Usage, with the first setting that differs; Failed.
[[nodiscard]] base::Status claim_folder(const SweepOptions& options, const Facts& of_data);

}  // namespace goban::train::trainer
