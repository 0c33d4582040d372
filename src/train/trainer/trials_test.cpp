// Comparisons of runs, with runs whose results are known.
#include "train/trainer/trials.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "train/trainer/accuracy.hpp"
#include "train/trainer/scaling.hpp"
#include "train/trainer/tuning.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;

EpochResult row(int64_t step, double loss, double accuracy, double train_s, double rate) {
  EpochResult out;
  out.step = step;
  out.test_loss = loss;
  out.test_accuracy = accuracy;
  out.train_s = train_s;
  out.samples_per_s = rate;
  return out;
}

double seed_noise(const TrainOptions& options) {
  return 0.001 * static_cast<double>(options.seed % 3);
}

TEST(Trials, StepsAndSecondsToAGoal) {
  const Trial trial = trial_of({row(10, 0.9, 0.5, 1, 100), row(20, 0.4, 0.8, 3, 200)});
  EXPECT_EQ(trial.steps_to_accuracy(0.8), 20);
  EXPECT_FALSE(trial.steps_to_accuracy(0.81));
  EXPECT_DOUBLE_EQ(trial.seconds_to_loss(0.4).value_or(0), 4);
  EXPECT_DOUBLE_EQ(trial.samples_per_s, 175);
}

TEST(Trials, PrecisionsAreComparedByPairsOfSeeds) {
  // bf16 is half a point worse with every seed; the seeds themselves differ more.
  const TrialRunner run = [](const TrainOptions& o, int) -> base::Result<std::vector<EpochResult>> {
    if (o.precision == mesh::DType::F16) return base::failed("the loss of step 3 is nan");
    const double lost = o.precision == mesh::DType::BF16 ? 0.005 + 1e-5 * seed_noise(o) : 0;
    const double rate = o.precision == mesh::DType::BF16 ? 200 : 100;
    return std::vector{row(1, 1, 0.9 + 10 * seed_noise(o) - lost, 1, rate)};
  };
  const auto rows = compare_precisions(
      run, {}, 1,
      {{"fp32", mesh::DType::F32}, {"bf16", mesh::DType::BF16}, {"fp16", mesh::DType::F16}}, 3);
  ASSERT_TRUE(rows) << rows.error().text();
  const std::string text = precision_text(*rows);
  EXPECT_THAT(text, HasSubstr("-0.50 +- 0.00"));
  EXPECT_THAT(text, HasSubstr("worse"));
  EXPECT_THAT(text, HasSubstr("2.00x"));
  EXPECT_THAT(text, HasSubstr("fp16        failed: the loss of step 3 is nan"));
  EXPECT_THAT(precision_json(*rows), HasSubstr("\"half_width_points\""));
}

TEST(Trials, ScalingNamesTheLargestBatchThatKeepsTheAccuracy) {
  std::vector<double> scales;
  const TrialRunner run = [&](const TrainOptions& o,
                              int ranks) -> base::Result<std::vector<EpochResult>> {
    scales.push_back(o.optimizer.scale);
    const double accuracy = o.batch_size == 400 ? 0.95 : o.batch_size == 200 ? 0.977 : 0.98;
    return std::vector{
        row(4, 1, o.batch_size == 100 && o.seed == 1 ? accuracy : accuracy - 0.1, 1, 90.0 * ranks),
        row(8, 1, accuracy + seed_noise(o), 1, 90.0 * ranks)};
  };
  ScalingOptions options;
  options.device_batch = 100;
  options.rule = LrScale::Sqrt;
  options.target_accuracy = 0.9775;
  const auto result = measure_scaling(run, options);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->rows.size(), 6U);
  EXPECT_EQ(scales.size(), 16U);  // a warm-up; one rank is run once for both kinds
  EXPECT_DOUBLE_EQ(scales[7], 2);
  EXPECT_DOUBLE_EQ(efficiency_of(*result, result->rows[2]), 1);
  const std::string text = scaling_text(*result, options);
  EXPECT_THAT(text, HasSubstr("largest batch within 0.5 points of the best accuracy (98.10 %, "
                              "batch 100) after equal epochs: 200 (-0.30 +- 0.00 points)"));
  EXPECT_THAT(text, HasSubstr("not reached"));       // batch 400
  EXPECT_THAT(text, HasSubstr("8 (2 of 3 seeds)"));  // batch 200
  EXPECT_THAT(text, HasSubstr("98.10 +- 0.25     "));
  EXPECT_THAT(scaling_json(*result, options), HasSubstr("\"largest_batch\": 200"));
  options.device_batch = 5;
  EXPECT_THAT(measure_scaling(run, options).error().text(), HasSubstr("not divisible by 2 ranks"));
}

