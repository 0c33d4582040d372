#include "core/model/storage_tiers.hpp"

#include <gtest/gtest.h>

#include "core/model/cluster_file.hpp"

namespace goban::core::model {
namespace {

constexpr const char* kNodes = "[[nodes]]\ngpus = 4\n";

std::string problem(const std::string& toml) {
  const auto tiers = parse_storage_tiers(toml, "c.toml");
  return tiers ? "" : tiers.error().text();
}

TEST(StorageTiers, AreReadFromTheClusterFile) {
  const std::string toml = std::string(kNodes) + R"(
[[tier]]
name = "lustre"
kind = "slow"
path = "/lustre"
size = "10 PB"
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
  const auto tiers = parse_storage_tiers(kNodes, "c.toml");
  ASSERT_TRUE(tiers);
  EXPECT_EQ(*tiers, StorageTiers{});
  EXPECT_EQ(tiers->copy_bytes_per_s(), 0);
}

TEST(StorageTiers, WrongOnesAreNamed) {
  const std::string fast = "[[tier]]\nname = \"a\"\nkind = \"fast\"\nsize = \"1 TB\"\n";
  EXPECT_EQ(problem(fast), "");
  EXPECT_NE(problem("[[tier]]\nname = \"a\"\n").find("kind"), std::string::npos);
  EXPECT_NE(problem("[[tier]]\nname = \"a\"\nkind = \"warm\"\n").find("\"warm\" is not a kind"),
            std::string::npos);
  EXPECT_NE(problem("[[tier]]\nname = \"a\"\nkind = \"fast\"\n").find("size"), std::string::npos);
  EXPECT_NE(problem(fast + "path = \"/a/../b\"\n").find("is not an absolute path"),
            std::string::npos);
  EXPECT_NE(problem(fast + "path = \"fast\"\n").find("is not an absolute path"), std::string::npos);
  EXPECT_NE(problem(fast + "paht = \"/a\"\n").find("path"), std::string::npos);
  EXPECT_NE(problem(fast + "[[tier]]\nname = \"b\"\nkind = \"fast\"\nsize = 5\n")
                .find("a and b are both fast"),
            std::string::npos);
  EXPECT_NE(problem("[[tier]]\nname = \"a\"\nkind = \"slow\"\nstreams = 2\n").find("fast tier"),
            std::string::npos);
  // Also where only the nodes count.
  EXPECT_FALSE(parse_cluster(std::string(kNodes) + "[[tier]]\nname = \"a\"\n", "c.toml"));
}

}  // namespace
}  // namespace goban::core::model
