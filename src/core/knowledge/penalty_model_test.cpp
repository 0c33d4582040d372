#include "core/knowledge/penalty_model.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

struct Link {
  double bandwidth_bytes_per_s;
  double latency_s;
};

// Two racks of two nodes of four GPUs: levels node, rack and cluster.
model::Cluster cluster_of(const std::vector<Link>& links) {
  model::ClusterBuilder builder("test");
  for (int n = 0; n < 4; ++n) {
    model::ClusterBuilder::Placed placed;
    placed.node.name = "n" + std::to_string(n);
    placed.node.num_gpus = 4;
    placed.node.gpu_model = n == 0 ? builder.add_gpu_model({}) : 0;
    placed.rack = n < 2 ? "r0" : "r1";
    builder.add_node(std::move(placed));
  }
  const char* names[] = {"node", "rack", "cluster"};
  for (size_t i = 0; i < links.size(); ++i) {
    builder.set_link(names[i], {links[i].bandwidth_bytes_per_s, links[i].latency_s, {}});
  }
  auto cluster = builder.build();
  GOBAN_CHECK(cluster.has_value(), cluster ? "" : cluster.error().text());
  return std::move(*cluster);
}

base::reports::JobProfile profile_of(double bytes, double interval_s) {
  base::reports::JobProfile profile;
  profile.bytes_per_step = {bytes, 0};
  profile.sync_interval_s = {interval_s, 0};
  return profile;
}

TEST(PenaltyModel, RingAllReduceByHand) {
  // 4 GPUs, 1 GB, 1 GB/s, 1 ms: 6 steps of 1 ms + 0.25 s.
  EXPECT_DOUBLE_EQ(ring_all_reduce_s(4, 1e9, 1e-3, 1e9), 6 * 0.251);
  EXPECT_EQ(ring_all_reduce_s(1, 1e9, 1e-3, 1e9), 0);
  EXPECT_DOUBLE_EQ(ring_all_reduce_s(2, 1e9, 0, 1e9), 1);
}

TEST(PenaltyModel, SlowerLinksCostMore) {
  const model::Cluster cluster = cluster_of({{10e9, 0}, {1e9, 0}, {0.5e9, 0}});
  // Two GPUs move the payload once: 0.1, 1 and 2 s in addition to 0.9 s of computation.
  const auto penalties = derived_penalties(profile_of(1e9, 0.9), cluster, 2);
  ASSERT_TRUE(penalties);
  EXPECT_THAT(*penalties, ElementsAre(DoubleEq(1), DoubleEq(1.9), DoubleEq(2.9)));
}

TEST(PenaltyModel, SilentJobsDoNotMindDistance) {
  const model::Cluster cluster = cluster_of({{10e9, 0}, {1e9, 0}, {0.5e9, 0}});
  EXPECT_THAT(*derived_penalties(profile_of(0, 1), cluster, 8), ElementsAre(1, 1, 1));
  EXPECT_THAT(*derived_penalties(profile_of(1e9, 1), cluster, 1), ElementsAre(1, 1, 1));
}

TEST(PenaltyModel, SaysNothingWithoutTheNumbers) {
  const model::Cluster cluster = cluster_of({{10e9, 0}, {1e9, 0}, {0.5e9, 0}});
  base::reports::JobProfile profile = profile_of(1e9, 1);
  profile.bytes_per_step.reset();
  EXPECT_FALSE(derived_penalties(profile, cluster, 8));
  profile = profile_of(1e9, 1);
  profile.sync_interval_s.reset();
  EXPECT_FALSE(derived_penalties(profile, cluster, 8));
  EXPECT_FALSE(derived_penalties(profile_of(0, 0), cluster, 8));
  EXPECT_FALSE(derived_penalties(profile_of(1e9, 1), cluster_of({{10e9, 0}, {1e9, 0}}), 8));
}

RC_GTEST_PROP(PenaltyModel, NeverFallsWithDistance, ()) {
  std::vector<Link> links;
  for (int i = 0; i < 3; ++i) {
    links.push_back({*rc::gen::inRange(1, 1000) * 1e7, *rc::gen::inRange(0, 100) * 1e-6});
  }
  const auto profile =
      profile_of(*rc::gen::inRange(1, 10'000) * 1e5, *rc::gen::inRange(0, 1000) * 1e-3);
  const auto num_gpus = *rc::gen::inRange<uint32_t>(1, 17);
  const auto penalties = derived_penalties(profile, cluster_of(links), num_gpus);
  RC_ASSERT(penalties.has_value());
  RC_ASSERT(penalties->size() == 3u);
  RC_ASSERT(penalties->front() == 1.0);
  RC_ASSERT(std::ranges::is_sorted(*penalties));
}

}  // namespace
}  // namespace goban::core::knowledge
