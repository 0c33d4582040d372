#include "core/policy/sharing/memory.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace goban::core::policy {
namespace {

using knowledge::ColocationHistory;
using knowledge::GpuTypeId;
using knowledge::PredictionLevel;

class SharingMemoryTest : public testing::Test {
 public:
  SharingMemoryTest() : v100(seed.add_gpu_type("V100")) {
    for (const char* model : {"a", "b", "c"}) seed.add_app(model, "");
  }
  static AppId app(uint32_t number) { return AppId(number); }

  ColocationHistory seed;
  GpuTypeId v100;
};

TEST_F(SharingMemoryTest, LearnsSetsAndTheirMeans) {
  SharingMemory memory(seed, {});
  const std::vector<AppId> pair = {app(1), app(0)};
  EXPECT_EQ(memory.predictor().predict(v100, pair).level, PredictionLevel::Pessimistic);
  memory.observed(v100, pair, std::vector<double>{1.5, 1.1});
  auto learned = memory.predictor().predict(v100, pair);
  EXPECT_EQ(learned.level, PredictionLevel::Measured);
  EXPECT_DOUBLE_EQ(learned.mean[0], 1.5);
  EXPECT_DOUBLE_EQ(learned.mean[1], 1.1);
  memory.observed(v100, pair, std::vector<double>{1.7, 1.1});
  learned = memory.predictor().predict(v100, pair);
  EXPECT_DOUBLE_EQ(learned.mean[0], 1.6);
  EXPECT_TRUE(seed.sets().empty());  // the seed is not changed
}

TEST_F(SharingMemoryTest, LearnsNothingFromWhatIsNoMeasurement) {
  SharingMemory memory(seed, {});
  const std::vector<AppId> pair = {app(0), app(1)};
  memory.observed({}, pair, std::vector<double>{1, 1});
  memory.observed(v100, std::vector<AppId>{app(0), AppId{}}, std::vector<double>{1, 1});
  memory.observed(v100, std::vector<AppId>{app(0)}, std::vector<double>{1});
  memory.observed(v100, std::vector<AppId>(9, app(0)), std::vector<double>(9, 1));
  memory.observed(v100, pair, std::vector<double>{1});
  for (const double bad : {0.0, -1.0, 1e7, std::numeric_limits<double>::quiet_NaN()}) {
    memory.observed(v100, pair, std::vector<double>{1, bad});
  }
  EXPECT_TRUE(memory.history().sets().empty());
}

TEST_F(SharingMemoryTest, ARejectedSetStaysRejectedInAnyOrder) {
  SharingMemory memory(seed, {});
  const JobId job(uint32_t{7});
  const std::vector<JobId> two = {JobId(uint32_t{5}), JobId(uint32_t{2})};
  const std::vector<JobId> turned = {two[1], two[0]};
  EXPECT_EQ(memory.last_undo_ns(job), -1);
  memory.undone(job, two, 100);
  memory.undone(job, turned, 200);
  EXPECT_TRUE(memory.rejected(job, turned));
  EXPECT_FALSE(memory.rejected(job, std::span(two).first(1)));
  EXPECT_FALSE(memory.rejected(two[0], std::vector<JobId>{job, two[1]}));
  EXPECT_EQ(memory.last_undo_ns(job), 200);
  memory.forget(job);
  EXPECT_FALSE(memory.rejected(job, two));
  EXPECT_EQ(memory.last_undo_ns(job), -1);
}

TEST_F(SharingMemoryTest, BrokenPairsAreCountedBothWays) {
  SharingMemory memory(seed, {});
  memory.broke(app(0), std::vector<AppId>{app(1), app(1), AppId{}, app(0)});
  EXPECT_EQ(memory.times_broken(app(1), app(0)), 1U);
  EXPECT_EQ(memory.times_broken(app(0), app(0)), 1U);
  EXPECT_EQ(memory.times_broken(app(0), app(2)), 0U);
  memory.broke(app(1), std::vector<AppId>{app(0)});
  EXPECT_EQ(memory.times_broken(app(0), app(1)), 2U);
  memory.broke(AppId{}, std::vector<AppId>{app(0)});
  EXPECT_EQ(memory.times_broken(AppId{}, app(0)), 0U);
}

}  // namespace
}  // namespace goban::core::policy
