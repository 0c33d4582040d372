#include "core/model/storage_tiers.hpp"

#include <gtest/gtest.h>

#include "core/model/cluster_file.hpp"

namespace goban::core::model {
namespace {

constexpr const char* kTierNodes = "[[nodes]]\ngpus = 4\n";

std::string tier_problem(const std::string& toml) {
  const auto tiers = parse_storage_tiers(toml, "c.toml");
  return tiers ? "" : tiers.error().text();
}

TEST(StorageTiers, AreReadFromTheClusterFile) {
  const std::string toml = std::string(kTierNodes) + R"(
[[tier]]
name = "lustre"
kind = "slow"
path = "/lustre"
size = "10000 TB"
bandwidth = "8 GB/s"

[[tier]]
name = "nvme"
kind = "fast"
path = "/fast/goban"
size = "10 TB"
bandwidth = "20 GB/s"
gateway = "gw1"
streams = 2
copy_limit = "1 GB/s"
)";
  const auto tiers = parse_storage_tiers(toml, "c.toml");
  ASSERT_TRUE(tiers);
  EXPECT_EQ(tiers->slow->name, "lustre");
  EXPECT_EQ(tiers->slow->size_bytes, 10'000'000'000'000'000);
  EXPECT_EQ(tiers->fast->path, "/fast/goban");
  EXPECT_EQ(tiers->fast->gateway, "gw1");
  EXPECT_EQ(tiers->fast->streams, 2);
  EXPECT_EQ(tiers->fast->copy_limit_bytes_per_s, 1e9);
  EXPECT_EQ(tiers->copy_bytes_per_s(), 8e9);
  const auto cluster = parse_cluster(toml, "c.toml");
  ASSERT_TRUE(cluster) << cluster.error().text();
  EXPECT_EQ(cluster->num_gpus(), 4U);
}

TEST(StorageTiers, AClusterNeedsNone) {
  const auto tiers = parse_storage_tiers(kTierNodes, "c.toml");
  ASSERT_TRUE(tiers);
  EXPECT_EQ(*tiers, StorageTiers{});
  EXPECT_EQ(tiers->copy_bytes_per_s(), 0);
}

TEST(StorageTiers, WrongOnesAreNamed) {
  const std::string fast = "[[tier]]\nname = \"a\"\nkind = \"fast\"\nsize = \"1 TB\"\n";
  EXPECT_EQ(tier_problem(fast), "");
  EXPECT_NE(tier_problem("[[tier]]\nname = \"a\"\n").find("kind"), std::string::npos);
  EXPECT_NE(
      tier_problem("[[tier]]\nname = \"a\"\nkind = \"warm\"\n").find("\"warm\" is not a kind"),
      std::string::npos);
  EXPECT_NE(tier_problem("[[tier]]\nname = \"a\"\nkind = \"fast\"\n").find("size"),
            std::string::npos);
  EXPECT_NE(tier_problem(fast + "path = \"/a/../b\"\n").find("is not an absolute path"),
            std::string::npos);
  EXPECT_NE(tier_problem(fast + "path = \"fast\"\n").find("is not an absolute path"),
            std::string::npos);
  EXPECT_NE(tier_problem(fast + "gateway = \"-oProxyCommand=x\"\n").find("read as an option"),
            std::string::npos);
  EXPECT_NE(tier_problem(fast + "paht = \"/a\"\n").find("path"), std::string::npos);
  EXPECT_NE(tier_problem(fast + "[[tier]]\nname = \"b\"\nkind = \"fast\"\nsize = 5\n")
                .find("a and b are both fast"),
            std::string::npos);
  EXPECT_NE(
      tier_problem("[[tier]]\nname = \"a\"\nkind = \"slow\"\nstreams = 2\n").find("fast tier"),
      std::string::npos);
  // Also where only the nodes count.
  EXPECT_FALSE(parse_cluster(std::string(kTierNodes) + "[[tier]]\nname = \"a\"\n", "c.toml"));
}

}  // namespace
}  // namespace goban::core::model
