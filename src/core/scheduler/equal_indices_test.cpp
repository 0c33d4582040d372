#include "core/scheduler/equal_indices.hpp"

#include <gtest/gtest.h>
#include <string>

namespace goban::core::scheduler {
namespace {

using Indices = std::vector<uint32_t>;

model::Cluster cluster_of(uint32_t nodes, uint32_t gpus) {
  model::ClusterBuilder builder("test");
  builder.add_gpu_model({.name = "test"});
  for (uint32_t i = 0; i < nodes; ++i) {
    model::ClusterBuilder::Placed placed;
    placed.node.name = "n" + std::to_string(i);
    placed.node.num_gpus = gpus;
    builder.add_node(std::move(placed));
  }
  return builder.build().value();
}

model::FreeGpus free_of(const model::Cluster& cluster, const std::vector<Indices>& by_node) {
  model::FreeGpus free(cluster);
  for (size_t node = 0; node < by_node.size(); ++node) {
    for (const uint32_t index : by_node[node]) {
      free.give(model::GpuId(cluster.nodes()[node].first_gpu + index));
    }
  }
  return free;
}

TEST(EqualIndices, AnySetOfASmallNode) {
  const model::Cluster cluster = cluster_of(3, 4);
  const model::FreeGpus free = free_of(cluster, {{0, 2}, {0, 1, 2}, {1, 2, 3}});
  EXPECT_EQ(first_equal(cluster, free, 2, 2), (Indices{0, 2}));
  EXPECT_EQ(first_equal(cluster, free, 1, 3), (Indices{2}));
  EXPECT_EQ(first_equal(cluster, free, 2, 3), std::nullopt);
  EXPECT_EQ(first_equal(cluster, free, 5, 1), std::nullopt) << "no node has so many";
}

TEST(EqualIndices, ConsecutiveOnesOfALargeNode) {
  const model::Cluster cluster = cluster_of(2, 80);
  const model::FreeGpus free = free_of(cluster, {{1, 5, 63, 64, 65}, {1, 5, 62, 63, 64, 65}});
  EXPECT_EQ(first_equal(cluster, free, 1, 2), (Indices{1}));
  EXPECT_EQ(first_equal(cluster, free, 3, 2), (Indices{63, 64, 65})) << "not 1, 5 and 63";
  EXPECT_EQ(first_equal(cluster, free, 4, 1), (Indices{62, 63, 64, 65}));
  EXPECT_EQ(first_equal(cluster, free, 4, 2), std::nullopt);
}

}  // namespace
}  // namespace goban::core::scheduler
