// What users read about the start of a waiting job.
#include "serve/api/forecast_view.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace goban::serve::api {
namespace {

/// Job 1 is expected to start in an hour.
struct KnownStarts final : StartTimes {
  std::shared_ptr<const StartTable> latest() const override { return table; }
  std::shared_ptr<StartTable> table = std::make_shared<StartTable>(
      StartTable{.starts = {{core::model::JobId(1U),
                             {.p10_ns = 0, .p50_ns = base::kHour, .p90_ns = 2 * base::kHour}}}});
};

TEST(ForecastView, SaysHowOftenIntervalsHeld) {
  KnownStarts starts;
  live::controller::LiveJob job;
  job.job = core::model::JobId(1U);
  starts.table->known = 19;
  starts.table->inside = 15;
  EXPECT_THAT(forecast_words(job, &starts),
              testing::EndsWith("1970-01-01 02:00:00 in four of five cases)"))
      << "19 starts say too little";
  starts.table->known = 40;
  starts.table->inside = 31;
  EXPECT_THAT(
      forecast_words(job, &starts),
      testing::EndsWith("; of 40 starts since the daemon started 78 % were in their interval"));
  nlohmann::json shown;
  put_forecasts(shown, job, &starts);
  EXPECT_EQ(shown["start"]["known"], 40);
  EXPECT_EQ(shown["start"]["inside"], 31);
  job.stage = live::controller::JobStage::Running;
  EXPECT_EQ(forecast_words(job, &starts), "");
  job.expected = {
      .p10_ns = 48 * base::kMinute, .p50_ns = base::kHour, .p90_ns = 90 * base::kMinute};
  EXPECT_THAT(forecast_words(job, &starts),
              testing::StartsWith("; by the progress that it reports it runs for about "));
  put_forecasts(shown, job, &starts);
  EXPECT_EQ(shown["expected_run"]["p50_s"], 3600);
}

}  // namespace
}  // namespace goban::serve::api
