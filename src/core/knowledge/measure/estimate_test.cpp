#include "core/knowledge/measure/estimate.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

/// Times with a long upper tail and median 1.
double slow_tail(base::Random& random) {
  const double u = 1 - random.uniform();
  return std::pow(0.5 / u, 0.05);
}

TEST(MeasureEstimate, TheIntervalCoversTheMedianAsStated) {
  for (const size_t blocks : {6u, 8u, 12u, 16u}) {
    base::Random random(blocks);
    constexpr int kRepeats = 4000;
    int covered = 0;
    for (int i = 0; i < kRepeats; ++i) {
      std::vector<double> times;
      for (size_t b = 0; b < blocks; ++b) times.push_back(slow_tail(random));
      const TimeEstimate estimate = estimate_time(times);
      ASSERT_TRUE(estimate.has_interval());
      covered += estimate.low_s <= 1 && 1 <= estimate.high_s ? 1 : 0;
    }
    EXPECT_GE(covered / double{kRepeats}, kIntervalLevel - 0.01) << blocks;
  }
}

TEST(MeasureEstimate, FewBlocksAllowNoInterval) {
  const TimeEstimate five = estimate_time(std::vector<double>{5, 1, 2, 4, 3});
  EXPECT_FALSE(five.has_interval());
  EXPECT_EQ(five.time_s, 3);
  const TimeEstimate six = estimate_time(std::vector<double>{6, 1, 2, 5, 4, 3});
  EXPECT_EQ(six.low_s, 1);
  EXPECT_EQ(six.high_s, 6);
}

TEST(MeasureEstimate, TheLowerBoundIsAsSureAsAsked) {
  const std::vector<double> eight{8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_FALSE(lower_bound(eight, 0.0039));
  EXPECT_EQ(lower_bound(eight, 0.004), 1);  // 2^-8
  EXPECT_EQ(lower_bound(eight, 0.036), 2);  // 9 / 256
  EXPECT_EQ(lower_bound(eight, 0.999), 8);
}

TEST(MeasureEstimate, NamesReadBack) {
  for (const Kernel kernel : kKernels) EXPECT_EQ(parse_kernel(kernel_name(kernel)), kernel);
  EXPECT_FALSE(parse_kernel("fast"));
}

}  // namespace
}  // namespace goban::core::knowledge
