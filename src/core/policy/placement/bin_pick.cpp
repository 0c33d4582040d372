#include "core/policy/placement/bin_pick.hpp"

#include <algorithm>

namespace goban::core::policy {

using model::CountBuckets;
using model::DomainSet;
using model::GpuId;
using model::NodeId;

namespace {

/// Appends up to `missing` free GPUs of exactly `bin` on one node, lowest ids first.
void take_from_node(const knowledge::BinCounts& counts, const model::FreeGpus& free, size_t bin,
                    uint32_t node_index, uint32_t& missing, std::vector<GpuId>& out) {
  const model::Node& node = counts.cluster().node(NodeId(node_index));
  for (uint32_t gpu = free.first_from(node.first_gpu); gpu < node.end_gpu() && missing > 0;
       gpu = free.first_from(gpu + 1)) {
    if (counts.scores().bin[gpu] != bin) continue;
    out.emplace_back(gpu);
    --missing;
  }
}

}  // namespace

void pick_pm_first(const knowledge::BinCounts& counts, const model::FreeGpus& free, uint32_t count,
                   size_t bin_max, NodeRange nodes, std::vector<GpuId>& out) {
  uint32_t missing = count;
  for (size_t bin = 0; bin <= bin_max && missing > 0; ++bin) {
    const CountBuckets& by_count = counts.in_bin(bin);
    const uint32_t largest = by_count.count_max();
    const uint32_t distance_max = std::max(count, largest);
    // Groups at distance d have count - d or count + d members; the two are merged by node id.
    for (uint32_t distance = count > largest ? count - largest : 0;
         distance < distance_max && missing > 0; ++distance) {
      const uint32_t low = count > distance ? count - distance : 0;
      const uint32_t high = count + distance;
      const bool has_low = low > 0 && low <= largest;
      const bool has_high = distance > 0 && high <= largest;
      const auto next = [&](bool present, uint32_t size, uint32_t from) {
        const uint32_t node = present ? by_count.with(size).first_from(from) : DomainSet::kNone;
        return node < nodes.end ? node : DomainSet::kNone;
      };
      uint32_t low_node = next(has_low, low, nodes.first);
      uint32_t high_node = next(has_high, high, nodes.first);
      while (missing > 0 && std::min(low_node, high_node) != DomainSet::kNone) {
        const uint32_t node = std::min(low_node, high_node);
        take_from_node(counts, free, bin, node, missing, out);
        if (node == low_node) {
          low_node = next(true, low, node + 1);
        } else {
          high_node = next(true, high, node + 1);
        }
      }
    }
  }
}

void pick_lowest(const knowledge::BinCounts& counts, const model::FreeGpus& free, uint32_t count,
                 size_t bin_max, uint32_t first_gpu, uint32_t end_gpu, std::vector<GpuId>& out) {
  uint32_t missing = count;
  for (uint32_t gpu = free.first_from(first_gpu); gpu < end_gpu && missing > 0;
       gpu = free.first_from(gpu + 1)) {
    if (counts.scores().bin[gpu] > bin_max) continue;
    out.emplace_back(gpu);
    --missing;
  }
}

}  // namespace goban::core::policy
