// Host resources, instances and closed nodes.
#include "core/scheduler/resources.hpp"

#include <gmock/gmock.h>
#include <map>
#include <rapidcheck.h>

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
