// Scores for simulated GPUs, drawn from profiles of real ones (PAL: PM scores, docs/papers.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/profile_runs.hpp"

namespace goban::core::knowledge {

/// How the score of a simulated GPU is computed from the profiled one.
enum class ScoreMode : uint8_t {
  Robust,  ///< robust_scores(): our default
  Median,  ///< the median of its runs: PAL's definition
  Run,     ///< one run, drawn at random: as in the artifact's simulation
};

/// "robust", "median" or "run". Errors: any other name.
[[nodiscard]] base::Result<ScoreMode> parse_score_mode(std::string_view name);

/// Drawn scores, ready for bin_classes().
struct ScoreDraw {
  std::vector<std::vector<double>> raw_by_class;  ///< [class][simulated GPU]
  /// [class][simulated GPU]: the profiled GPU, as an index into ProfileRuns::uuids.
  std::vector<std::vector<uint32_t>> drawn;
  /// A profile has fewer GPUs than requested, so some were drawn more than once.
  bool repeated = false;
};

/// Draws a profiled GPU for each simulated one, without replacement; when all GPUs of a profile are
/// drawn, drawing starts again with all of them. `by_class` has one profile per class (Longhorn: A
/// = resnet, B = C = bert, D = pagerank). Classes with the same profile share the drawn GPUs; in
/// mode Run each class draws its own run of them. The drawn GPUs depend only on the seed and the
/// sizes of the profiles, so that modes can be compared.
[[nodiscard]] ScoreDraw draw_scores(uint32_t num_gpus, std::span<const ProfileRuns* const> by_class,
                                    ScoreMode mode, uint64_t seed);

}  // namespace goban::core::knowledge
