#include "core/policy/make_knowledge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/knowledge/energy/power_presets.hpp"
#include "core/model/cluster_presets.hpp"

namespace goban::core::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

model::JobHistory jobs() {
  model::JobHistory history;
  const auto add = [&history](const char* model, int32_t batch, float util_pct, int64_t mem) {
    model::Job job;
    job.request.num_gpus = 1;
    job.request.model = model::ModelId(history.models.intern(model));
    history.jobs.push_back(job);
    history.training.push_back(
        {.gpu_mem_bytes = mem, .gpu_util_pct = util_pct, .batch_size = batch});
  };
  add("ResNet", 16, 20, 5000);
  add("ResNet", 16, 40, 7000);
  add("ResNet", 32, 50, 0);
  add("Other", 0, 60, 900);
  add("", 0, -1, 0);
  return history;
}

knowledge::ColocationHistory measured() {
  return knowledge::parse_colocation(
             "gpu_type,members,slowdowns,util_pct,mem_bytes\n"
             "V100,ResNet@batch 16,,,\n"
             "V100,Other,,90,4 GiB\n"
             "V100,ResNet@batch 16 + Other,1.5 + 1.1,,\n",
             "h.csv")
      .value();
}

TEST(MakeKnowledge, JobsFindTheirApplications) {
  model::JobHistory history = jobs();
  const auto cluster = model::make_preset("1x4:V100-SXM2-16GB+1x4:K80").value();
  const MadeKnowledge made =
      make_knowledge({.colocation = measured(), .power = {}}, cluster, history).value();
  const knowledge::ColocationHistory& known = made.knowledge.colocation;
  EXPECT_EQ(known.app_name(history.jobs[0].request.app), "ResNet@batch 16");
  EXPECT_EQ(history.jobs[1].request.app, history.jobs[0].request.app);
  EXPECT_EQ(known.app_name(history.jobs[2].request.app), "ResNet@batch 32");
  EXPECT_EQ(known.app_name(history.jobs[3].request.app), "Other");
  EXPECT_FALSE(history.jobs[4].request.app.valid());
  EXPECT_THAT(made.gaps.unknown_apps, ElementsAre("ResNet@batch 32"));
  EXPECT_EQ(made.gaps.unknown_jobs, 1);
  EXPECT_EQ(made.gaps.unnamed_jobs, 1);
  EXPECT_THAT(made.gaps.unmeasured_gpus, ElementsAre("K80"));
  EXPECT_THAT(made.gaps.gpus_without_memory, IsEmpty());
  EXPECT_EQ(made.gaps.without_util, 1) << "the nameless one";
  EXPECT_EQ(made.gaps.without_mem, 2) << "that, and batch 32";
  EXPECT_THAT(made.knowledge.power, IsEmpty());
}

TEST(MakeKnowledge, StarvedJobsAreTheBestNeighbours) {
  model::JobHistory history;
  for (const char* model : {"starved", "busy", "declared"}) {
    model::Job job;
    job.request.num_gpus = 1;
    job.request.model = model::ModelId(history.models.intern(model));
    history.jobs.push_back(job);
    history.training.push_back({.gpu_util_pct = job.request.model.value == 2 ? 50.0F : -1.0F});
  }
  const auto profile_of = [](const char* model, double compute_pct) {
    base::reports::JobProfile profile;
    profile.model = model;
    profile.time_pct = {{"input", 100 - compute_pct}, {"compute", compute_pct}};
    return profile;
  };
  KnowledgeSources sources;
  sources.colocation = measured();
  sources.profiles = {profile_of("starved", 15), profile_of("busy", 98),
                      profile_of("declared", 90)};
  const auto cluster = model::make_preset("1x4:V100").value();
  const MadeKnowledge made = make_knowledge(std::move(sources), cluster, history).value();
  const knowledge::ColocationHistory& known = made.knowledge.colocation;
  const auto type = known.find_gpu_type("V100");
  const auto app = [&](size_t job) { return history.jobs[job].request.app; };
  EXPECT_EQ(known.find_alone(type, app(0))->util_pct, 15);
  EXPECT_EQ(known.find_alone(type, app(1))->util_pct, 98);
  EXPECT_EQ(known.find_alone(type, app(2))->util_pct, 50) << "what the job declares counts";
  const knowledge::ColocationPredictor predictor(known);
  const auto slowdown = [&](size_t one, size_t other) {
    return predictor.predict(type, std::array{app(one), app(other)}).mean[0];
  };
  // The steps of the measured curve: 30 %, 113 % and 196 % of joint use.
  EXPECT_DOUBLE_EQ(slowdown(0, 0), 1 / .996);
  EXPECT_DOUBLE_EQ(slowdown(0, 1), 1 / .795);
  EXPECT_DOUBLE_EQ(slowdown(0, 2), 1 / .963);
  EXPECT_LT(slowdown(0, 0), slowdown(0, 2));
}

TEST(MakeKnowledge, DeclarationsStandInForMeasurementsOnly) {
  model::JobHistory history = jobs();
  const auto cluster = model::make_preset("1x4:V100+1x4:K80").value();
  const MadeKnowledge made =
      make_knowledge({.colocation = measured(), .power = {}}, cluster, history).value();
  const auto alone = [&](size_t gpu_model, size_t job) {
    return *made.knowledge.colocation.find_alone(made.knowledge.gpu_types[gpu_model],
                                                 history.jobs[job].request.app);
  };
  EXPECT_EQ(alone(0, 0).util_pct, 30) << "mean of 20 and 40";
  EXPECT_EQ(alone(0, 0).mem_bytes, 7000) << "the largest";
  EXPECT_EQ(alone(0, 3).util_pct, 90) << "measured, not the declared 60";
  EXPECT_EQ(alone(0, 3).mem_bytes, int64_t{4} << 30);
  EXPECT_EQ(alone(1, 3).util_pct, 60) << "nothing was measured on K80";
  // A measured pair stays measured; the same pair on K80 falls back to the prior.
  const knowledge::ColocationPredictor predictor(made.knowledge.colocation);
  const std::array pair = {history.jobs[0].request.app, history.jobs[3].request.app};
  EXPECT_EQ(predictor.predict(made.knowledge.gpu_types[0], pair).level,
            knowledge::PredictionLevel::Measured);
  EXPECT_EQ(predictor.predict(made.knowledge.gpu_types[1], pair).level,
            knowledge::PredictionLevel::Utilisation);
}

TEST(MakeKnowledge, EveryGpuModelNeedsItsWatts) {
  model::JobHistory history = jobs();
  const auto mixed = model::make_preset("1x8:V100+1x8:P100").value();
  const auto missing =
      make_knowledge({.colocation = {}, .power = knowledge::make_power_presets("v100,k80").value()},
                     mixed, history);
  ASSERT_FALSE(missing);
  EXPECT_EQ(
      missing.error().text(),
      "no power model for nodes with GPU model P100 (known: V100, K80; add one whose gpu_model "
      "is a prefix of that name)");
  const MadeKnowledge made =
      make_knowledge(
          {.colocation = {}, .power = knowledge::make_power_presets("v100,p100").value()}, mixed,
          history)
          .value();
  ASSERT_EQ(made.knowledge.power.size(), 2u);
  EXPECT_EQ(made.knowledge.power[1].name, "p100-8");
  EXPECT_THAT(made.gaps.unmeasured_gpus, IsEmpty()) << "no history was given";
}

}  // namespace
}  // namespace goban::core::policy
