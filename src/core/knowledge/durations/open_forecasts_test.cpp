#include "core/knowledge/durations/open_forecasts.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

using model::JobId;

DurationTraits random_job(base::Random& random) {
  DurationTraits out{.num_gpus = static_cast<int32_t>(random.below(9))};
  out.user = model::UserId(static_cast<uint32_t>(random.below(5)));
  if (random.below(2) > 0) out.name = model::ModelId(static_cast<uint32_t>(random.below(3)));
  if (random.below(2) > 0) out.limit_s = 3600;
  out.script = static_cast<uint32_t>(random.below(3));
  return out;
}

/// Jobs `from` to `to` are submitted; every second one ends ten later.
void go_on(OpenForecasts& forecasts, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; ++i) {
    base::Random random(i);
    forecasts.submitted(JobId(i), random_job(random));
    if (i % 2 == 0 && i >= 10)
      forecasts.ended(JobId(i - 10), static_cast<double>(random.below(5000)));
  }
}

TEST(OpenForecasts, WhatWasWrittenGoesOnAlike) {
  OpenForecasts one;
  go_on(one, 0, 200);
  OpenForecasts other;
  const std::string bytes = one.bytes();
  base::ByteReader in({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  ASSERT_TRUE(other.read(in));
  EXPECT_EQ(other.bytes(), bytes);
  go_on(one, 200, 400);
  go_on(other, 200, 400);
  EXPECT_EQ(other.bytes(), one.bytes());
}

TEST(OpenForecasts, BytesOfTheFormerFormatAreRead) {
  OpenForecasts one;
  OpenForecasts other;
  const DurationTraits job{.user = model::UserId(1U), .num_gpus = 1};
  one.submitted(JobId(0U), job);
  std::string bytes = one.bytes();
  // The only open job is at the end: after its traits, the script, then a mark, how well the user
  // is known, the distribution, and the quantiles of the mixtures.
  constexpr size_t kDistribution = kDurationBins / 8 + sizeof(float) * kDurationBins;
  constexpr size_t kQuantiles = 6 * sizeof(float);
  bytes.erase(bytes.size() - kQuantiles);
  bytes.erase(bytes.size() - kDistribution - 2 - sizeof(uint32_t), sizeof(uint32_t));
  // After the number of runs and three calibrations of 65 numbers, the losses.
  bytes.erase(sizeof(uint64_t) + 3 * 65 * sizeof(double), 2 * sizeof(double));
  base::ByteReader in({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  ASSERT_TRUE(other.read(in, 1));
  other.ended(JobId(0U), 100);
  one.ended(JobId(0U), 100);
  EXPECT_EQ(other.learned(), 1U);
  EXPECT_EQ(other.predict(job).distribution, one.predict(job).distribution);
}

TEST(OpenForecasts, DamagedBytesAreRefused) {
  OpenForecasts one;
  go_on(one, 0, 60);
  const std::string bytes = one.bytes();
  for (size_t keeps = 0; keeps < bytes.size(); keeps += 97) {
    OpenForecasts other;
    base::ByteReader in({reinterpret_cast<const uint8_t*>(bytes.data()), keeps});
    EXPECT_FALSE(other.read(in)) << keeps;
  }
}

TEST(OpenForecasts, ThePastTeachesInTheOrderOfItsTimes) {
  // Ten jobs of 100 s, then ten of 1,000 s of another user, given in another order.
  std::vector<EndedRun> runs;
  for (uint32_t i = 0; i < 40; ++i) {
    const uint32_t user = i % 2;
    const base::TimeNs at = base::from_seconds(1000.0 * i);
    runs.push_back({.traits = {.user = model::UserId(user), .num_gpus = 1},
                    .submit_ns = at,
                    .end_ns = at + base::from_seconds(1000),
                    .run_s = user == 0 ? 100.0 : 1000.0});
  }
  OpenForecasts sorted;
  sorted.learn_past(runs);
  std::reverse(runs.begin(), runs.end());
  OpenForecasts shuffled;
  shuffled.learn_past(runs);
  EXPECT_EQ(sorted.bytes(), shuffled.bytes());
  EXPECT_EQ(sorted.learned(), 40U);
  const DurationForecast quick = sorted.predict({.user = model::UserId(0U), .num_gpus = 1});
  EXPECT_GT(quick.p50_s, 80);
  EXPECT_LT(quick.p50_s, 130);
}

}  // namespace
}  // namespace goban::core::knowledge
