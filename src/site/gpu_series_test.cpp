#include "site/gpu_series.hpp"

#include <gtest/gtest.h>

#include "site/analysis/test_population.hpp"

namespace goban::site {
namespace {

TEST(AnalyzeSeries, JobsWithoutStartOrEndAskForNoTime) {
  const std::string header = "job_id,user,submit_time,start_time,end_time,duration,num_gpus\n";
  const auto none = analysis::population_of(header + "1,u,1600000000,,,60,1\n");
  ASSERT_EQ(none.population.jobs.size(), 1U);
  EXPECT_FALSE(time_of_jobs(none.population, 60'000));
  const auto some = analysis::population_of(header +
                                            "1,u,1600000000,,,60,1\n"
                                            "2,u,1600000000,1600000100,1600000700,600,1\n"
                                            "3,u,1600000000,1600000050,1600000060,10,1\n");
  ASSERT_EQ(some.population.jobs.size(), 3U);
  const auto time = time_of_jobs(some.population, 60'000);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->from_ms, 1'599'999'990'000);
  EXPECT_EQ(time->to_ms, 1'600'000'820'000);
}

}  // namespace
}  // namespace goban::site
