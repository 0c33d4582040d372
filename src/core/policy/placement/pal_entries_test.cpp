#include "core/policy/placement/pal_entries.hpp"

#include <gmock/gmock.h>

#include "core/policy/placement/test_cluster.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

using testing::ElementsAre;

/// level, bin, product, free GPUs of an entry.
using Row = std::tuple<size_t, double, double, int32_t>;

TEST(PalEntries, AreListedByProductWithWhatIsFree) {
  // Two nodes of three GPUs; scores 1 1 2 and 1 2 2; crossing nodes costs 1.5.
  TestCluster cluster(2, 3, {1, 1, 2, 1, 2, 2}, 1.5);
  cluster.take(0);
  model::JobRequest job;
  job.num_gpus = 2;
  std::vector<Row> rows;
  for (const PalEntry& entry : pal_entries(cluster.view(), {.job = &job, .num_gpus = 2}, {})) {
    rows.emplace_back(entry.level, entry.bin_value, entry.product, entry.free_gpus);
    EXPECT_EQ(entry.product, entry.bin_value * entry.penalty);
  }
  EXPECT_THAT(rows,
              ElementsAre(Row(0, 1, 1, 1), Row(1, 1, 1.5, 2), Row(0, 2, 2, 3), Row(1, 2, 3, 5)));
  // PAL takes the first entry with two free GPUs: GPUs 1 and 3.
  EXPECT_THAT(cluster.place(*test_part("pal").placement, 2), ElementsAre(1, 3));
}

TEST(PalEntries, RequestsOfOneNodeHaveNoOuterRows) {
  const TestCluster cluster(2, 2, {1, 1, 1, 1}, 1.5);
  model::JobRequest job;
  job.num_gpus = 4;
  const auto entries =
      pal_entries(cluster.view(), {.job = &job, .num_gpus = 2, .one_node = true}, {});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].level, 0u);
  EXPECT_TRUE(entries[0].serves(2));
  EXPECT_FALSE(entries[0].serves(3));
}

}  // namespace
}  // namespace goban::core::policy
