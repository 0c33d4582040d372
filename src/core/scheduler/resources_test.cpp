// Host resources, instances and closed nodes.
#include "core/scheduler/resources.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <rapidcheck.h>
#include <set>

#include "base/random.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::scheduler {
namespace {

using model::GpuId;
using model::NodeId;

/// A part of ABCI and its resources.
struct Site {
  Site()
      : cluster(model::make_preset("abci").value()),
        scores(knowledge::PmScores::uniform(cluster.num_gpus())),
        penalties(cluster, 1.0),
        placement(policy::test_part("packed").placement),
        resources({&cluster, &scores, &penalties}, *placement) {}

  [[nodiscard]] JobRequest job(const char* type, int32_t instances = 1) const {
    JobRequest request;
    request.resource_type = cluster.find_resource_type(type);
    request.instances = instances;
    request.num_gpus = cluster.resource_type(request.resource_type).gpus * instances;
    return request;
  }
  [[nodiscard]] Allocation find(const JobRequest& request) {
    Allocation out;
    (void)resources.find(request, {}, 1, out);
    return out;
  }

  model::Cluster cluster;
  knowledge::PmScores scores;
  knowledge::LocalityPenalties penalties;
  std::unique_ptr<policy::Placement> placement;
  Resources resources;
};

TEST(Resources, CpuJobsLeaveNoRoomForTheCoresOfGpuJobs) {
  Site site;
  // Two C.large take all 40 cores of a node whose GPUs stay free.
  const JobRequest cpu = site.job("C.large");
  const Allocation first = site.find(cpu);
  ASSERT_EQ(first.hosts.size(), 1u);
  site.resources.take(cpu, first);
  const Allocation second = site.find(cpu);
  EXPECT_EQ(second.hosts, first.hosts);
  site.resources.take(cpu, second);
  const Allocation gpu = site.find(site.job("G.small"));
  ASSERT_EQ(gpu.hosts.size(), 1u);
  EXPECT_NE(gpu.hosts, first.hosts);
  site.resources.give(cpu, first);
  EXPECT_EQ(site.find(site.job("G.small")).hosts, first.hosts);
}

TEST(Resources, ClosedNodesComeBackWithTheirGpus) {
  Site site;
  const int32_t all = site.resources.free_gpus();
  JobRequest job;
  job.num_gpus = 2;
  const Allocation held = site.find(job);
  site.resources.take(job, held);
  site.resources.close(NodeId(0u));
  EXPECT_EQ(site.resources.free_gpus(), all - 4);
  site.resources.give(job, held);  // its node is closed: its GPUs do not become free
  EXPECT_EQ(site.resources.free_gpus(), all - 4);
  site.resources.open(NodeId(0u));
  EXPECT_EQ(site.resources.free_gpus(), all);
}

/// Nodes of four GPUs with one resource type, and its resources.
struct PartSite {
  explicit PartSite(const model::ResourceType& type, size_t nodes = 3)
      : cluster([&] {
          model::ClusterBuilder builder("parts");
          builder.add_gpu_model({.name = "test"});
          builder.add_resource_type(type);
          for (size_t i = 0; i < nodes; ++i) {
            model::ClusterBuilder::Placed placed;
            placed.node.name = "n" + std::to_string(i);
            placed.node.num_gpus = 4;
            builder.add_node(std::move(placed));
          }
          return builder.build().value();
        }()),
        scores(knowledge::PmScores::uniform(cluster.num_gpus())),
        penalties(cluster, 1.0),
        placement(policy::test_part("packed").placement),
        resources({&cluster, &scores, &penalties}, *placement) {}

  [[nodiscard]] JobRequest job(int32_t instances) const {
    JobRequest request;
    request.resource_type = model::ResourceTypeId(0U);
    request.instances = instances;
    request.num_gpus = cluster.resource_types()[0].gpus * instances;
    return request;
  }
  [[nodiscard]] Allocation find(int32_t instances) {
    Allocation out;
    (void)resources.find(job(instances), {}, 1, out);
    return out;
  }
  /// Somebody else has these GPUs.
  void lose(const std::vector<uint32_t>& gpus) {
    model::FoundAllocation found;
    for (const uint32_t gpu : gpus) found.gpus.emplace_back(gpu);
    resources.take_found(found);
  }

