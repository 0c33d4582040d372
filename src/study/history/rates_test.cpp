// Files of measured speeds, and jobs that are fitted to them.
#include "study/history/rates.hpp"

#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"

namespace goban::study::history {
namespace {

using core::model::JobHistory;
using core::model::ModelId;

const core::model::Cluster& two_models() {
  static const auto cluster = core::model::make_preset("2x4:V100+1x4:A100").value();
  return cluster;
}

std::string problem_of(std::string_view text) {
  const auto rows = parse_rates(text, "rates.csv");
  return rows ? std::string() : rows.error().text();
}

JobHistory one_job(int32_t gpus, core::model::TrainingFacts facts, double work_s = 100) {
  JobHistory history;
  core::model::Job job;
  job.request.num_gpus = gpus;
  job.request.model = ModelId(history.models.intern("net"));
  job.work_s = work_s;
  history.jobs.push_back(job);
  history.job_names.add("j1");
  history.training.push_back(facts);
  return history;
}

base::Result<RateCounts> fit(std::string_view text, JobHistory& history, bool interpolate = false,
                             core::model::JobSpeeds* out = nullptr) {
  const auto rows = parse_rates(text, "rates.csv");
  if (!rows) return base::failure(rows.error());
  auto speeds = make_speeds(
      *rows, "rates.csv", two_models(),
      [&](const std::string& name) { return ModelId(history.models.find(name)); }, interpolate);
  if (!speeds) return base::failure(speeds.error());
  const auto counts = fit_jobs(*speeds, "rates.csv", two_models(), history);
  if (out != nullptr) *out = std::move(*speeds);
  return counts;
}

constexpr std::string_view kRates =
    "model,gpu_model,num_gpus,steps_per_s\n"
    "net,V100,1,1\nnet,V100,2,1.8\nnet,V100,4,3\n"
    "net,A100,1,2\nnet,A100,2,3.6\nnet,A100,4,0\n"
    "other,V100,1,9\nnet,H100,1,50\n";

TEST(Rates, BadRowsNameLineFieldAndRemedy) {
  EXPECT_NE(problem_of("model,num_gpus\nnet,1\n").find("steps_per_s"), std::string::npos);
  EXPECT_NE(problem_of("model,num_gpus,steps_per_s,speed\nnet,1,1,1\n").find("unknown column"),
            std::string::npos);
  const std::string zero = problem_of("model,num_gpus,steps_per_s\nnet,0,1\n");
  EXPECT_NE(zero.find("rates.csv:2"), std::string::npos) << zero;
  EXPECT_NE(zero.find("num_gpus"), std::string::npos) << zero;
  EXPECT_NE(zero.find("1 to"), std::string::npos) << zero;
  EXPECT_NE(problem_of("model,num_gpus,steps_per_s\nnet,1,-2\n").find("not a speed"),
            std::string::npos);
  EXPECT_NE(problem_of("model,num_gpus,steps_per_s\nnet,1,nan\n").find("not a speed"),
            std::string::npos);
  const std::string twice = problem_of("model,num_gpus,steps_per_s\nnet,1,1\nnet,1,2\n");
  EXPECT_NE(twice.find("rates.csv:3"), std::string::npos) << twice;
  EXPECT_NE(problem_of("model,num_gpus,steps_per_s\n").find("no rows"), std::string::npos);
}

TEST(Rates, StepsReplaceTheDurationOnTheFastestModel) {
  JobHistory history = one_job(2, {.gpus_min = 1, .gpus_max = 2, .steps = 360});
  const auto counts = fit(kRates, history);
  ASSERT_TRUE(counts) << counts.error().text();
  EXPECT_EQ(counts->elastic, 1);
  EXPECT_EQ(counts->new_work, 0) << "360 steps at 3.6 a second take the 100 s that were recorded";
  EXPECT_DOUBLE_EQ(history.jobs[0].work_s, 100);
  JobHistory longer = one_job(2, {.gpus_min = 1, .gpus_max = 2, .steps = 720});
  EXPECT_EQ(fit(kRates, longer)->new_work, 1);
  EXPECT_DOUBLE_EQ(longer.jobs[0].work_s, 200);
}

TEST(Rates, WithoutStepsTheyFollowFromTheDuration) {
  JobHistory history = one_job(2, {.gpus_min = 1, .gpus_max = 2});
  ASSERT_TRUE(fit(kRates, history));
  EXPECT_EQ(history.training[0].steps, 360);
}

TEST(Rates, AnUnmeasuredPairIsAnErrorThatNamesIt) {
  JobHistory history = one_job(2, {.gpus_min = 1, .gpus_max = 3, .steps = 10});
  const auto counts = fit(kRates, history);
  ASSERT_FALSE(counts);
  const std::string text = counts.error().text();
  EXPECT_NE(text.find("job j1: the speed of net on 3 x V100 was not measured"), std::string::npos)
      << text;
  EXPECT_NE(text.find("--interpolate-rates"), std::string::npos) << text;
}

TEST(Rates, InterpolatesBetweenMeasuredNumbersAndMarksThem) {
  JobHistory history = one_job(2, {.gpus_min = 1, .gpus_max = 4, .steps = 360});
  core::model::JobSpeeds speeds;
  const auto counts = fit(kRates, history, true, &speeds);
  ASSERT_TRUE(counts) << counts.error().text();
  const auto* three = speeds.find(ModelId(0u), 0, 0, 3);
  ASSERT_NE(three, nullptr);
  EXPECT_TRUE(three->interpolated);
  EXPECT_DOUBLE_EQ(three->steps_per_s, 2.4);
  EXPECT_FALSE(speeds.find(ModelId(0u), 0, 0, 2)->interpolated);
  EXPECT_EQ(speeds.find(ModelId(0u), 0, 1, 3), nullptr) << "it does not run on 4 x A100";
  JobHistory beyond = one_job(2, {.gpus_min = 1, .gpus_max = 5, .steps = 360});
  const auto refused = fit(kRates, beyond, true);
  ASSERT_FALSE(refused) << "nothing is extrapolated";
  EXPECT_NE(refused.error().text().find("5 x V100"), std::string::npos);
}

TEST(Rates, RigidJobsOfKnownModelsGetTheSpeedOfTheirGpus) {
  JobHistory history = one_job(2, {});
  const auto counts = fit(kRates, history);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->one_size, 1);
  EXPECT_EQ(history.training[0].gpus_min, 2);
  EXPECT_EQ(history.training[0].gpus_max, 2);
  EXPECT_EQ(history.training[0].steps, 360);
}

TEST(Rates, ABatchSizeHasItsOwnRowsOrThoseOfAll) {
  JobHistory history = one_job(1, {.batch_size = 64, .gpus_min = 1, .gpus_max = 1, .steps = 8});
  const std::string_view text = kRates;
  ASSERT_TRUE(fit(text, history));
  EXPECT_DOUBLE_EQ(history.jobs[0].work_s, 4) << "2 steps a second on one A100";
  JobHistory own = one_job(1, {.batch_size = 64, .gpus_min = 1, .gpus_max = 1, .steps = 8});
  ASSERT_TRUE(
      fit("model,batch_size,gpu_model,num_gpus,steps_per_s\nnet,,V100,1,1\nnet,64,V100,1,8\n"
          "net,64,A100,1,0\n",
          own));
  EXPECT_DOUBLE_EQ(own.jobs[0].work_s, 1);
}

TEST(Rates, RowsMustNameAGpuModelOfTheCluster) {
  JobHistory history = one_job(1, {});
  const auto unnamed = fit("model,num_gpus,steps_per_s\nnet,1,1\n", history);
  ASSERT_FALSE(unnamed);
  EXPECT_NE(unnamed.error().text().find("rates.csv:2"), std::string::npos);
  const auto foreign = fit("model,gpu_model,num_gpus,steps_per_s\nnet,H100,1,1\n", history);
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().text().find("V100"), std::string::npos);
}

