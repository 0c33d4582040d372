// Free GPUs of one application class, counted by bin and topology domain: the index of PM-First and
// PAL (PAL: PM-First and PAL placement, docs/papers.md). With counts, the cost of a placement does
// not depend on the size of the cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "core/knowledge/pm_scores.hpp"
#include "core/model/cluster.hpp"
#include "core/model/count_buckets.hpp"

namespace goban::core::knowledge {

/// For one class: free GPUs per (bin, node), and per (bin <= v, domain of every level). Initially
/// no GPU is free.
class BinCounts {
 public:
  BinCounts(const model::Cluster& cluster, const ClassScores& scores);

  void give(GpuId gpu) { change(gpu, +1); }
  void take(GpuId gpu) { change(gpu, -1); }

  [[nodiscard]] size_t num_bins() const { return exact_.size(); }
  /// Nodes by their number of free GPUs in exactly this bin.
  [[nodiscard]] const model::CountBuckets& in_bin(size_t bin) const { return exact_[bin]; }
  /// Free GPUs of bins 0..bin in the whole cluster.
  [[nodiscard]] int32_t eligible_total(size_t bin) const { return totals_[bin]; }
  /// Free GPUs of bins 0..bin on a node.
  [[nodiscard]] uint32_t eligible_on_node(size_t bin, uint32_t node) const {
    const size_t inner = cluster_->node_level() + 1;
    return eligible_inner_[bin * inner + inner - 1].count(node);
  }
  /// Lowest domain of `level` among those with the most free GPUs of bins 0..bin, if these are at
  /// least `least`; otherwise DomainSet::kNone.
  [[nodiscard]] uint32_t fullest_domain(size_t bin, size_t level, int32_t least) const;

  [[nodiscard]] const ClassScores& scores() const { return *scores_; }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }

 private:
  void change(GpuId gpu, int step);

  const model::Cluster* cluster_;
  const ClassScores* scores_;
  std::vector<model::CountBuckets> exact_;  ///< [bin] over nodes
  /// [bin * (node level + 1) + level]: free GPUs of bins 0..bin by domain, inside nodes.
  std::vector<model::CountBuckets> eligible_inner_;
  /// [bin * outer levels + ...][domain]: the same above the node, below the whole cluster.
  std::vector<std::vector<int32_t>> eligible_outer_;
  std::vector<int32_t> totals_;  ///< [bin]
};

}  // namespace goban::core::knowledge
