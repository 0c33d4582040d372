#include <gtest/gtest.h>

#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

model::JobState job(uint32_t arrival, int32_t gpus, double attained_s) {
  model::JobState state;
  state.arrival = arrival;
  state.request.num_gpus = gpus;
  state.attained_before_ns = base::from_seconds(attained_s);
  return state;
}

OrderKey key(const model::JobState& state, double now_s = 0) {
  return test_part("las-levels").order->key(state, {}, base::from_seconds(now_s));
}

TEST(AttainedLevels, GpuTimeInLevelsThatDouble) {
  EXPECT_LT(key(job(0, 1, 0)), key(job(1, 1, 3599)));     // same level: by arrival
  EXPECT_LT(key(job(1, 1, 3599)), key(job(0, 1, 3600)));  // the second level
  EXPECT_LT(key(job(0, 1, 3600)), key(job(1, 1, 7199)));
  EXPECT_LT(key(job(1, 1, 7199)), key(job(0, 1, 7200)));
  EXPECT_LT(key(job(0, 1, 7200)), key(job(1, 4, 3599)));  // 7,200 and 14,396 GPU-seconds
  EXPECT_LT(key(job(1, 4, 3599)), key(job(0, 4, 3600)));
}

TEST(AttainedLevels, RunningJobsDrift) {
  model::JobState running = job(0, 2, 0);
  running.phase = model::JobPhase::Running;
  EXPECT_LT(key(running, 1799), key(job(1, 1, 0)));
  EXPECT_GT(key(running, 1800), key(job(1, 1, 0)));
  EXPECT_TRUE(test_part("las-levels").order->drifts());
}

TEST(AttainedLevels, PriorityThenPromotedThenOthers) {
  model::JobState urgent = job(3, 8, 1e6);
  urgent.request.priority = 2;
  model::JobState high = job(2, 8, 1e6);
  high.request.priority = 1;
  model::JobState starved = job(1, 8, 1e6);
  starved.promoted = true;
  model::JobState low = job(4, 1, 0);
  low.request.priority = -5;  // no effect
  EXPECT_LT(key(urgent), key(high));
  EXPECT_LT(key(high), key(starved));
  EXPECT_LT(key(starved), key(job(0, 1, 0)));
  EXPECT_LT(key(job(0, 1, 0)), key(low));
}

TEST(AttainedLevels, ForeverIsStillALevel) {
  const base::TimeNs most = base::kNever - 1;
  model::JobState old = job(0, 1 << 30, 0);
  old.attained_before_ns = most;
  EXPECT_GT(key(old), key(job(1, 1, 1e9)));
}

}  // namespace
}  // namespace goban::core::policy
