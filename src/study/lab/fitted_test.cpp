#include "study/lab/fitted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"
#include "study/lab/lab.hpp"
#include "study/lab/test_history.hpp"

namespace goban::study::lab {
namespace {

using testing::ElementsAre;

/// Two jobs of 1 to 4 GPUs; the second states 600 steps.
JobHistory elastic_history() {
  JobHistory history = history_of({{.work_s = 100}, {.submit_s = 1000, .work_s = 100}});
  const core::model::ModelId model(history.models.intern("net"));
  history.training.resize(2);
  for (size_t i = 0; i < 2; ++i) {
    core::model::Job job = history.jobs[i];
    job.request.model = model;
    history.jobs.put(i, job);
    history.training[i].gpus_min = 1;
    history.training[i].gpus_max = 4;
  }
  history.training[1].steps = 600;
  return history;
}

const Rates kRates{.rows = {{.model = "net", .gpus = 1, .steps_per_s = 2},
                            {.model = "net", .gpus = 4, .steps_per_s = 6}},
                   .file = "rates.csv"};

TEST(Fitted, StepsAndWorkFollowFromTheSpeedsAndTheTraceIsKept) {
  const JobHistory history = elastic_history();
  const auto cluster = core::model::make_preset("1x4");
  const auto fitted = fit(history, *cluster, kRates);
  ASSERT_TRUE(fitted) << fitted.error().text();
  EXPECT_EQ(fitted->history.training[0].steps, 200);  // 100 s on one GPU
  EXPECT_EQ(fitted->history.jobs[1].work_s, 300);     // 600 steps on one GPU
  EXPECT_EQ(history.jobs[1].work_s, 100);
  EXPECT_THAT(fitted->states_steps, ElementsAre(false, true));
  EXPECT_THAT(fitted->notes, ElementsAre("1 recorded duration is replaced by what the steps take "
                                         "at the measured speed"));
  EXPECT_TRUE(lacks_steps(history));
}

TEST(Fitted, RunsUseTheSpeeds) {
  const auto cluster = core::model::make_preset("1x4");
  const auto fitted = fit(elastic_history(), *cluster, kRates);
  ASSERT_TRUE(fitted);
  const auto result = run(fitted->history, *cluster, "fifo+max-marginal", {.fitted = &*fitted});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->outcomes[1].finish_ns, 1100 * base::kSecond);  // 600 steps at 6 a second
  EXPECT_EQ(result->elastic_of(1).gpus_max, 4);
}

TEST(Fitted, APairThatWasNotMeasuredIsNamed) {
  JobHistory history = elastic_history();
  history.training[0].gpus_max = 3;
  const auto cluster = core::model::make_preset("1x4");
  const auto fitted = fit(history, *cluster, kRates);
  ASSERT_FALSE(fitted);
  EXPECT_THAT(fitted.error().text(), testing::HasSubstr("job 0: "));
  Rates between = kRates;
  between.interpolate = true;
  EXPECT_TRUE(fit(history, *cluster, between));
}

}  // namespace
}  // namespace goban::study::lab