  model::Cluster cluster;
  knowledge::PmScores scores;
  knowledge::LocalityPenalties penalties;
  std::unique_ptr<policy::Placement> placement;
  Resources resources;
};

TEST(Resources, PartsOfAJobLieApart) {
  PartSite together({.name = "part", .gpus = 1, .host = {}});
  EXPECT_THAT(together.find(3).hosts, testing::Each(NodeId(0U)));
  PartSite apart({.name = "part", .gpus = 1, .host = {}, .apart = true});
  EXPECT_THAT(apart.find(3).hosts,
              testing::UnorderedElementsAre(NodeId(0U), NodeId(1U), NodeId(2U)));
  EXPECT_TRUE(apart.find(4).gpus.empty()) << "there are three nodes";
  Allocation twice = apart.find(2);
  EXPECT_TRUE(apart.resources.can_take(apart.job(2), twice));
  twice.hosts[1] = twice.hosts[0];
  EXPECT_FALSE(apart.resources.can_take(apart.job(2), twice));
}

TEST(Resources, PartsLieOnNodesOfTheirTypeOnly) {
  PartSite site(
      {.name = "part", .gpus = 2, .host = {}, .nodes = {false, true, false}, .apart = true});
  EXPECT_THAT(site.find(1).hosts, testing::ElementsAre(NodeId(1U)));
  EXPECT_TRUE(site.find(2).gpus.empty());
  site.resources.drain(NodeId(0U), base::kSecond);  // other code is used with windows
  EXPECT_THAT(site.find(1).hosts, testing::ElementsAre(NodeId(1U)));
  EXPECT_TRUE(site.find(2).gpus.empty());
  Allocation elsewhere = site.find(1);
  elsewhere.hosts = {NodeId(0U)};
  EXPECT_FALSE(site.resources.can_take(site.job(1), elsewhere));
  site.lose({4, 5, 6});
  EXPECT_TRUE(site.find(1).gpus.empty()) << "though the other nodes are free";
}

std::vector<GpuId> ids(const std::vector<uint32_t>& gpus) {
  std::vector<GpuId> out;
  for (const uint32_t gpu : gpus) out.emplace_back(gpu);
  return out;
}

TEST(Resources, PartsHaveEqualIndices) {
  PartSite site({.name = "part", .gpus = 2, .host = {}, .apart = true, .equal_indices = true});
  site.lose({0, 5, 8, 9});  // 0 | 1 | 0, 1
  EXPECT_THAT(site.find(3).gpus, testing::UnorderedElementsAreArray(ids({2, 3, 6, 7, 10, 11})));
  site.lose({3});
  EXPECT_TRUE(site.find(3).gpus.empty()) << "two are free on each, but not the same";
  EXPECT_EQ(site.find(2).gpus.size(), 4U);
  site.resources.drain(NodeId(0U), base::kSecond);
  EXPECT_EQ(site.find(2).gpus.size(), 4U);
}

TEST(Resources, PartsHaveTheIndicesOfTheirType) {
  PartSite site({.name = "part", .gpus = 2, .host = {}, .apart = true, .indices = {1, 3}});
  EXPECT_THAT(site.find(3).gpus, testing::UnorderedElementsAreArray(ids({1, 3, 5, 7, 9, 11})));
  site.lose({1});
  EXPECT_TRUE(site.find(3).gpus.empty()) << "three others are free on the node";
  EXPECT_THAT(site.find(2).gpus, testing::UnorderedElementsAreArray(ids({5, 7, 9, 11})));
  site.resources.drain(NodeId(2U), base::kSecond);  // other code is used with windows
  EXPECT_THAT(site.find(1).gpus.size(), 2U);
  site.lose({7});
  EXPECT_TRUE(site.find(2).gpus.empty());
}

/// Compared with a search through all sets.
TEST(ResourcesProperty, EqualIndicesAreFoundIfThereAreAny) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    base::Random random(seed);
    const auto gpus = static_cast<int32_t>(1 + random.below(3));
    const auto parts = static_cast<int32_t>(2 + random.below(3));
    PartSite site({.name = "part", .gpus = gpus, .host = {}, .apart = true, .equal_indices = true},
                  5);
    std::vector<uint32_t> lost;
    for (uint32_t gpu = 0; gpu < 20; ++gpu) {
      if (random.below(5) < 2) lost.push_back(gpu);
    }
    site.lose(lost);
    bool any = false;
    for (uint32_t set = 0; set < 16; ++set) {
      if (__builtin_popcount(set) != gpus) continue;
      int32_t nodes = 0;
      for (uint32_t node = 0; node < 5; ++node) {
        nodes += std::ranges::none_of(
            lost, [&](uint32_t gpu) { return gpu / 4 == node && ((set >> (gpu % 4)) & 1U) != 0; });
      }
      any = any || nodes >= parts;
    }
    const Allocation out = site.find(parts);
    RC_ASSERT(any == !out.gpus.empty());
    std::map<uint32_t, std::set<uint32_t>> indices;  // by node
    for (const GpuId gpu : out.gpus) indices[gpu.value / 4].insert(gpu.value % 4);
    for (const auto& [node, set] : indices) RC_ASSERT(set == indices.begin()->second);
    RC_ASSERT(!any || indices.size() == static_cast<size_t>(parts));
  }));
}

TEST(ResourcesProperty, NoNodeIsOvercommittedAndInstancesAreWhole) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Site site;
    base::Random random(seed);
    std::vector<std::pair<JobRequest, Allocation>> held;
    std::map<NodeId, model::HostResources> used;
    const std::vector<const char*> types = {"Full", "G.large", "G.small", "C.large", "C.small"};
    for (int step = 0; step < 80; ++step) {
      if (!held.empty() && random.below(3) == 0) {
        const size_t victim = random.below(held.size());
        const auto& [request, allocation] = held[victim];
        site.resources.give(request, allocation);
        for (const NodeId node : allocation.hosts) {
          used[node] -= site.cluster.resource_type(request.resource_type).host;
        }
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(victim));
        continue;
      }
      const char* type = types[random.below(types.size())];
      const JobRequest request = site.job(
          type, std::string_view(type) == "Full" ? static_cast<int32_t>(1 + random.below(300)) : 1);
      Allocation allocation;
      if (!site.resources.find(request, {}, seed, allocation)) continue;
      const model::ResourceType& resource = site.cluster.resource_type(request.resource_type);
      RC_ASSERT(allocation.hosts.size() == static_cast<size_t>(request.instances));
      RC_ASSERT(allocation.gpus.size() == static_cast<size_t>(request.num_gpus));
      for (size_t i = 0; i < allocation.gpus.size(); ++i) {
        const NodeId host = allocation.hosts[i / static_cast<size_t>(resource.gpus)];
        RC_ASSERT(site.cluster.node_of(allocation.gpus[i]) == host);
      }
      site.resources.take(request, allocation);
      for (const NodeId node : allocation.hosts) {
        used[node] += resource.host;
        RC_ASSERT(site.cluster.node(node).host.covers(used[node]));
      }
      held.emplace_back(request, allocation);
    }
  }));
}

}  // namespace
}  // namespace goban::core::scheduler
