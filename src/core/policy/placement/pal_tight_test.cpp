#include <gtest/gtest.h>
#include <set>

#include "base/random.hpp"
#include "core/policy/placement/test_cluster.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

using Chosen = std::vector<uint32_t>;

/// Three nodes of four GPUs; the first is slow, GPU 5 and the third node are fast.
TestCluster three_nodes() {
  return {3, 4, {1.2, 1.2, 1.2, 1.2, 1.1, 1.0, 1.1, 1.1, 1.0, 1.0, 1.0, 1.0}, 1.5};
}

TEST(PalTight, TakesTheFastestWhileManyGpusAreFree) {
  const PolicySet set = test_part("pal-tight");
  TestCluster c = three_nodes();
  for (const uint32_t gpu : {0U, 1U, 2U}) c.take(gpu);
  EXPECT_EQ(c.place(*set.placement, 2), (Chosen{8, 9}));
}

// PAL alone would take the fast GPUs of two nodes, and leave both in part.
TEST(PalTight, JobsOfWholeNodesBreakUpNone) {
  const PolicySet set = test_part("pal-tight");
  TestCluster c(3, 4, {1.0, 1.0, 1.9, 1.9, 1.0, 1.0, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9}, 1.1);
  const auto nodes_of = [](const Chosen& gpus) {
    std::set<uint32_t> nodes;
    for (const uint32_t gpu : gpus) nodes.insert(gpu / 4);
    return nodes.size();
  };
  EXPECT_EQ(nodes_of(c.place(*test_part("pal").placement, 4)), 2U);
  EXPECT_EQ(nodes_of(c.place(*set.placement, 4)), 1U);
  EXPECT_EQ(nodes_of(c.place(*set.placement, 8)), 2U);
  EXPECT_EQ(nodes_of(c.place(*set.placement, 2)), 1U);
}

TEST(PalTight, KeepsWholeNodesOnceFewGpusAreFree) {
  const PolicySet set = test_part("pal-tight");
  // Two of 12 GPUs are free: a single one on each of two nodes. Packed would take GPU 3.
  TestCluster c = three_nodes();
  for (const uint32_t gpu : {0U, 1U, 2U, 4U, 6U, 7U, 8U, 9U, 10U, 11U}) c.take(gpu);
  EXPECT_EQ(c.place(*set.placement, 1), (Chosen{5}));
  EXPECT_EQ(c.place(*test_part("packed").placement, 1), (Chosen{3}));
  EXPECT_EQ(c.place(*set.placement, 2), (Chosen{5, 3}));
  EXPECT_TRUE(c.place(*set.placement, 2, true).empty());
  EXPECT_TRUE(c.place(*set.placement, 3).empty());
}

TEST(PalTight, BreaksUpTheNodeThatLosesLeast) {
  // 20 GPUs: node 0 has one slow GPU free, node 4 three fast ones.
  std::vector<double> scores(20, 1.0);
  scores[3] = 1.5;
  TestCluster c(5, 4, scores, 1.5);
  for (uint32_t gpu = 0; gpu < 17; ++gpu) {
    if (gpu != 3) c.take(gpu);
  }
  EXPECT_EQ(c.place(*test_part("pal").placement, 1).front() / 4, 4U);
  EXPECT_EQ(c.place(*test_part("pal-tight").placement, 1), (Chosen{3}));
}

TEST(PalTight, EachRuleCanBeLeftOut) {
  const auto with = [](const char* setting) {
    PolicyOptions options;
    EXPECT_TRUE(set_option(options, setting));
    return test_part("pal-tight", options);
  };
  std::vector<double> scores(20, 1.0);
  scores[3] = 1.5;
  TestCluster c(5, 4, scores, 1.5);
  for (uint32_t gpu = 0; gpu < 17; ++gpu) {
    if (gpu != 3) c.take(gpu);
  }
  EXPECT_EQ(c.place(*with("tight_nodes=1").placement, 1), (Chosen{3}));
  EXPECT_EQ(c.place(*with("tight_nodes=0").placement, 1).front() / 4, 4U);
  TestCluster whole(3, 4, {1.0, 1.0, 1.9, 1.9, 1.0, 1.0, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9}, 1.1);
  EXPECT_EQ(whole.place(*with("whole_nodes=0").placement, 4),
            whole.place(*test_part("pal").placement, 4));
  EXPECT_NE(whole.place(*with("whole_nodes=1").placement, 4),
            whole.place(*test_part("pal").placement, 4));
}

TEST(PalTight, EqualGpusGoWherePackedPutsThem) {
  const PolicySet tight = test_part("pal-tight");
  const PolicySet packed = test_part("packed");
  const PolicySet pal = test_part("pal");
  base::Random random(3);
  int differ = 0;
  for (int round = 0; round < 300; ++round) {
    TestCluster c(16, 8, std::vector<double>(128, 1.0), 1.16);
    std::set<uint32_t> busy;  // PAL places while half are free
    for (auto i = random.below(64); i > 0; --i)
      busy.insert(static_cast<uint32_t>(random.below(128)));
    for (const uint32_t gpu : busy) c.take(gpu);
    const auto wanted = static_cast<uint32_t>(1 + random.below(40));
    const Chosen expected = c.place(*packed.placement, wanted);
    const auto nodes_of = [](const Chosen& gpus) {
      std::multiset<uint32_t> nodes;
      for (const uint32_t gpu : gpus) nodes.insert(gpu / 8);
      return nodes;
    };
    EXPECT_EQ(nodes_of(c.place(*tight.placement, wanted)), nodes_of(expected)) << wanted;
    differ += nodes_of(c.place(*pal.placement, wanted)) != nodes_of(expected) ? 1 : 0;
  }
  EXPECT_GT(differ, 0) << "PAL does the same: this tests nothing";
}

}  // namespace
}  // namespace goban::core::policy
