// Binning of PM scores: GPUs of similar speed share a bin (PAL: binning, docs/papers.md). K1 is
// chosen by the silhouette without outliers; all GPUs are then clustered into K1 + outliers bins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/pm_scores.hpp"

namespace goban::core::knowledge {

/// How K1, the number of bins without outliers, is chosen.
enum class K1Rule : uint8_t {
  Silhouette,  ///< the K in 2..10 with the highest silhouette, the lowest such K on a tie
  Artifact,    ///< always 2, as in the artifact's code, whose search returns too early
};

/// "silhouette" or "artifact". Errors: any other name.
[[nodiscard]] base::Result<K1Rule> parse_k1_rule(std::string_view name);

struct BinningOptions {
  K1Rule k1_rule = K1Rule::Silhouette;
  /// Number of bins over all GPUs, instead of the rule and the outliers: for studies of the
  /// trade-off between the cost and the quality of a decision.
  std::optional<uint32_t> fixed_k;
};

/// Bins of one class, and how they were chosen.
struct Binning {
  /// Maximum number of bins: ClassScores stores the bin of a GPU in one byte.
  static constexpr size_t kBinsMax = 255;

  ClassScores scores;
  uint32_t k1 = 0;              ///< 0 with fixed_k
  std::vector<GpuId> outliers;  ///< GPUs above mean + 3 sample standard deviations
  double silhouette = 0;  ///< of the K1 clusters without outliers; 0 unless the rule is Silhouette
  double inertia = 0;     ///< of the final clustering, over all GPUs
};

/// Bins the raw scores of one class by GPU id. The value of a bin is its centroid / the median of
/// the centroids. Fewer distinct scores than bins give fewer bins. Bins preserve the order of the
/// scores. At least one score; scores are finite, above 0 and below 1e100.
[[nodiscard]] Binning bin_scores(std::vector<double> raw, const BinningOptions& options = {});

/// Bins every class of `raw_by_class` (at least one, all of equal size).
[[nodiscard]] PmScores bin_classes(std::vector<std::vector<double>> raw_by_class,
                                   const BinningOptions& options = {});

}  // namespace goban::core::knowledge
