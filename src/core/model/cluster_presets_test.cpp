#include "core/model/cluster_presets.hpp"

#include <gtest/gtest.h>

namespace goban::core::model {
namespace {

std::vector<std::string> level_names(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const TopologyLevel& level : cluster.levels()) names.push_back(level.name);
  return names;
}

TEST(Presets, EveryNamedOneBuilds) {
  for (const PresetInfo& preset : preset_names()) {
    const auto cluster = make_preset(preset.name);
    ASSERT_TRUE(cluster) << preset.name << ": " << cluster.error().text();
    EXPECT_EQ(cluster->name(), preset.name);
    EXPECT_FALSE(preset.description.empty());
  }
}

TEST(Presets, NByMIsFlat) {
  const auto cluster = make_preset("3x8");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->nodes().size(), 3u);
  EXPECT_EQ(cluster->num_gpus(), 24u);
  EXPECT_EQ(level_names(*cluster), (std::vector<std::string>{"node", "cluster"}));
  EXPECT_EQ(cluster->node(NodeId(1u)).first_gpu, 8u);
}

TEST(Presets, Sia64Is16x4) {
  const auto cluster = make_preset("sia-64");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->nodes().size(), 16u);
  EXPECT_EQ(cluster->num_gpus(), 64u);
}

TEST(Presets, AbciHasItsRacksAndTableOne) {
  const auto cluster = make_preset("abci");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->num_gpus(), 4352u);
  EXPECT_EQ(level_names(*cluster), (std::vector<std::string>{"node", "rack", "cluster"}));
  EXPECT_EQ(cluster->levels()[1].num_domains(), 32u);
  EXPECT_DOUBLE_EQ(cluster->levels()[1].bandwidth_bytes_per_s, 25e9);
  EXPECT_DOUBLE_EQ(cluster->levels()[2].bandwidth_bytes_per_s, 25e9 / 3);
  EXPECT_EQ(cluster->node(NodeId(0u)).name, "g0001");
  ASSERT_EQ(cluster->resource_types().size(), 5u);
  const ResourceType& full = cluster->resource_type(cluster->find_resource_type("Full"));
  EXPECT_EQ(full.max_instances, 512);
  EXPECT_EQ(full.walltime_max_ns, 72 * 3600 * base::kSecond);
  EXPECT_EQ(full.walltime_default_ns, 3600 * base::kSecond);
  const ResourceType& small = cluster->resource_type(cluster->find_resource_type("C.small"));
  EXPECT_EQ(small.gpus, 0);
  EXPECT_EQ(small.host.cores, 5);
  EXPECT_EQ(small.walltime_max_ns, 168 * 3600 * base::kSecond);
}

TEST(Presets, NecHasFourIslandsANode) {
  const auto cluster = make_preset("nec-928");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->num_gpus(), 928u);
  EXPECT_EQ(cluster->levels()[0].name, "island");
  EXPECT_EQ(cluster->levels()[0].num_domains(), 116u * 4);
}

TEST(Presets, DgxHasSevenScalableUnits) {
  const auto cluster = make_preset("dgx-a100");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(level_names(*cluster), (std::vector<std::string>{"node", "rack", "zone", "cluster"}));
  EXPECT_EQ(cluster->levels()[1].num_domains(), 35u);
  EXPECT_EQ(cluster->levels()[2].num_domains(), 7u);
}

TEST(Presets, UnknownNameListsTheKnownOnes) {
  const auto cluster = make_preset("abcd");
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().code, base::ErrorCode::Usage);
  EXPECT_EQ(cluster.error().text(),
            "no cluster preset is named abcd (known: abci, dgx-a100, nec-928, sia-64, "
            "NxM such as 16x4 or 8x8:V100+8x8:P100, or a .toml file)");
}

TEST(Presets, GroupsOfNodesHaveTheirGpuModels) {
  const auto cluster = make_preset("2x8:V100+3x4:K80+1x8:V100+1x2:NVIDIA-L4+1x1:X");
  ASSERT_TRUE(cluster) << cluster.error().text();
  EXPECT_EQ(cluster->num_gpus(), 16u + 12u + 8u + 2u + 1u);
  const auto model_of = [&](size_t node) {
    return cluster->gpu_models()[cluster->nodes()[node].gpu_model];
  };
  EXPECT_EQ(model_of(0).name, "V100");
  EXPECT_EQ(model_of(0).mem_bytes, int64_t{16} << 30);
  EXPECT_EQ(model_of(2).name, "K80");
  EXPECT_EQ(model_of(2).power_max_w, 150);
  EXPECT_EQ(model_of(5).name, "V100");
  EXPECT_EQ(cluster->gpu_models().size(), 4u);
  EXPECT_EQ(model_of(6).mem_bytes, int64_t{24} << 30);
  EXPECT_EQ(model_of(7).mem_bytes, 0) << "nobody knows X";
  EXPECT_EQ(cluster->nodes()[7].name, "node0007");
  EXPECT_EQ(make_preset("2x8")->gpu_models()[0].name, "gpu");
}

TEST(Presets, NByMOutOfRangeIsRefused) {
  for (const char* name :
       {"0x4", "4x0", "-1x4", "200000x1", "4x256", "100000x200", "1x4+0x4", "131072x1+1x1"}) {
    const auto cluster = make_preset(name);
    ASSERT_FALSE(cluster) << name;
    EXPECT_NE(cluster.error().message.find("out of range"), std::string::npos);
  }
  for (const char* name : {"x", "4x", "x4", "4X4", "4x4x4", "99999999999999999999x1",
                           "4x4:", "4x4:a b", "4x4+", "+4x4", "4x4:V100:P100"}) {
    EXPECT_FALSE(make_preset(name)) << name;
  }
}

}  // namespace
}  // namespace goban::core::model
