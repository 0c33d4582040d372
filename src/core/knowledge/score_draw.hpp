// Scores for simulated GPUs, drawn from profiles of real ones (PAL, spec 1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/profile_runs.hpp"

namespace goban::core::knowledge {

/// What of a profiled GPU becomes the score of the simulated one.
enum class ScoreMode : uint8_t {
  Robust,  ///< robust_scores(): our default
  Median,  ///< the median of its runs: PAL's definition
  Run,     ///< one run, drawn: what the artifact simulates
};

/// "robust", "median" or "run". Errors: any other name.
[[nodiscard]] base::Result<ScoreMode> parse_score_mode(std::string_view name);

/// Drawn scores, ready for bin_classes().
struct ScoreDraw {
  std::vector<std::vector<double>> raw_by_class;  ///< [class][simulated GPU]
  /// [class][simulated GPU]: the profiled GPU, as an index into ProfileRuns::uuids.
  std::vector<std::vector<uint32_t>> drawn;
  /// True if a profile had fewer GPUs than were asked for, so that some were drawn more than once.
  bool repeated = false;
};

/// Draws a profiled GPU for each simulated one, without replacement; when a profile is used up,
/// all of its GPUs are in the pool again. `by_class` has one profile a class (Longhorn: A = resnet,
/// B = C = bert, D = pagerank); classes given the same profile share the drawn GPUs, and in mode
/// Run each draws its own run of them. The GPUs drawn depend on the seed and the sizes of the
/// profiles alone, so that modes can be compared.
[[nodiscard]] ScoreDraw draw_scores(uint32_t num_gpus, std::span<const ProfileRuns* const> by_class,
                                    ScoreMode mode, uint64_t seed);

}  // namespace goban::core::knowledge
