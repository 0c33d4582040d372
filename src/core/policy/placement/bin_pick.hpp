// The GPU choice common to PM-First and PAL: best bins first, tightest groups first.
#pragma once

#include <cstdint>
#include <vector>

#include "core/knowledge/bin_counts.hpp"
#include "core/model/free_gpus.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {

/// Nodes [first, end) that a choice may use.
struct NodeRange {
  uint32_t first = 0;
  uint32_t end = 0;
};

/// PM-First (PAL: PM-First and PAL placement, docs/papers.md): sorts free GPUs of bins 0..bin_max
/// on `nodes` by (bin, |c - count|, id), where c is the number of free GPUs in the same bin and
/// node, and appends the first `count`. There must be that many. The cost depends on the GPUs and
/// nodes taken, not on the size of the cluster.
void pick_pm_first(const knowledge::BinCounts& counts, const model::FreeGpus& free, uint32_t count,
                   size_t bin_max, NodeRange nodes, std::vector<model::GpuId>& out);

/// Appends the `count` lowest free GPU ids of bins 0..bin_max in [first_gpu, end_gpu).
void pick_lowest(const knowledge::BinCounts& counts, const model::FreeGpus& free, uint32_t count,
                 size_t bin_max, uint32_t first_gpu, uint32_t end_gpu,
                 std::vector<model::GpuId>& out);

/// The placement PM-First, as Placement::place. PAL uses it for single GPUs and, in the paper, for
/// jobs larger than a node.
[[nodiscard]] bool place_pm_first(const PlacementView& view, const PlacementRequest& request,
                                  model::Allocation& out);

}  // namespace goban::core::policy
