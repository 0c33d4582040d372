#include "study/history/generate/duration_law.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "study/history/generate/abci/facts.hpp"
#include "study/history/generate/philly/facts.hpp"

namespace goban::study::history {
namespace {

namespace abci = generate::abci;
namespace philly = generate::philly;

using base::Random;

std::vector<DurationFacts> published() {
  std::vector<DurationFacts> all;
  for (const abci::WalltimeRow& row : abci::walltime_rows()) all.push_back(row.facts());
  for (const philly::RunTimeRow& row : philly::run_time_rows()) all.push_back(row.facts);
  return all;
}

TEST(DurationLaw, MeetsEveryPublishedNumber) {
  for (const DurationFacts& facts : published()) {
    SCOPED_TRACE(facts.mean_s);
    const auto law = DurationLaw::fit(facts);
    ASSERT_TRUE(law) << law.error().text();
    EXPECT_NEAR(law->mean_s() / facts.mean_s, 1, 1e-8);
    EXPECT_NEAR(law->sd_s() / facts.sd_s, 1, 1e-8);
    EXPECT_DOUBLE_EQ(law->quantile_s(0), facts.min_s);
    EXPECT_NEAR(law->quantile_s(1) / facts.max_s, 1, 1e-9);
    EXPECT_EQ(law->min_s(), facts.min_s);
    EXPECT_EQ(law->max_s(), facts.max_s);
    for (const CdfPoint& point : facts.points) {
      EXPECT_NEAR(law->quantile_s(point.share) / point.seconds, 1, 1e-9);
    }
  }
}

TEST(DurationLaw, ItsSampleHasItsMoments) {
  for (const DurationFacts& facts : published()) {
    const auto law = DurationLaw::fit(facts);
    ASSERT_TRUE(law);
    Random random(7);
    constexpr size_t kCount = 100'000;
    const auto sample = law->stratified_s(kCount, random);
    ASSERT_TRUE(std::ranges::is_sorted(sample));
    double sum = 0;
    double squares = 0;
    for (const double value : sample) {
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kCount;
    EXPECT_NEAR(mean / facts.mean_s, 1, 1e-3);
    EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean) / facts.sd_s, 1, 2e-3);
  }
}

// If the moments are those of the log-uniform distribution, the result is that distribution.
TEST(DurationLaw, IsLogUniformIfNothingSpeaksAgainstIt) {
  const double log_ratio = std::log(1'000.0);
  const double mean = 999 / log_ratio;
  const double square = (1e6 - 1) / (2 * log_ratio);
  const auto law = DurationLaw::fit(
      {.min_s = 1, .max_s = 1'000, .mean_s = mean, .sd_s = std::sqrt(square - mean * mean)});
  ASSERT_TRUE(law);
  for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9}) {
    EXPECT_NEAR(law->quantile_s(share) / std::pow(1'000.0, share), 1, 2e-3) << share;
  }
}

TEST(DurationLaw, WithoutExtremesTheMomentsOfAllComeBack) {
  const DurationFacts facts{1, 5'000'000, 47'000, 185'000, {{800, 0.5}}};
  constexpr int64_t kCount = 3'435;
  const DurationFacts rest = without_extremes(facts, kCount);
  const double mean = (rest.mean_s * (kCount - 2) + 1 + 5e6) / kCount;
  const double square =
      ((rest.sd_s * rest.sd_s + rest.mean_s * rest.mean_s) * (kCount - 2) + 1 + 25e12) / kCount;
  EXPECT_NEAR(mean, 47'000, 1e-6);
  EXPECT_NEAR(std::sqrt(square - mean * mean), 185'000, 1e-6);
  EXPECT_NEAR((rest.points[0].share * (kCount - 2) + 1) / kCount, 0.5, 1e-12);
}

TEST(DurationLaw, ImpossibleFactsAreAnError) {
  // Half of the durations are at most 10 s, so the mean cannot be above 505 s.
  const auto law = DurationLaw::fit({1, 1'000, 600, 100, {{10, 0.5}}});
  ASSERT_FALSE(law);
  EXPECT_NE(law.error().text().find("no distribution from 1 to 1000 s has mean 600"),
            std::string::npos)
      << law.error().text();
}

}  // namespace
}  // namespace goban::study::history
