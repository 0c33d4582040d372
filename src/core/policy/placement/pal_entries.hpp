// The entries of PAL's L x V matrix (bin value x locality penalty) in the order in which PAL tries
// them (PAL: PM-First and PAL placement, docs/papers.md), for the placement and for explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {

struct Part;

struct PalOptions {
  /// As in the paper and its artifact: only "within a node" and "across nodes", locality ignored
  /// for jobs larger than a node. Otherwise every topology level is a row.
  bool two_levels = false;
};
/// The options of the placement part if it is PAL.
[[nodiscard]] std::optional<PalOptions> pal_options(const Part& placement);

/// Visits the matrix by ascending product. Ties: bins in order of appearance by GPU id, inner
/// levels before outer ones. Each row ascends with its bins, so this is a merge.
class PalTraversal {
 public:
  struct Entry {
    size_t bin = 0;
    size_t level = 0;
    double product = 0;
  };

  /// The vectors have one entry per row of the matrix. Vectors and scores must outlive the
  /// traversal.
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

/// Topology levels that are rows of the matrix for a request.
[[nodiscard]] std::vector<size_t> pal_levels(const model::Cluster& cluster, bool one_node,
                                             PalOptions options);

/// One entry at the time when a job was placed.
struct PalEntry {
  size_t level = 0;
  double bin_value = 1;   ///< largest binned PM score allowed
  double penalty = 1;     ///< of the level, for the job
  double product = 1;     ///< upper bound of the job's slowdown there
  int32_t free_gpus = 0;  ///< largest number of free GPUs of these bins in one domain of the level
  [[nodiscard]] bool serves(int32_t wanted) const { return free_gpus >= wanted; }
};

/// All entries in the order in which PAL tries them, for any view with bins. Cost: levels x bins x
/// log(GPUs).
[[nodiscard]] std::vector<PalEntry> pal_entries(const PlacementView& view,
                                                const PlacementRequest& request,
                                                PalOptions options);

}  // namespace goban::core::policy
