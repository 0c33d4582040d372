#include "core/knowledge/synthetic_scores.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/knowledge/median.hpp"

namespace goban::core::knowledge {
namespace {

TEST(SyntheticScores, ClassesDifferAsAskedAndStragglersStandOut) {
  const auto raw = synthetic_scores({.num_gpus = 4000, .seed = 3});
  ASSERT_EQ(raw.size(), 4u);
  for (const std::vector<double>& scores : raw) {
    EXPECT_NEAR(median(scores), 1.0, 0.01);
  }
  const auto spread = [](const std::vector<double>& s) {
    return std::ranges::max(s) / std::ranges::min(s);
  };
  EXPECT_GT(spread(raw[0]), spread(raw[1]));
  EXPECT_GT(spread(raw[1]), spread(raw[3]));
  const auto slow = std::ranges::count_if(raw[0], [](double s) { return s > 1.25; });
  EXPECT_NEAR(static_cast<double>(slow) / 4000, 0.02, 0.01);
}

TEST(SyntheticScores, DependOnTheSeedAlone) {
  EXPECT_EQ(synthetic_scores({.seed = 5}), synthetic_scores({.seed = 5}));
  EXPECT_NE(synthetic_scores({.seed = 5}), synthetic_scores({.seed = 6}));
}

}  // namespace
}  // namespace goban::core::knowledge
