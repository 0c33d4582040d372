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
JobHistory two_jobs() {
  JobHistory history = elastic_history({{.work_s = 100}, {.submit_s = 1000, .work_s = 100}});
  history.training[1].steps = 600;
  return history;
}

TEST(Fitted, StepsAndWorkFollowFromTheSpeedsAndTheTraceIsKept) {
  const JobHistory history = two_jobs();
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
  const auto fitted = fit(two_jobs(), *cluster, kRates);
  ASSERT_TRUE(fitted);
  const auto result = run(fitted->history, *cluster, "fifo+max-marginal", {.fitted = &*fitted});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->outcomes[1].finish_ns, 1100 * base::kSecond);  // 600 steps at 6 a second
  EXPECT_EQ(result->elastic_of(1).gpus_max, 4);
}

TEST(Fitted, APairThatWasNotMeasuredIsNamed) {
  JobHistory history = two_jobs();
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
