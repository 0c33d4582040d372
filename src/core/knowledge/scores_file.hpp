// Score tables: one row per GPU with its raw PM score and bin for each application class. Columns:
// GPU_ID, PerfVar_classA, PerfVar_classB, ..., optionally bin_classA, ...; others are ignored. The
// format is that of the artifact's simulator (PAL: PM scores; binning. docs/papers.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/pm_scores.hpp"

namespace goban::core::knowledge {

/// Range of scores in a table. Bin values are ratios of scores and may exceed it.
inline constexpr double kScoreMin = 1e-6;
inline constexpr double kScoreMax = 1e6;

/// Reads a table. Values of `bin_*` columns are used unchanged; a class without one is binned with
/// `binning`. `num_gpus`: GPUs of the cluster; unset: as in the table. Errors (BadData): no
/// class A or a gap in the classes, a score outside [kScoreMin, kScoreMax], a GPU id that is
/// missing, out of range or a duplicate, more than 255 bins in a class.
[[nodiscard]] base::Result<PmScores> parse_scores(std::string_view text, const std::string& file,
                                                  std::optional<uint32_t> num_gpus,
                                                  const BinningOptions& binning = {});

/// The table of these scores, with bins; parse_scores returns equal scores.
[[nodiscard]] std::string to_csv(const PmScores& scores);

}  // namespace goban::core::knowledge
