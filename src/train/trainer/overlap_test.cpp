// Runs whose gradients are summed while they compute.
#include <algorithm>
#include <gmock/gmock.h>
#include <memory>

#include "train/mesh/buckets.hpp"
#include "train/mesh/planner.hpp"
#include "train/trainer/test_runs.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {
namespace {

using mesh::Overlap;
using ::testing::HasSubstr;

class OverlapRuns : public TestRuns, public ::testing::Test {
 protected:
  OverlapRuns() : TestRuns("overlap_runs") {
    options_.mesh = "x:2";
    options_.layout = "batch:x";
  }
};

TEST_F(OverlapRuns, BucketsGiveTheSameBits) {
  for (const auto& [mesh, layout] : {std::pair("x:2", "batch:x"), std::pair("x:2", "hidden:x"),
                                     std::pair("x:2;y:2", "batch:x;hidden:y")}) {
    for (const auto kind :
         {mesh::OptimizerOptions::Kind::Adafactor, mesh::OptimizerOptions::Kind::AdamW,
          mesh::OptimizerOptions::Kind::Momentum}) {
      options_.mesh = mesh;
      options_.layout = layout;
      options_.optimizer.kind = kind;
      options_.overlap = Overlap::Off;
      options_.epochs = 2;
      const auto off = run(options_);
      ASSERT_TRUE(off) << off.error().text();
      options_.overlap = Overlap::Buckets;
      for (const int64_t bucket_bytes : {1, 4000, 1 << 20}) {
        options_.bucket_bytes = bucket_bytes;
        const auto buckets = run(options_);
        ASSERT_TRUE(buckets) << buckets.error().text();
        EXPECT_EQ(off->back().train_loss, buckets->back().train_loss) << layout;
        EXPECT_EQ(off->back().test_loss, buckets->back().test_loss) << layout;
      }
    }
  }
}

TEST_F(OverlapRuns, MicroBatchesAndSmallerLastBatchesGiveTheSameBits) {
  options_.batch_size = 44;  // 240 samples: five whole batches and one of 20
  options_.micro_batches = 2;
  const auto off = run(options_);
  options_.overlap = Overlap::Buckets;
  const auto buckets = run(options_);
  ASSERT_TRUE(off && buckets) << buckets.error().text();
  EXPECT_EQ(off->back().test_loss, buckets->back().test_loss);
}

TEST_F(OverlapRuns, CompressedBucketsRoundTheGradients) {
  options_.overlap = Overlap::Buckets;
  options_.epochs = 12;
  const auto exact = run(options_);
  options_.bf16_buckets = true;
  const auto rounded = run(options_);
  ASSERT_TRUE(exact && rounded) << rounded.error().text();
  EXPECT_NE(exact->back().test_loss, rounded->back().test_loss);
  EXPECT_NEAR(exact->back().test_loss, rounded->back().test_loss, 0.05);
  options_.overlap = Overlap::Delayed;
  EXPECT_TRUE(run(options_));
}

TEST_F(OverlapRuns, DelayedUpdatesLearnAndDiffer) {
  options_.epochs = 12;
  const auto off = run(options_);
  options_.overlap = Overlap::Delayed;
  const auto delayed = run(options_);
  ASSERT_TRUE(off && delayed) << delayed.error().text();
  EXPECT_NE(off->back().test_loss, delayed->back().test_loss);
  EXPECT_GT(delayed->back().test_accuracy, 0.9);
  options_.batch_size = 50;
  EXPECT_THAT(run(options_).error().text(), HasSubstr("--last-batch drop"));
  options_.batch_size = 24;
  options_.layout = "hidden:x";
  EXPECT_THAT(run(options_).error().text(), HasSubstr("not a sum over devices of its own"));
}

TEST_F(OverlapRuns, DelayedWithSgdIsTheUpdateOfTheStepBefore) {
  // One step of a delayed run changes nothing; two steps equal one step with the first batch, up to
  // the position: the loss before any update is that of the first step of both.
  options_.overlap = Overlap::Delayed;
  options_.optimizer.kind = mesh::OptimizerOptions::Kind::Sgd;
  options_.most_steps = 1;
  const auto delayed = run(options_);
  options_.optimizer.learning_rate = 1e-30;
  options_.overlap = Overlap::Off;
  const auto still = run(options_);
  options_.most_steps = 2;
  ASSERT_TRUE(delayed && still);
  EXPECT_EQ(delayed->back().test_loss, still->back().test_loss);
  options_.overlap = Overlap::Delayed;
  options_.optimizer.learning_rate = 0;
  const auto moved = run(options_);
  ASSERT_TRUE(moved);
  EXPECT_NE(moved->back().test_loss, still->back().test_loss);
}

/// A step of 8 samples on two devices, which split the batch, and its plan on the first.
class Buckets : public ::testing::Test {
 protected:
  static TrainOptions mlp() {
    TrainOptions options;
    options.model = "mlp";
    options.hidden = 64;
    return options;
  }
  void lower(TrainOptions options) {
    options.batch_size = 8;
    auto step = build_step(options);
    ASSERT_TRUE(step);
    step_ = std::move(*step);
    const mesh::MeshShape mesh(std::vector<mesh::Dim>{{"x", 2}});
    auto plan =
        mesh::lower(step_->graph, step_->roots(), mesh, *mesh::LayoutRules::parse("batch:x"), 0);
    ASSERT_TRUE(plan);
    plan_ = std::move(*plan);
  }