// The first run of a process is slow, whatever its options.
TEST(Trials, WhatTheFirstRunPaysForIsNoGain) {
  std::vector<std::string> seen;
  const TrialRunner run = [&](const TrainOptions& o,
                              int) -> base::Result<std::vector<EpochResult>> {
    const double seconds = seen.empty() ? 30 : 10;
    seen.push_back(fmt::format("{} {} {}", o.feeding.threads, o.batch_size, o.most_steps));
    return std::vector{row(1, 0.3, 0.9, seconds, 1000 / seconds)};
  };
  TuneOptions options;
  options.train.batch_size = 200;
  options.train.device = "cpu";
  options.train.precision = mesh::DType::BF16;
  options.loader_threads = {0};  // as it is: no threads for data in memory
  options.precisions = {{"bf16", mesh::DType::BF16}};
  options.batches = {200, 400};
  const auto result = tune(run, options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(seen, ::testing::ElementsAre("-1 200 20", "-1 200 0", "-1 400 0"));
  EXPECT_DOUBLE_EQ(result->best_s, 10);
  EXPECT_EQ(result->best.batch_size, 200);
  EXPECT_THAT(tune_text(*result), HasSubstr("--batch-size 200 --precision bf16"));
  seen.clear();
  const auto rows =
      compare_precisions(run, {}, 1, {{"fp32", mesh::DType::F32}, {"bf16", mesh::DType::BF16}}, 1);
  ASSERT_TRUE(rows);
  EXPECT_THAT(precision_text(*rows), HasSubstr("1.00x\n1 seeds"));
}

TEST(Trials, LoaderThreadsAreTriedForShards) {
  std::vector<int> seen;
  const TrialRunner run = [&](const TrainOptions& o,
                              int) -> base::Result<std::vector<EpochResult>> {
    seen.push_back(o.feeding.threads);
    return std::vector{row(1, 0.3, 0.9, 10, 100)};
  };
  TuneOptions options;
  options.train.data_dir = "train-{0..3}.tar";
  options.batches = {options.train.batch_size};
  const auto result = tune(run, options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(seen, ::testing::ElementsAre(kAutoThreads, kAutoThreads, 0, 1, 2));
  EXPECT_THAT(tune_text(*result), ::testing::Not(HasSubstr("in memory")));
  options.train.data_dir = "folder";
  EXPECT_THAT(tune_text(*tune(run, options)), HasSubstr("the data are in memory"));
}

TEST(Trials, TheReferenceOfPrecisionsIsPlain) {
  std::vector<size_t> rules;
  const TrialRunner run = [&](const TrainOptions& o,
                              int) -> base::Result<std::vector<EpochResult>> {
    rules.push_back(o.layer_precision.size());
    return std::vector{row(1, 0.3, 0.9, 10, 100)};
  };
  TrainOptions options;
  options.layer_precision = {{"hidden", mesh::DType::BF16}};
  ASSERT_TRUE(compare_precisions(run, options, 1,
                                 {{"fp32", mesh::DType::F32}, {"fp16", mesh::DType::F16}}, 1));
  EXPECT_THAT(rules, ::testing::ElementsAre(0, 0, 1));  // the warm-up, too
}

TEST(Trials, TuningTakesWhatIsFasterAndKeepsTheAccuracy) {
  const TrialRunner run = [](const TrainOptions& o, int) -> base::Result<std::vector<EpochResult>> {
    double seconds = 10, accuracy = 0.9, loss = 0.3;
    if (o.feeding.threads == 1) seconds *= 0.8;
    if (o.precision == mesh::DType::BF16) seconds *= 0.5;
    if (o.precision == mesh::DType::BF16) accuracy = 0.8;      // too much
    if (o.overlap == mesh::Overlap::Buckets) seconds *= 0.99;  // not worth it
    if (o.batch_size == 400) seconds *= 0.5;
    if (o.batch_size == 800) loss = 0.5;
    return std::vector{row(1, 0.9, 0.2, seconds / 2, 100),
                       row(2, loss, accuracy, seconds / 2, 100)};
  };
  TuneOptions options;
  options.ranks = 2;
  options.train.batch_size = 200;
  options.train.device = "cpu";
  options.loader_threads = {1};
  options.overlaps = {mesh::Overlap::Buckets};
  options.precisions = {{"bf16", mesh::DType::BF16}};
  const auto result = tune(run, options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->best.batch_size, 400);
  EXPECT_EQ(result->best.feeding.threads, 1);
  EXPECT_EQ(result->best.precision, mesh::DType::F32);
  EXPECT_EQ(result->best.overlap, mesh::Overlap::Off);
  EXPECT_DOUBLE_EQ(result->best_s, 4);
  const std::string text = tune_text(*result);
  EXPECT_THAT(text, HasSubstr("10.00 s to 4.00 s: --batch-size 400 --precision fp32 --overlap off "
                              "--loader-threads 1 --lr-factor 1.41421"));
  EXPECT_THAT(text, HasSubstr("10.00 points less accuracy"));
  EXPECT_THAT(text, HasSubstr("does not reach the loss"));
  EXPECT_THAT(text, HasSubstr("GPUs: on processors"));
  EXPECT_THAT(tune_json(*result), HasSubstr("\"seconds_after\": 4.0"));
  options.target_loss = 0.01;
  EXPECT_THAT(tune(run, options).error().text(), HasSubstr("does not reach a test loss of 0.01"));
}

}  // namespace
}  // namespace goban::train::trainer
