#include "live/controller/part_types.hpp"

#include <gtest/gtest.h>

#include "live/controller/clusters.hpp"

namespace goban::live::controller {
namespace {

core::model::Cluster cluster_from(const std::vector<int32_t>& gpus,
                                  const core::model::Cluster& like = {}) {
  std::vector<SeenNode> nodes;
  for (size_t i = 0; i < gpus.size(); ++i) {
    SeenNode& node = nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.num_gpus = gpus[i];
  }
  return cluster_of(nodes, like, like.gpu_models()).value();
}

job::JobSpec request_for(int32_t gpus, int32_t nodes = 1) {
  job::JobSpec spec;
  spec.num_gpus = gpus;
  spec.instances = nodes;
  return spec;
}

TEST(PartTypes, APartIsOnOneNode) {
  const auto cluster = cluster_from({4, 2, 4});
  EXPECT_TRUE(check_parts(request_for(4), cluster, false));
  EXPECT_TRUE(check_parts(request_for(8, 2), cluster, false));
  EXPECT_EQ(check_parts(request_for(12, 3), cluster, false).error().message,
            "it needs 3 nodes with 4 GPUs; there are 2");
  EXPECT_FALSE(check_parts(request_for(5), cluster, false)) << "no node has so many";
  EXPECT_FALSE(check_parts(request_for(5, 2), cluster, false)) << "not equal";
  EXPECT_FALSE(check_parts(request_for(4, 2), cluster, false)) << "both would fit on one node";
  EXPECT_FALSE(check_parts(request_for(0), cluster, false));
  const auto id = part_type_of(request_for(6, 2), cluster);
  EXPECT_EQ(cluster.resource_type(id).gpus, 3);
}

TEST(PartTypes, PartsThatShareNodesNeedRoomAlone) {
  const auto cluster = cluster_from({4, 2, 4});
  EXPECT_TRUE(check_parts(request_for(10, 10), cluster, true));
  EXPECT_TRUE(check_parts(request_for(10, 5), cluster, true));
  EXPECT_EQ(check_parts(request_for(12, 4), cluster, true).error().message,
            "it needs 4 pods with 3 GPUs; the cluster has room for 2");
}

/// Running jobs refer to kinds by their numbers.
TEST(PartTypes, KeepTheirNumbersWhenNodesChange) {
  const auto before = cluster_from({2});
  const auto larger = cluster_from({8, 2}, before);
  const auto smaller = cluster_from({2}, larger);
  EXPECT_EQ(before.resource_types().size(), 2U);
  EXPECT_EQ(larger.resource_types().size(), 8U);
  EXPECT_EQ(smaller.resource_types().size(), 8U);
  EXPECT_EQ(larger.resource_types()[1].name, before.resource_types()[1].name);
  EXPECT_FALSE(check_parts(request_for(8), smaller, false)) << "no node has them any more";
}

}  // namespace
}  // namespace goban::live::controller
