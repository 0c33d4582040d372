// For tests: a small site whose GPUs are all alike.
#pragma once

#include <fmt/format.h>
#include <string_view>

#include "live/controller/controller.hpp"

namespace goban::live {

/// Nodes n0, n1, ... with so many GPUs each; all scores are 1. `between_nodes` is the locality
/// penalty.
inline Site test_site(int nodes, int gpus_each, std::string_view policy, double between_nodes = 1) {
  model::ClusterBuilder builder("test");
  const uint32_t gpu = builder.add_gpu_model({.name = "test", .mem_bytes = int64_t{16} << 30});
  for (int i = 0; i < nodes; ++i) {
    model::ClusterBuilder::Placed placed;
    placed.node.name = fmt::format("n{}", i);
    placed.node.num_gpus = static_cast<decltype(placed.node.num_gpus)>(gpus_each);
    placed.node.gpu_model = gpu;
    builder.add_node(placed);
  }
  Site site;
  site.cluster = *builder.build();
  site.scores = profile::PmScores::uniform(site.cluster.num_gpus());
  site.penalties = profile::LocalityPenalties(site.cluster, between_nodes);
  site.composition = *policy::compose(std::string(policy));
  return site;
}

}  // namespace goban::live
