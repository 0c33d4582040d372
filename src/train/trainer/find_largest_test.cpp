#include "train/trainer/find_largest.hpp"

#include <gmock/gmock.h>

#include "train/trainer/stopping.hpp"
#include "train/trainer/test_runs.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;

TEST(FindLargest, TheBatchGrowsWithTheRanksAndThePlanPredictsIt) {
  LargestOptions options;
  options.train.model = "mlp";
  options.train.hidden = 32;
  options.train.memory_limit_bytes = 3'000'000;
  options.ranks = {1, 2};
  const auto all = find_largest(options);
  ASSERT_TRUE(all) << all.error().text();
  for (const Largest& each : *all) {
    EXPECT_GT(each.found, 0);
    EXPECT_NEAR(static_cast<double>(each.predicted) / static_cast<double>(each.found), 1, 0.25);
    EXPECT_LE(each.measured_bytes, 3'000'000);
    EXPECT_GT(each.measured_bytes, 2'700'000);  // one more does not fit
    EXPECT_THAT(each.refused, HasSubstr("the limit is 3000000"));
  }
  EXPECT_GT((*all)[1].found, 8 * (*all)[0].found / 5);
  EXPECT_THAT(largest_text(options, *all), HasSubstr("largest batch within 3000000 bytes"));
}

class FindLargestRuns : public ::testing::Test, protected TestRuns {
 protected:
  FindLargestRuns() : TestRuns("largest") {}
};

TEST_F(FindLargestRuns, WhatIsFoundIsTrainedUnderTheSameLimit) {
  LargestOptions search;
  search.train = options_;
  search.train.batch_size = 120;
  search.train.memory_limit_bytes = 3'000'000;
  search.growing = Growing::Hidden;
  search.ranks = {2};
  const auto all = find_largest(search);
  ASSERT_TRUE(all) << all.error().text();
  const Largest& found = all->front();
  EXPECT_GT(found.planned_bytes, 3'000'000);  // the plan alone does not decide
  TrainOptions train = search.train;
  train.hidden = found.found;
  train.mesh = "x:2";
  train.layout = found.layout;
  train.epochs = 1;
  const auto trained = run(train);
  ASSERT_TRUE(trained) << trained.error().text();
  train.hidden += 64;
  const auto larger = run(train);
  ASSERT_FALSE(larger);
  EXPECT_THAT(larger.error().text(), HasSubstr("device memory exhausted"));
  train.hidden = 4096;
  EXPECT_THAT(run(train).error().text(), HasSubstr("the variables of a device are"));
}

TEST(FindLargest, ASplitModelIsLarger) {
  LargestOptions options;
  options.train.task = "lm";
  options.train.model = "causal";
  options.train.batch_size = 2;
  options.train.transformer.length = 16;
  options.train.optimizer.kind = mesh::OptimizerOptions::Kind::Sgd;
  options.train.memory_limit_bytes = 4'000'000;
  options.growing = Growing::DFf;
  options.ranks = {1, 2};
  const auto all = find_largest(options);
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_GT((*all)[1].found, 3 * (*all)[0].found / 2);
}

TEST(FindLargest, NeedsALimitAndALegalLayout) {
  LargestOptions options;
  EXPECT_THAT(find_largest(options).error().text(), HasSubstr("requires a memory limit"));
  options.train.memory_limit_bytes = 1'000'000;
  options.train.layout = "bacth:x";
  options.ranks = {2};
  EXPECT_THAT(find_largest(options).error().text(), HasSubstr("did you mean 'batch'"));
}

TEST(FindLargest, ZeroMeansThatNothingFits) {
  LargestOptions options;
  options.train.memory_limit_bytes = 1000;
  options.ranks = {1};
  const auto all = find_largest(options);
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].found, 0);
  EXPECT_EQ((*all)[0].predicted, 0);
}

TEST(FindLargest, ASignalEndsTheSearchWithWhatWasFound) {
  LargestOptions options;
  options.train.memory_limit_bytes = 3'000'000;
  stop_requested = true;
  const auto all = find_largest(options);
  stop_requested = false;
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_TRUE(all->empty());
}

}  // namespace
}  // namespace goban::train::trainer
