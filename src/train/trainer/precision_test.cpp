// Half precision, loss scaling, precision of single layers, and warm-up.
#include <gmock/gmock.h>

#include "train/comm/thread_world.hpp"
#include "train/trainer/prepared_run.hpp"
#include "train/trainer/test_runs.hpp"

namespace goban::train::trainer {
namespace {

using mesh::DType;
using Kind = mesh::OptimizerOptions::Kind;
using ::testing::HasSubstr;

class PrecisionRuns : public TestRuns, public ::testing::Test {
 protected:
  PrecisionRuns() : TestRuns("precision_runs") {}

  double last_loss(const TrainOptions& options) {
    const auto result = run(options);
    EXPECT_TRUE(result) << result.error().text();
    return result ? result->back().test_loss : 0;
  }
};

TEST_F(PrecisionRuns, Fp16TrainsOnOneAndTwoDevices) {
  options_.epochs = 30;
  const auto full = run(options_);
  options_.precision = DType::F16;
  const auto half = run(options_);
  ASSERT_TRUE(full && half) << half.error().text();
  EXPECT_NE(half->back().test_loss, full->back().test_loss);
  EXPECT_NEAR(half->back().test_accuracy, full->back().test_accuracy, 0.08);
  options_.mesh = "x:2";
  for (const char* layout : {"batch:x", "hidden:x"}) {
    options_.layout = layout;
    const auto split = run(options_);
    ASSERT_TRUE(split) << split.error().text();
    EXPECT_NEAR(split->back().test_accuracy, half->back().test_accuracy, 0.08) << layout;
  }
}

TEST_F(PrecisionRuns, AStepWhoseGradientsOverflowChangesNothing) {
  options_.precision = DType::F16;
  options_.loss_scale = 1e30;
  options_.optimizer.kind = Kind::AdamW;
  options_.most_steps = 6;
  const auto refused = run(options_);
  ASSERT_FALSE(refused) << "nothing was learned";
  EXPECT_THAT(refused.error().text(), HasSubstr("all 6 steps up to step 6 were skipped"));
  EXPECT_THAT(refused.error().text(), HasSubstr("a smaller --loss-scale"));
  const auto change = [&](double scale) {
    options_.loss_scale = scale;
    double out = -1;
    const auto status = comm::run_threads(1, {}, [&](comm::Communicator& end) -> base::Status {
      auto ready = prepare_run(options_, end);
      if (!ready) return base::failure(ready.error());
      TrainingStep& step = *ready->whole;
      const auto first = [&] { return step.variables().whole(0).value().clone(); };
      const at::Tensor before = first();
      auto fed = ready->batches->train(0, 0, step.step().micro_batch);
      if (!fed) return base::failure(fed.error());
      const auto values = step.run({*fed}, 0);
      if (!values) return base::failure(values.error());
      out = first().sub(before).abs().max().item<double>();
      EXPECT_EQ(values->is_skipped, out == 0);
      return {};
    });
    EXPECT_TRUE(status) << status.error().text();
    return out;
  };
  EXPECT_EQ(change(1e30), 0);
  EXPECT_GT(change(0), 0) << "the scale that is found works";
}

TEST_F(PrecisionRuns, WithoutScalingSmallGradientsAreLost) {
  options_.precision = DType::F16;
  options_.optimizer.kind = Kind::Sgd;
  options_.optimizer.learning_rate = 1e-30;
  const double before = last_loss(options_);
  options_.optimizer.learning_rate = 0.05;
  options_.loss_scale = 1e-8;
  EXPECT_EQ(last_loss(options_), before);
  options_.loss_scale = 1024;
  EXPECT_LT(last_loss(options_), before);
}

TEST_F(PrecisionRuns, TheScaleIsResumed) {
  options_.precision = DType::F16;
  const double whole = last_loss(options_);
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 2;
  (void)last_loss(options_);
  options_.epochs = 4;
  EXPECT_EQ(last_loss(options_), whole);
}

TEST_F(PrecisionRuns, LayersHaveTypesOfTheirOwn) {
  const double full = last_loss(options_);
  options_.layer_precision = {{"^hidden2/", DType::BF16}};
  const double one = last_loss(options_);
  EXPECT_NE(one, full);
  EXPECT_NEAR(one, full, 0.2);
  options_.layer_precision = {{"^hidden2/", DType::F32}, {"hidden2", DType::BF16}};
  EXPECT_EQ(last_loss(options_), full);  // the first match applies
  options_.layer_precision = {{"(", DType::BF16}};
  EXPECT_THAT(run(options_).error().text(), HasSubstr("'(' is not a valid regular expression"));
}

// fp16 has variables for its loss scale.
TEST_F(PrecisionRuns, AChangeOfPrecisionIsNamedAsACause) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  options_.precision = DType::F16;
  const auto refused = run(options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("variables, but the model has"));
  EXPECT_THAT(refused.error().text(), HasSubstr("another model, optimiser or precision"));
}

TEST_F(PrecisionRuns, APatternWithoutALayerIsRefused) {
  options_.layer_precision = {{"hidden", DType::BF16}, {"no_such_layer", DType::F16}};
  const auto refused = run(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::Usage);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("--precision-of: 'no_such_layer' matches no layer of the model"));
  EXPECT_THAT(refused.error().text(), HasSubstr("hidden1/kernel, hidden1/bias, hidden2/kernel"));
  EXPECT_THAT(refused.error().text(), HasSubstr("logits/bias"));
}

TEST_F(PrecisionRuns, ATransformerMixesTypesOfItsLayers) {
  const std::string text = (folder_ / "text.txt").string();
  std::string words;
  for (int i = 0; i < 400; ++i) words += "the cat sat on the mat. ";
  std::FILE* file = std::fopen(text.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(words.c_str(), file);
  std::fclose(file);
  TrainOptions lm = language_model(text);
  lm.epochs = 1;
  lm.transformer.length = 16;
  lm.transformer.blocks = 1;
  lm.precision = DType::F16;
  const auto half = run(lm);
  ASSERT_TRUE(half) << half.error().text();
  lm.layer_precision = {{"norm", DType::F32}, {"key|embedding", DType::BF16}};
  const auto mixed = run(lm);
  ASSERT_TRUE(mixed) << mixed.error().text();
  EXPECT_NEAR(mixed->back().test_loss, half->back().test_loss, 0.3);
}

TEST_F(PrecisionRuns, DelayedGradientsAreRefusedWithFp16) {
  options_.precision = DType::F16;
  options_.overlap = mesh::Overlap::Delayed;
  EXPECT_THAT(run(options_).error().text(), HasSubstr("cannot be combined with fp16"));
}

TEST_F(PrecisionRuns, WarmUpScalesTheFirstSteps) {
  for (const Kind kind : {Kind::Sgd, Kind::Momentum, Kind::AdamW, Kind::Adafactor}) {
    options_.most_steps = 1;
    options_.optimizer = {};
    options_.optimizer.kind = kind;
    options_.optimizer.learning_rate = 0.02;
    options_.optimizer.warmup_steps = 4;
    const double warm = last_loss(options_);
    options_.optimizer.warmup_steps = 0;
    const double hot = last_loss(options_);
    options_.optimizer.learning_rate = 0.005;
    EXPECT_NEAR(warm, last_loss(options_), 1e-5) << static_cast<int>(kind);
    EXPECT_NE(warm, hot);
  }
}

}  // namespace
}  // namespace goban::train::trainer
