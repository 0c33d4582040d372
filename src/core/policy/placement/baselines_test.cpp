// Packed, consolidated, spread, any and random on small clusters, each rule by an example.
#include <gmock/gmock.h>
#include <set>

#include "core/policy/placement/test_cluster.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TestCluster flat(uint32_t nodes, uint32_t gpus) {
  return TestCluster(nodes, gpus, std::vector<double>(nodes * gpus, 1.0), 1.7);
}

TEST(Packed, TakesTheTightestNodeThatHoldsTheJob) {
  TestCluster c = flat(3, 4);
  c.take(4);  // node 1 has three free
  EXPECT_THAT(c.place(*test_part("packed").placement, 3), ElementsAre(5, 6, 7));
  EXPECT_THAT(c.place(*test_part("packed").placement, 4), ElementsAre(0, 1, 2, 3));
}

TEST(Packed, SpansTheFullestNodesWhenNoneHoldsTheJob) {
  TestCluster c = flat(3, 4);
  c.take(0);
  c.take(8);
  c.take(9);  // free: 3, 4, 2
  EXPECT_THAT(c.place(*test_part("packed").placement, 6), ElementsAre(4, 5, 6, 7, 1, 2));
  EXPECT_THAT(c.place(*test_part("packed").placement, 10), IsEmpty());
  EXPECT_THAT(c.place(*test_part("packed").placement, 6, true), IsEmpty());
}

TEST(Consolidated, WaitsRatherThanSpanMoreNodesThanNeeded) {
  TestCluster c = flat(2, 4);
  c.take(0);
  c.take(4);
  EXPECT_THAT(c.place(*test_part("consolidated").placement, 4), IsEmpty());
  EXPECT_THAT(c.place(*test_part("consolidated").placement, 3), ElementsAre(1, 2, 3));
}

TEST(Consolidated, LargeJobsTakeWholeNodesAndBestFitTheRest) {
  TestCluster c = flat(4, 4);
  c.take(4);
  c.take(5);  // free: 4, 2, 4, 4
  EXPECT_THAT(c.place(*test_part("consolidated").placement, 10),
              ElementsAre(0, 1, 2, 3, 8, 9, 10, 11, 6, 7));
  EXPECT_THAT(c.place(*test_part("consolidated").placement, 11),
              ElementsAre(0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14));
  c.take(8);
  c.take(9);  // free: 4, 2, 2, 4: two entire nodes, but none for the other three
  EXPECT_THAT(c.place(*test_part("consolidated").placement, 11), IsEmpty());
}

TEST(Spread, AlwaysTakesFromTheEmptiestNode) {
  TestCluster c = flat(3, 4);
  c.take(0);
  c.take(1);  // free: 2, 4, 4
  EXPECT_THAT(c.place(*test_part("spread").placement, 3), ElementsAre(4, 5, 8));
  EXPECT_THAT(c.place(*test_part("spread").placement, 6), ElementsAre(2, 4, 5, 6, 8, 9));
  EXPECT_THAT(c.place(*test_part("spread").placement, 2, true), ElementsAre(4, 5));
}

TEST(Any, IgnoresNodeBorders) {
  TestCluster c = flat(2, 4);
  c.take(1);
  EXPECT_THAT(c.place(*test_part("any").placement, 5), ElementsAre(0, 2, 3, 4, 5));
  EXPECT_THAT(c.place(*test_part("any").placement, 4, true), ElementsAre(4, 5, 6, 7));
}

TEST(Random, DrawsFreeGpusAndDependsOnTheSeedAlone) {
  TestCluster c = flat(8, 4);
  c.take(3);
  const auto first = c.place(*test_part("random").placement, 12, false, 5);
  EXPECT_EQ(first, c.place(*test_part("random").placement, 12, false, 5));
  EXPECT_NE(first, c.place(*test_part("random").placement, 12, false, 6));
  const std::set<uint32_t> unique(first.begin(), first.end());
  EXPECT_EQ(unique.size(), 12u);
  EXPECT_FALSE(unique.contains(3));
  const auto together = c.place(*test_part("random").placement, 4, true, 9);
  ASSERT_EQ(together.size(), 4u);
  EXPECT_EQ(*std::ranges::min_element(together) / 4, *std::ranges::max_element(together) / 4);
}

}  // namespace
}  // namespace goban::core::policy
