#include "site/inputs/inputs.hpp"

#include <fstream>
#include <gtest/gtest.h>

namespace goban::site::inputs {
namespace {

TEST(Inputs, ClusterFilesAreResolvedBeforePresets) {
  const std::string path = testing::TempDir() + "/resolve.toml";
  std::ofstream(path) << "[[nodes]]\nname = \"solo\"\ngpus = 2\n";
  const auto cluster = resolve_cluster(path);
  ASSERT_TRUE(cluster) << cluster.error().text();
  EXPECT_EQ(cluster->nodes()[0].name, "solo");
  const auto missing = resolve_cluster("/nowhere/c.toml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::Failed);
  EXPECT_EQ(resolve_cluster("3x8")->num_gpus(), 24U);
  EXPECT_EQ(resolve_cluster("abcd").error().code, base::ErrorCode::Usage);
}

TEST(Inputs, PowerIsAFileOrPresets) {
  EXPECT_TRUE(is_power_file("site.toml"));
  EXPECT_TRUE(is_power_file("-"));
  EXPECT_FALSE(is_power_file("k80,p100"));
  EXPECT_EQ(resolve_power("k80,p100")->models.size(), 2U);
  EXPECT_EQ(resolve_power("/nowhere/p.toml").error().code, base::ErrorCode::Failed);
}

TEST(Inputs, MessagesNameTheFile) {
  const std::string path = testing::TempDir() + "/scores.csv";
  std::ofstream(path) << "GPU_ID,PerfVar_classA\n0,x\n";
  const auto scores = read_scores(path, std::nullopt);
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().place.file, path);
}

}  // namespace
}  // namespace goban::site::inputs