  std::unique_ptr<StepGraph> step_;
  mesh::Plan plan_;
};

TEST_F(Buckets, FollowTheBackwardPass) {
  ASSERT_NO_FATAL_FAILURE(lower(mlp()));
  const auto buckets = mesh::buckets_of(step_->graph, plan_, 20'000);
  ASSERT_GE(buckets.size(), 2U);
  size_t gradients = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_LE(buckets[i - (i > 0 ? 1 : 0)].ready_after, buckets[i].ready_after);
    for (const mesh::NodeId id : buckets[i].values) {
      gradients += static_cast<size_t>(std::ranges::count(step_->gradients, id));
    }
  }
  // The gradient of the first layer is computed last, and is as large as ten buckets.
  EXPECT_GE(gradients, step_->gradients.size() - 1);
}

TEST_F(Buckets, HideBehindTheConvolutions) {
  ASSERT_NO_FATAL_FAILURE(lower({}));
  const auto buckets = mesh::buckets_of(step_->graph, plan_, 1 << 20);
  const auto flops_after = [&](size_t at) {
    double sum = 0;
    for (size_t s = at + 1; s < plan_.steps.size(); ++s) sum += plan_.steps[s].flops;
    return sum;
  };
  // All but the filter of the first convolution, 5 KB, are sent before the second one's gradient
  // with respect to its input is computed: a third of all computing.
  const double third = flops_after(0) / 4;
  int64_t late_bytes = 0;
  for (const mesh::Bucket& each : buckets) {
    if (flops_after(each.ready_after) >= third) continue;
    for (const mesh::NodeId id : each.values) late_bytes += step_->graph.node(id).shape.size() * 4;
  }
  EXPECT_GT(late_bytes, 0);
  EXPECT_LE(late_bytes, 6'000);
  // Updates begin while the last bucket is on its way.
  const auto awaited = mesh::awaited_at(step_->graph, plan_, buckets);
  ASSERT_EQ(awaited.size(), plan_.steps.size() + 1);
  size_t waits = 0;
  std::vector<size_t> of_bucket;
  for (const auto& values : awaited) {
    waits += values.size();
    for (const mesh::NodeId id : values) {
      if (std::ranges::count(step_->gradients, id) == 0) continue;  // the loss is used by nobody
      for (size_t b = 0; b < buckets.size(); ++b) {
        if (std::ranges::count(buckets[b].values, id) > 0) of_bucket.push_back(b);
      }
    }
  }
  size_t sent = 0;
  for (const mesh::Bucket& each : buckets) sent += each.values.size();
  EXPECT_EQ(waits, sent) << "each sum is waited for once";
  ASSERT_FALSE(of_bucket.empty());
  EXPECT_EQ(of_bucket.front(), 0U);
  EXPECT_EQ(of_bucket.back(), buckets.size() - 1);
}

TEST_F(Buckets, ThePlannerCountsExposedCommunicationOnly) {
  ASSERT_NO_FATAL_FAILURE(lower(mlp()));
  const auto plain = [&](const mesh::CostModel& costs) {
    return mesh::predicted_step_s(step_->graph, plan_, costs, 1);
  };
  const auto overlapped = [&](const mesh::CostModel& costs) {
    return mesh::overlapped_step_s(step_->graph, plan_, costs, 1, 20'000);
  };
  mesh::CostModel costs{0, 1e-9, 1e7, 1e9};  // computing takes much longer than sending
  mesh::CostModel free_links = costs;
  free_links.beta_s_per_byte = 0;
  const double work_s = plain(free_links), sent_s = plain(costs) - work_s;
  EXPECT_GT(sent_s, 0);
  EXPECT_GE(overlapped(costs), work_s);
  EXPECT_LT(overlapped(costs), work_s + 0.95 * sent_s);  // the last bucket is the largest
  costs.beta_s_per_byte = 1;  // the links are all that counts: nothing is hidden
  EXPECT_NEAR(overlapped(costs) / plain(costs), 1, 1e-3);
}

}  // namespace
}  // namespace goban::train::trainer
