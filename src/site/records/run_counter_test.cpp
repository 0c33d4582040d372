#include "site/records/run_counter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace goban::site::records {
namespace {

TEST(RunCounter, AgreesWithASetOfIdsAndStarts) {
  std::mt19937_64 random(11);
  RunCounter counter;
  std::set<std::pair<std::string, int64_t>> seen;
  std::map<std::string, int32_t> runs;
  int again = 0;
  for (int i = 0; i < 60'000; ++i) {
    // Dense numbers, scattered ones, array tasks; few distinct starts, so that triples repeat.
    const uint64_t kind = random() % 4;
    const std::string id = kind == 0   ? fmt::format("{}_{}", random() % 100, random() % 100)
                           : kind == 1 ? fmt::format("{}", (random() % 500) << 40)
                                       : fmt::format("{}", i / 3);
    const auto start = static_cast<int64_t>(random() % 3) * base::kSecond;
    const int32_t run = counter.add("c", id, start);
    if (!seen.emplace(id, start).second) {
      ++again;
      ASSERT_EQ(run, RunCounter::kSeenBefore) << id;
      continue;
    }
    const auto [at, is_first] = runs.emplace(id, 0);
    ASSERT_EQ(run, is_first ? 0 : ++at->second) << id;
  }
  EXPECT_GT(again, 1000);
}

TEST(RunCounter, TellsClustersApart) {
  RunCounter counter;
  EXPECT_EQ(counter.add("a", "7", 1), 0);
  EXPECT_EQ(counter.add("b", "7", 1), 0);
  EXPECT_EQ(counter.add("b", "7", 1), RunCounter::kSeenBefore);
  EXPECT_EQ(counter.add("b", "7", 2), 1);
}

TEST(RunCounter, BelievesASourceThatKnowsOfEarlierRuns) {
  RunCounter counter;
  EXPECT_EQ(counter.add("7", 10, 2), 2);
  EXPECT_EQ(counter.add("7", 20), 3);
  EXPECT_EQ(counter.add("7", 30, 1), 4);
  EXPECT_EQ(counter.add("7", 30, 9), RunCounter::kSeenBefore);
}

}  // namespace
}  // namespace goban::site::records
