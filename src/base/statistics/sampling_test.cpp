#include "base/statistics/sampling.hpp"

#include <array>
#include <gmock/gmock.h>
#include <set>

namespace goban::base::statistics {
namespace {

TEST(Sampling, EquallyManyOfEachWithoutRepeats) {
  std::vector<uint32_t> strata;
  for (uint32_t i = 0; i < 1000; ++i) strata.push_back(i % 7 == 0 ? 9 : i % 3);
  strata.push_back(5);
  const auto draws = stratified_sample(strata, 100, 1);
  ASSERT_EQ(draws.size(), 5U);
  size_t population = 0;
  for (const StratumDraw& draw : draws) {
    population += draw.population;
    EXPECT_EQ(draw.chosen.size(), draw.stratum == 5 ? 1U : 100U);
    EXPECT_EQ(std::set<size_t>(draw.chosen.begin(), draw.chosen.end()).size(), draw.chosen.size());
    for (const size_t index : draw.chosen) EXPECT_EQ(strata[index], draw.stratum);
  }
  EXPECT_EQ(population, strata.size());
}

TEST(Sampling, SeedDecidesAndOtherStrataDoNotMatter) {
  std::vector<uint32_t> strata(50, 1);
  const auto alone = stratified_sample(strata, 10, 7);
  strata.resize(90, 2);
  const auto both = stratified_sample(strata, 10, 7);
  EXPECT_EQ(alone[0].chosen, both[0].chosen);
  EXPECT_NE(stratified_sample(strata, 10, 8)[0].chosen, both[0].chosen);
}

TEST(Sampling, EveryMemberIsAsLikely) {
  const std::vector<uint32_t> strata(10, 0);
  std::array<int, 10> taken{};
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const auto draws = stratified_sample(strata, 3, seed);
    for (const size_t index : draws[0].chosen) ++taken[index];
  }
  // 3000 each; standard deviation sqrt(10000 * .3 * .7) = 46.
  for (const int count : taken) EXPECT_NEAR(count, 3000, 5 * 46);
}

}  // namespace
}  // namespace goban::base::statistics
