#include "core/knowledge/locality.hpp"

#include <gtest/gtest.h>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

// Two racks of two nodes: levels node, rack and cluster, optionally with a penalty of the rack.
model::Cluster two_racks(std::optional<double> rack_penalty = std::nullopt) {
  model::ClusterBuilder builder("test");
  builder.add_gpu_model({});
  for (int n = 0; n < 4; ++n) {
    model::ClusterBuilder::Placed placed;
    placed.node.name = "n" + std::to_string(n);
    placed.node.num_gpus = 4;
    placed.rack = n < 2 ? "r0" : "r1";
    builder.add_node(std::move(placed));
  }
  if (rack_penalty) builder.set_link("rack", {0, 0, rack_penalty});
  auto cluster = builder.build();
  GOBAN_CHECK(cluster.has_value());
  return std::move(*cluster);
}

model::JobRequest job_of(uint8_t app_class, int32_t num_gpus, uint32_t model = 0) {
  model::JobRequest job;
  job.app_class = {app_class};
  job.num_gpus = num_gpus;
  job.model = ModelId(model);
  return job;
}

TEST(LocalityPenalties, OneNumberAboveTheNode) {
  const LocalityPenalties penalties(two_racks(), 1.7);
  ASSERT_EQ(penalties.num_levels(), 3u);
  EXPECT_EQ(penalties.at(0, job_of(0, 8)), 1.0);
  EXPECT_EQ(penalties.at(1, job_of(0, 8)), 1.7);
  EXPECT_EQ(penalties.at(2, job_of(0, 8)), 1.7);
}

TEST(LocalityPenalties, TheClusterMayStateItsOwn) {
  LocalityPenalties penalties(two_racks(1.2), 1.7);
  EXPECT_EQ(penalties.at(1, job_of(0, 8)), 1.2);
  EXPECT_EQ(penalties.at(2, job_of(0, 8)), 1.7);
  penalties.set_level(2, 3.0);
  EXPECT_EQ(penalties.at(2, job_of(0, 8)), 3.0);
  penalties.set_across_nodes(1.5);
  EXPECT_EQ(penalties.at(1, job_of(0, 8)), 1.5);
  EXPECT_EQ(penalties.at(2, job_of(0, 8)), 1.5);
}

TEST(LocalityPenalties, ClassThenModelThenLevelsOfTheModel) {
  // PointNet on 8 / 12 / 16 GPUs (measured on Frontera: PAL, SC24).
  LocalityPenalties penalties(two_racks(), 1.7);
  penalties.set_class({3}, 1.10);
  penalties.set_model(ModelId(5U), 8, 1.10);
  penalties.set_model(ModelId(5U), 12, 1.20);
  penalties.set_model(ModelId(5U), 16, 1.25);
  EXPECT_EQ(penalties.at(2, job_of(3, 16)), 1.10);
  EXPECT_EQ(penalties.at(2, job_of(0, 16)), 1.7);
  EXPECT_EQ(penalties.at(2, job_of(3, 4, 5)), 1.0);
  EXPECT_EQ(penalties.at(2, job_of(3, 12, 5)), 1.20);
  EXPECT_EQ(penalties.at(2, job_of(3, 15, 5)), 1.20);
  EXPECT_EQ(penalties.at(2, job_of(3, 99, 5)), 1.25);
  EXPECT_EQ(penalties.at(0, job_of(3, 99, 5)), 1.0);
  penalties.set_model_levels(ModelId(5U), 16, {1.0, 1.3, 1.9});
  EXPECT_EQ(penalties.at(1, job_of(3, 16, 5)), 1.3);
  EXPECT_EQ(penalties.at(2, job_of(3, 17, 5)), 1.9);
  EXPECT_EQ(penalties.at(2, job_of(3, 12, 5)), 1.20);  // below the levels' threshold
}

}  // namespace
}  // namespace goban::core::knowledge
