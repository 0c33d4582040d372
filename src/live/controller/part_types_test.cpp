#include "live/controller/part_types.hpp"

#include <gmock/gmock.h>
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
  EXPECT_TRUE(check_parts(request_for(4, 2), cluster, false)) << "each on a node of its own";
  EXPECT_FALSE(check_parts(request_for(4, 4), cluster, false)) << "there are three";
  EXPECT_FALSE(check_parts(request_for(0), cluster, false));
  const auto id = part_type_of(request_for(6, 2), cluster);
  EXPECT_EQ(cluster.resource_type(id).gpus, 3);
}

TEST(PartTypes, AJobThatMayShareItsOneGpuNamesNone) {
  const auto cluster = cluster_from({4, 2, 4});
  job::JobSpec spec = request_for(1);
  EXPECT_TRUE(requested_part_type(spec, cluster).valid());
  spec.training.sharing = core::model::SharingRequest::Yes;
  EXPECT_FALSE(requested_part_type(spec, cluster).valid()) << "else it would never share";
  EXPECT_TRUE(check_parts(spec, cluster, false));
  spec.num_gpus = 2;
  EXPECT_TRUE(requested_part_type(spec, cluster).valid()) << "both are on one node";
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
  EXPECT_EQ(before.resource_types().size(), 4U) << "each also with equal indices";
  EXPECT_EQ(larger.resource_types().size(), 16U);
  EXPECT_EQ(smaller.resource_types().size(), 16U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(larger.resource_types()[i].name, before.resource_types()[i].name);
  }
  EXPECT_FALSE(check_parts(request_for(8), smaller, false)) << "no node has them any more";
}

TEST(PartTypes, APartIsOnANodeOfItsPartitionAndModel) {
  const std::vector<SeenNode> nodes = {
      {.name = "n0", .num_gpus = 4, .gpu_model = "a100", .partitions = {"gpu"}},
      {.name = "n1", .num_gpus = 4, .gpu_model = "a100", .partitions = {"gpu", "short"}},
      {.name = "n2", .num_gpus = 2, .gpu_model = "v100", .partitions = {"short"}}};
  const core::model::Cluster cluster = cluster_of(nodes, {}, {}).value();
  const auto nodes_of = [&](const std::string& partition, const std::string& model) {
    job::JobSpec spec = request_for(2);
    spec.partition = partition;
    spec.gpu_model = model;
    return cluster.resource_type(part_type_of(spec, cluster)).nodes;
  };
  using Nodes = std::vector<bool>;
  EXPECT_EQ(nodes_of("gpu", ""), (Nodes{true, true, false}));
  EXPECT_EQ(nodes_of("short", ""), (Nodes{false, true, true}));
  EXPECT_EQ(nodes_of("short", "v100"), (Nodes{false, false, true}));
  EXPECT_EQ(nodes_of("", "a100"), (Nodes{true, true, false}));
  EXPECT_EQ(nodes_of("other", "h100"), Nodes{}) << "not known here";
  job::JobSpec wide = request_for(8, 2);
  wide.partition = "short";
  EXPECT_EQ(check_parts(wide, cluster, false).error().message,
            "it needs 2 nodes with 4 GPUs in partition short; there is 1");
  wide.num_gpus = 2;
  wide.gpu_model = "v100";
  EXPECT_EQ(check_parts(wide, cluster, false).error().message,
            "it needs 2 nodes with 1 GPU of type v100 in partition short; there is 1");
}

TEST(PartTypes, APartHasTheIndicesThatItsPartitionEndsWith) {
  const std::vector<SeenNode> nodes = {
      {.name = "n0", .num_gpus = 4, .partitions = {"gpu", "gpu at 1,3"}},
      {.name = "n1", .num_gpus = 4, .partitions = {"gpu", "gpu at 1,3"}}};
  const core::model::Cluster cluster = cluster_of(nodes, {}, {}).value();
  job::JobSpec spec = request_for(2);
  spec.partition = "gpu at 1,3";
  EXPECT_THAT(cluster.resource_type(part_type_of(spec, cluster)).indices,
              testing::ElementsAre(1U, 3U))
      << "though all nodes have the partition";
  spec.partition = "gpu";
  EXPECT_TRUE(cluster.resource_type(part_type_of(spec, cluster)).indices.empty());
  for (const core::model::ResourceType& type : cluster.resource_types()) {
    EXPECT_TRUE(type.indices.empty() || type.gpus == 2) << type.name;
  }
}

TEST(PartTypes, PartsThatShareNodesAreOnThoseOfTheirPartition) {
  const std::vector<SeenNode> nodes = {{.name = "n0", .num_gpus = 2, .partitions = {"ml/big"}},
                                       {.name = "n1", .num_gpus = 2, .partitions = {""}}};
  const auto types = part_types({}, nodes, true);
  ASSERT_EQ(types.size(), 4U) << "with one and two GPUs, anywhere and there";
  EXPECT_EQ(types[3].name, "GPUs of one node: 2|ml/big||");
  EXPECT_EQ(types[3].nodes, (std::vector<bool>{true, false}));
  EXPECT_FALSE(types[3].apart);
  const std::vector<SeenNode> plain = {{.name = "n0", .num_gpus = 2}, {.name = "n1"}};
  EXPECT_EQ(part_types({}, plain, true).size(), 2U);
}

TEST(PartTypes, KindsAreReadFromTheirNames) {
  for (const PartKind& kind :
       {PartKind{.gpus = 4}, PartKind{.gpus = 1, .equal = true},
        PartKind{.gpus = 8, .partition = "short", .model = "a100", .equal = true},
        PartKind{.gpus = 255, .model = "a100"}}) {
    EXPECT_EQ(part_kind(part_type_name(kind)), kind) << part_type_name(kind);
  }
  for (const char* other : {"rt_F", "GPUs of one node: ", "GPUs of one node: 0",
                            "GPUs of one node: 256", "GPUs of one node: 4|a|b"}) {
    EXPECT_FALSE(part_kind(other)) << other;
  }
}

}  // namespace
}  // namespace goban::live::controller
