#include "site/series/reduce.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace goban::site::series {
namespace {

using base::statistics::SigmaRule;

CodeCounts counts_of(const std::vector<uint16_t>& codes) {
  CodeCounts counts(100);
  for (const uint16_t code : codes) counts.add(code);
  return counts;
}

/// Trimmed maximum by both methods, which must agree.
double trimmed(const std::vector<uint16_t>& codes, SigmaRule sigma = SigmaRule::Population) {
  TrimRule rule;
  rule.sigma = sigma;
  const std::vector<double> values(codes.begin(), codes.end());
  const auto direct = reduce(values, rule);
  const auto counted = reduce(counts_of(codes), 1, rule);
  EXPECT_EQ(direct->trimmed_max, counted->trimmed_max);
  EXPECT_NEAR(direct->mean, counted->mean, 1e-9);
  EXPECT_NEAR(direct->sd, counted->sd, 1e-9);
  EXPECT_EQ(direct->max, counted->max);
  EXPECT_EQ(direct->min, counted->min);
  EXPECT_EQ(direct->count, counted->count);
  return counted->trimmed_max;
}

TEST(Reduce, NothingIsNotZero) {
  EXPECT_FALSE(reduce(std::span<const double>{}));
  EXPECT_FALSE(reduce(counts_of({}), 1));
  EXPECT_FALSE(reduce(counts_of({kNotAvailableCode, kStaleCode, kMissingCode}), 1));
}

// One spike among n samples: (1 - 1/n) <= 2 sqrt((n-1)/n^2), so n <= 5 keeps it; n = 5 is the
// border itself. With the sample's sigma (1 - 1/n) <= 2 sqrt(1/n): n <= 5 (n = 5: .8 <= .894), and
// at n = 6: .8333 > .8165.
TEST(Reduce, OneSpikeAmongN) {
  for (size_t n = 1; n <= 8; ++n) {
    std::vector<uint16_t> codes(n, 0);
    codes[n / 2] = 100;
    const double kept = n <= 5 ? 100 : 0;
    EXPECT_EQ(trimmed(codes), kept) << n;
    EXPECT_EQ(trimmed(codes, SigmaRule::Sample), kept) << n;
    codes[n / 2] = 7;
    EXPECT_EQ(trimmed(codes), n <= 5 ? 7 : 0) << n;
  }
}

TEST(Reduce, BorderAtFiveIsInsideForEveryLevel) {
  for (uint16_t level = 1; level <= 100; ++level) {
    EXPECT_EQ(trimmed({0, 0, level, 0, 0}), level);
  }
  // Levels that are not exact as doubles: the boundary is met only up to rounding.
  for (double level = 0.1; level < 100; level += 0.7) {
    const std::vector<double> values{0, 0, 0, 0, level};
    EXPECT_EQ(reduce(values)->trimmed_max, level) << level;
  }
}

TEST(Reduce, WithoutToleranceRoundingWouldDecide) {
  TrimRule strict;
  strict.tolerance = 0;
  size_t lost = 0;
  for (double level = 0.1; level < 100; level += 0.7) {
    const std::vector<double> values{0, 0, 0, 0, level};
    lost += reduce(values, strict)->trimmed_max != level;
  }
  EXPECT_GT(lost, 0U);
}

// On for a share p of the time: 1 - p <= 2 sqrt(p (1 - p)) holds from p = 0.2 on.
TEST(Reduce, OnOffSignalNearTwentyPercent) {
  for (const size_t n : {20U, 100U, 200U, 1000U}) {
    for (size_t on = n * 15 / 100; on <= n * 25 / 100; ++on) {
      std::vector<uint16_t> codes(n, 0);
      for (size_t i = 0; i < on; ++i) codes[i * n / on] = 97;
      EXPECT_EQ(trimmed(codes), 5 * on >= n ? 97 : 0) << on << " of " << n;
    }
  }
}

TEST(Reduce, QuantumScalesAllNumbers) {
  const auto half = reduce(counts_of({20, 30, 40}), 0.5);
  EXPECT_DOUBLE_EQ(half->mean, 15);
  EXPECT_DOUBLE_EQ(half->max, 20);
  EXPECT_NEAR(half->sd, std::sqrt(200.0 / 3) / 2, 1e-12);
}

RC_GTEST_PROP(Reduce, CountsAndValuesAgree, ()) {
  const auto raw = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<uint16_t>>(rc::gen::inRange<uint16_t>(0, 101)));
  for (const SigmaRule sigma : {SigmaRule::Population, SigmaRule::Sample}) {
    const double value = trimmed(raw, sigma);
    RC_ASSERT(value <= *std::ranges::max_element(raw));
    RC_ASSERT(std::ranges::find(raw, static_cast<uint16_t>(value)) != raw.end());
  }
}

}  // namespace
}  // namespace goban::site::series
