#include "live/controller/node_parts.hpp"

#include <algorithm>

namespace goban::live::controller {

std::vector<GpuId> gpus_of(const core::model::Cluster& cluster,
                           const std::vector<NodePart>& parts) {
  std::vector<GpuId> out;
  for (const NodePart& part : parts) {
    const auto id = cluster.find_node(part.node);
    if (!id) continue;
    const core::model::Node& node = cluster.node(*id);
    for (const int32_t index : part.gpus) {
      const auto place = static_cast<uint32_t>(index);
      if (index < 0 || place >= node.num_gpus) continue;
      const GpuId gpu(node.first_gpu + place);
      if (std::ranges::find(out, gpu) == out.end()) out.push_back(gpu);
    }
  }
  return out;
}

core::model::FoundAllocation allocation_of(const core::model::Cluster& cluster,
                                           const std::vector<NodePart>& parts) {
  core::model::FoundAllocation out{.gpus = gpus_of(cluster, parts)};
  for (const NodePart& part : parts) {
    const auto node = cluster.find_node(part.node);
    if (!node) continue;
    // What a node has is unknown if it is 0, so that nothing can be subtracted from it.
    const core::model::HostResources& has = cluster.node(*node).host;
    const core::model::HostResources held{.cores = has.cores > 0 ? part.cores : 0,
                                          .mem_bytes = has.mem_bytes > 0 ? part.mem_bytes : 0};
    if (!held.empty()) out.hosts.push_back({.node = *node, .host = held});
  }
  return out;
}

}  // namespace goban::live::controller
