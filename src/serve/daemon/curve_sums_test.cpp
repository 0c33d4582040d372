#include "serve/daemon/curve_sums.hpp"

#include <gtest/gtest.h>

namespace goban::serve::daemon {
namespace {

using base::kSecond;

TEST(GpuCurves, APointIsTheMeanOfItsTime) {
  const GpuWindow window{.gpus = {core::model::GpuId(0U), core::model::GpuId(1U)},
                         .from_ns = 100 * kSecond,
                         .to_ns = 400 * kSecond,
                         .points_max = 3};
  CurveSums sums(window, kSecond);
  sums.add(0, 100'000, {.util_pct = 20, .mem_used_bytes = 10, .power_w = 100});
  sums.add(0, 199'999, {.util_pct = 40, .mem_used_bytes = 30});
  sums.add(0, 399'000, {.power_w = 300});
  for (const int64_t outside : {0, 99'999, 400'000, 999'000})
    sums.add(0, outside, {.util_pct = 99});
  const GpuCurves curves = sums.take();
  EXPECT_EQ(curves.step_s, 100);
  ASSERT_EQ(curves.gpus.size(), 2U);
  EXPECT_TRUE(curves.gpus[1].empty());
  ASSERT_EQ(curves.gpus[0].size(), 2U) << "none for the time without readings";
  const GpuPoint& first = curves.gpus[0][0];
  EXPECT_EQ(first.at_s, 150);
  EXPECT_EQ(first.mean.util_pct, 30);
  EXPECT_EQ(first.mean.mem_used_bytes, 20);
  EXPECT_EQ(first.mean.power_w, 100);
  EXPECT_EQ(curves.gpus[0][1].at_s, 350);
  EXPECT_EQ(curves.gpus[0][1].mean.util_pct, -1);
  EXPECT_EQ(curves.gpus[0][1].mean.power_w, 300);
}

TEST(GpuCurves, AShortWindowHasFewerPoints) {
  const GpuWindow window{
      .gpus = {core::model::GpuId(0U)}, .to_ns = 25 * kSecond, .points_max = 1000};
  CurveSums sums(window, 10 * kSecond);
  for (int64_t at_s = 0; at_s < 25; ++at_s) sums.add(0, at_s * 1000, {.util_pct = 1});
  EXPECT_EQ(sums.take().gpus[0].size(), 3U);
  const GpuWindow empty{.gpus = {core::model::GpuId(0U)}, .from_ns = kSecond, .to_ns = kSecond};
  EXPECT_TRUE(CurveSums(empty, kSecond).take().gpus[0].empty());
}

}  // namespace
}  // namespace goban::serve::daemon
