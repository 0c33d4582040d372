// The settings behind a daemon's decisions, as recorded in its journal, so that a replay with other
// settings can report the differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "base/result.hpp"
#include "live/journal/journal_text.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

/// Policy with its settings, seed, GPUs, and digests of the cluster, the scores, and the files of
/// the configuration. Errors: Failed if a file cannot be read.
[[nodiscard]] base::Result<live::journal::InputFacts> made_with(const ServeConfig& config,
                                                                const live::controller::Site& site);
/// The GPUs that the facts name, as far as decisions depend on them; none if they name none.
[[nodiscard]] std::vector<base::gpus::LocalGpu> recorded_gpus(
    const live::journal::InputFacts& facts);
/// The fast storage tier that the facts name, as far as decisions depend on it.
[[nodiscard]] std::optional<core::model::StorageTier> recorded_tier(
    const live::journal::InputFacts& facts);
/// The rules of staging behind the last of `num_records` records, as far as decisions depend on
/// them; `now` where the facts do not tell.
[[nodiscard]] live::controller::StagingRules recorded_staging(
    const std::vector<live::journal::MadeWith>& made, size_t num_records,
    const live::controller::StagingRules& now);
/// The same, if they differ from `now`.
[[nodiscard]] std::optional<live::controller::StagingRules> other_staging(
    const std::vector<live::journal::MadeWith>& made, size_t num_records,
    const live::controller::StagingRules& now);
/// One line per different fact, such as "policy: fifo+packed then, goban now". Facts that only one
/// side has are omitted.
[[nodiscard]] std::vector<std::string> differences(const live::journal::InputFacts& then,
                                                   const live::journal::InputFacts& now);

}  // namespace goban::serve::daemon
