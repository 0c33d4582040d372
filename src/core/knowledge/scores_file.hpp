// Score tables: one row a GPU, its raw PM score and its bin for each application class.
// Columns: GPU_ID, PerfVar_classA, PerfVar_classB, ..., and if it is binned bin_classA, ...; others
// are ignored. What the artifact's simulator reads (PAL, spec 1 and 3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/pm_scores.hpp"

namespace goban::core::knowledge {

/// Scores that a table may hold: a GPU a million times slower or faster than the median one is a
/// mistake. Bin values are ratios of scores and may reach further.
inline constexpr double kScoreMin = 1e-6;
inline constexpr double kScoreMax = 1e6;

/// Reads a table. Bins are taken as they stand in `bin_*` columns; a class without one is binned by
/// `binning`. `num_gpus`: those of the cluster it is for; not given, the table says how many.
/// Errors (BadData): no class A or a gap in the classes, a score that is not in [kScoreMin,
/// kScoreMax], a GPU id that is missing, out of range or there twice, more than 255 bins in a
/// class.
[[nodiscard]] base::Result<PmScores> parse_scores(std::string_view text, const std::string& file,
                                                  std::optional<uint32_t> num_gpus,
                                                  const BinningOptions& binning = {});

/// The table of these scores, with bins; reads back equal.
[[nodiscard]] std::string to_csv(const PmScores& scores);

}  // namespace goban::core::knowledge
