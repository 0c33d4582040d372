// The entries of PAL's L x V matrix (bin value x locality penalty) in the order PAL tries them:
// for PAL itself, and for explanations of what it chose from (spec pal, 5).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {

struct Part;

struct PalOptions {
  /// As the paper and its artifact: only "within a node" and "across nodes", locality ignored for
  /// jobs larger than a node. Otherwise every topology level takes part.
  bool two_levels = false;
};
/// The options of a placement part that is PAL; none: it is another.
[[nodiscard]] std::optional<PalOptions> pal_options(const Part& placement);

/// Walks the matrix in ascending product; ties keep bins in order of appearance by GPU id, and
/// inner levels before outer ones. Each level's row ascends with its bins, so this is a merge.
class PalTraversal {
 public:
  struct Entry {
    size_t bin = 0;
    size_t level = 0;
    double product = 0;
  };

  /// The vectors are one entry a row of the matrix, and outlive the traversal like the scores.
  PalTraversal(const knowledge::ClassScores& scores, const std::vector<size_t>& levels,
               const std::vector<double>& penalties)
      : scores_(scores), levels_(levels), penalties_(penalties), next_bin_(levels.size(), 0) {}

  bool next(Entry& entry);

 private:
  [[nodiscard]] bool appears_before(size_t a, size_t b) const;

  const knowledge::ClassScores& scores_;
  const std::vector<size_t>& levels_;
  const std::vector<double>& penalties_;
  std::vector<size_t> next_bin_;
};

/// Topology levels that are rows of the matrix for such a request.
[[nodiscard]] std::vector<size_t> pal_levels(const model::Cluster& cluster, bool one_node,
                                             PalOptions options);

/// One entry as it stood when a job was placed.
struct PalEntry {
  size_t level = 0;
  double bin_value = 1;   ///< largest binned PM score allowed
  double penalty = 1;     ///< of the level, for this job
  double product = 1;     ///< what it would have cost: the job runs at most so many times slower
  int32_t free_gpus = 0;  ///< most free GPUs of these bins in one domain of the level
  [[nodiscard]] bool serves(int32_t wanted) const { return free_gpus >= wanted; }
};

/// All entries in the order PAL tries them. Works for every view that has bins. Cost: levels x bins
/// x log(GPUs).
[[nodiscard]] std::vector<PalEntry> pal_entries(const PlacementView& view,
                                                const PlacementRequest& request,
                                                PalOptions options);

}  // namespace goban::core::policy
