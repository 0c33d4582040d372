#include "train/trainer/compare_layouts.hpp"

#include <gmock/gmock.h>

#include "train/comm/thread_world.hpp"
#include "train/trainer/stopping.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;

base::Result<Comparison> compared(const TrainOptions& options, int64_t most, int ranks) {
  Comparison out;
  const auto status = comm::run_threads(ranks, {}, [&](comm::Communicator& end) -> base::Status {
    auto got = compare_layouts(options, most, end);
    if (!got) return base::failure(got.error());
    if (end.rank() == 0) out = std::move(*got);
    return {};
  });
  if (!status) return base::failure(status.error());
  return out;
}

TrainOptions small() {
  TrainOptions options;
  options.model = "mlp";
  options.hidden = 16;
  options.batch_size = 8;
  return options;
}

TEST(CompareLayouts, MeasuresTheBestPredictionsInTheirOrder) {
  TrainOptions options = small();
  options.layout = "auto";
  const auto got = compared(options, 5, 4);  // on meshes of 4 and of 2x2
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ(got->layouts.size(), 5U);
  EXPECT_GT(got->legal, 20U);
  double before = 0;
  for (const ComparedLayout& each : got->layouts) {
    EXPECT_GE(each.choice.step_s, before);
    before = each.choice.step_s;
    EXPECT_GT(each.measured_s, 0);
    EXPECT_EQ(each.choice.mesh.devices(), 4);
  }
  const std::string text = comparison_text(*got);
  EXPECT_THAT(text, HasSubstr("5 of "));
  EXPECT_THAT(text, HasSubstr(got->layouts.back().choice.rules.text()));
  EXPECT_THAT(text, HasSubstr("the planner's choice takes "));
}

TEST(CompareLayouts, AMeshThatIsGivenIsTheOnlyOneLookedAt) {
  TrainOptions options = small();
  options.mesh = "rows:2";
  const auto got = compared(options, 1000, 2);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->layouts.size(), got->legal);
  for (const ComparedLayout& each : got->layouts) EXPECT_EQ(each.choice.mesh.text(), "rows:2");
}

TEST(CompareLayouts, WhatCannotBeComparedIsSaid) {
  TrainOptions options = small();
  options.layout = "batch:x";
  EXPECT_THAT(compared(options, 5, 1).error().text(), HasSubstr("mutually exclusive"));
  options.layout.clear();
  options.memory_limit_bytes = 1000;
  EXPECT_THAT(compared(options, 5, 1).error().text(), HasSubstr("no legal layout fits"));
}

TEST(CompareLayouts, ASignalEndsIt) {
  stop_requested = true;
  const auto got = compared(small(), 5, 2);
  stop_requested = false;
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_TRUE(got->stopped);
  EXPECT_TRUE(got->layouts.empty());
}

}  // namespace
}  // namespace goban::train::trainer