TEST(Rates, TheOnlyGpuModelMayBeNamedOrNotButNotTwice) {
  const auto rows = parse_rates(
      "model,gpu_model,num_gpus,steps_per_s\nnet,V100,1,1\nnet,,2,2\nnet,,1,9\n", "rates.csv");
  ASSERT_TRUE(rows);
  const auto one_model = core::model::make_preset("1x4:V100").value();
  const auto any = [](const std::string&) { return ModelId(0u); };
  const auto speeds = make_speeds(*rows, "rates.csv", one_model, any, false);
  ASSERT_FALSE(speeds) << "of 1 and 9 steps a second the last would win";
  EXPECT_NE(speeds.error().text().find("rates.csv:4: num_gpus: 1 x V100"), std::string::npos)
      << speeds.error().text();
  const std::vector<RateRow> unlike(rows->begin(), rows->begin() + 2);
  EXPECT_TRUE(make_speeds(unlike, "rates.csv", one_model, any, false));
}

TEST(Rates, ARangeBeyondTheClusterIsNamed) {
  JobHistory history = one_job(2, {.gpus_min = 1, .gpus_max = 16, .steps = 360});
  const auto counts = fit(std::string(kRates) + "net,V100,16,9\nnet,A100,16,9\n", history);
  ASSERT_FALSE(counts);
  const std::string text = counts.error().text();
  EXPECT_NE(text.find("job j1: gpus_max 16 exceeds the 12 GPUs of"), std::string::npos) << text;
  EXPECT_EQ(text.find("measure"), std::string::npos) << text;
}

TEST(Rates, StepsWithoutEndAreNamed) {
  JobHistory history = one_job(2, {.gpus_min = 1, .gpus_max = 2, .steps = 1'000'000'000'000});
  const auto counts = fit(kRates, history);
  ASSERT_FALSE(counts);
  const std::string text = counts.error().text();
  EXPECT_NE(text.find("job j1: 1000000000000 steps at 1 steps per second, on 1 x V100"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("4.6e9 seconds"), std::string::npos) << text;
  JobHistory long_one = one_job(2, {.gpus_min = 1, .gpus_max = 2, .steps = 4'600'000'000});
  EXPECT_TRUE(fit(kRates, long_one));
}

TEST(Rates, ADeadlineIsImpossibleIfTheFastestSizeMissesIt) {
  // 360 steps take 180 s on the one A100 that it requests, and 100 s on two.
  JobHistory history = one_job(
      1, {.deadline_ns = base::from_seconds(120), .gpus_min = 1, .gpus_max = 2, .steps = 360});
  core::model::JobSpeeds speeds;
  ASSERT_TRUE(fit(kRates, history, false, &speeds));
  EXPECT_DOUBLE_EQ(history.jobs[0].work_s, 180);
  EXPECT_EQ(impossible_deadlines(speeds, two_models(), history), 0);
  history.training[0].deadline_ns = base::from_seconds(99);
  EXPECT_EQ(impossible_deadlines(speeds, two_models(), history), 1);
}

}  // namespace
}  // namespace goban::study::history
