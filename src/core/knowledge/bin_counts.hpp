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
/// no GPU is free. What is given and taken is counted when somebody asks: until a job of this class
/// is placed, GPUs often change hands and are as before.
class BinCounts {
 public:
  BinCounts(const model::Cluster& cluster, const ClassScores& scores);

  void give(GpuId gpu) { note(gpu, true); }
  void take(GpuId gpu) { note(gpu, false); }

  [[nodiscard]] size_t num_bins() const { return counts_.exact.size(); }
  /// Nodes by their number of free GPUs in exactly this bin.
  [[nodiscard]] const model::CountBuckets& in_bin(size_t bin) const {
    settle();
    return counts_.exact[bin];
  }
  /// Free GPUs of bins 0..bin in the whole cluster.
  [[nodiscard]] int32_t eligible_total(size_t bin) const {
    settle();
    return counts_.totals[bin];
  }
  /// Free GPUs of bins 0..bin on a node.
  [[nodiscard]] uint32_t eligible_on_node(size_t bin, uint32_t node) const {
    settle();
    const size_t inner = cluster_->node_level() + 1;
    return counts_.inner[bin * inner + inner - 1].count(node);
  }
  /// Lowest domain of `level` among those with the most free GPUs of bins 0..bin, if these are at
  /// least `least`; otherwise DomainSet::kNone.
  [[nodiscard]] uint32_t fullest_domain(size_t bin, size_t level, int32_t least) const;

  [[nodiscard]] const ClassScores& scores() const { return *scores_; }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }

 private:
  /// What is known of a GPU.
  struct GpuNote {
    bool is_free = false;
    bool is_counted = false;  ///< as free
    bool is_noted = false;    ///< it is in noted_
  };
  struct Counts {
    std::vector<model::CountBuckets> exact;  ///< [bin] over nodes
    /// [bin * (node level + 1) + level]: free GPUs of bins 0..bin by domain, inside nodes.
    std::vector<model::CountBuckets> inner;
    /// [bin * outer levels + ...][domain]: the same above the node, below the whole cluster.
    std::vector<std::vector<int32_t>> outer;
    std::vector<int32_t> totals;  ///< [bin]
  };

  void note(GpuId gpu, bool is_free) {
    GpuNote& each = gpus_[gpu.index()];
    each.is_free = is_free;
    if (each.is_noted) return;
    each.is_noted = true;
    noted_.push_back(gpu);
  }
  void settle() const {
    if (!noted_.empty()) count_noted();
  }
  void count_noted() const;
  void change(GpuId gpu, int step) const;

  const model::Cluster* cluster_;
  const ClassScores* scores_;
  // Behind in what noted_ holds, until settle().
  mutable Counts counts_;
  mutable std::vector<GpuNote> gpus_;
  mutable std::vector<GpuId> noted_;
};

}  // namespace goban::core::knowledge
