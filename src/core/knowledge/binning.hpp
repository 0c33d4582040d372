// Binning of PM scores: GPUs of about equal speed share a bin (PAL, spec 3). Outliers are counted,
// the silhouette of the rest chooses K1, and all GPUs are clustered into K1 + outliers bins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/pm_scores.hpp"

namespace goban::core::knowledge {

/// How K1, the number of bins for the GPUs that are no outliers, is chosen.
enum class K1Rule : uint8_t {
  Silhouette,  ///< the K in 2..10 with the highest silhouette, the lowest such K on a tie
  Artifact,    ///< always 2: what the artifact's code does, because its search returns too early
};

/// "silhouette" or "artifact". Errors: any other name.
[[nodiscard]] base::Result<K1Rule> parse_k1_rule(std::string_view name);

struct BinningOptions {
  K1Rule k1_rule = K1Rule::Silhouette;
  /// This many bins over all GPUs, whatever the rule and the outliers say: for studies of how the
  /// number of bins trades the cost of a decision against its quality.
  std::optional<uint32_t> fixed_k;
};

/// Bins of one class, and how they came about.
struct Binning {
  /// Largest number of bins: ClassScores counts them in one byte.
  static constexpr size_t kBinsMax = 255;

  ClassScores scores;
  uint32_t k1 = 0;              ///< 0 with fixed_k
  std::vector<GpuId> outliers;  ///< GPUs above mean + 3 sample standard deviations
  double silhouette = 0;        ///< of the K1 clusters of the others; 0 unless it chose K1
  double inertia = 0;           ///< of the final clustering, over all GPUs
};

/// Bins the raw scores of one class by GPU id. A GPU's bin value = centroid of its cluster / median
/// of the centroids. Fewer distinct scores than bins give fewer bins; bins never order two GPUs
/// otherwise than their scores do. Scores are finite, above 0 and below 1e100, at least one.
[[nodiscard]] Binning bin_scores(std::vector<double> raw, const BinningOptions& options = {});

/// Bins every class of `raw_by_class` (at least one, all of equal size).
[[nodiscard]] PmScores bin_classes(std::vector<std::vector<double>> raw_by_class,
                                   const BinningOptions& options = {});

}  // namespace goban::core::knowledge
