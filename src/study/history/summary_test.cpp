#include "study/history/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.hpp"
#include "study/history/test_reading.hpp"

namespace goban::study::history {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

TEST(Distribution, QuantilesAreThoseOfNumPy) {
  // numpy.quantile([1, 2, 4, 8, 16], [0, .1, .25, .5, .75, .9, .99, 1])
  const SampleQuantiles d = quantiles_of({16, 1, 8, 2, 4});
  EXPECT_EQ(d.count, 5);
  EXPECT_DOUBLE_EQ(d.mean, 6.2);
  EXPECT_NEAR(d.sd, 6.09918, 1e-5);  // statistics.stdev
  EXPECT_THAT(d.quantiles, Pointwise(testing::DoubleEq(),
                                     std::array{1.0, 1.4, 2.0, 4.0, 8.0, 12.8, 15.68, 16.0}));
  EXPECT_EQ(quantiles_of({}).count, 0);
  const SampleQuantiles one = quantiles_of({7});
  EXPECT_EQ(one.sd, 0);
  EXPECT_EQ(one.quantiles[0], 7);
  EXPECT_EQ(one.quantiles[7], 7);
}

TEST(Summary, ByHand) {
  ReadOptions options;
  options.cpu_jobs = CpuJobs::Keep;
  // 1600000000 is Sunday, 2020-09-13 12:26:40 UTC.
  const ReadResult read = read_ok(
      "job_id,submit_time,duration,num_gpus,user,account,walltime_s,start_time,state\n"
      "a,1600000000,3600,4,ann,x,7200,1600000010,COMPLETED\n"
      "b,1600003600,7200,2,bob,x,,1600003600,FAILED\n"
      "c,1600046800,1800,4,ann,,1200,,\n"
      "d,1600046800,60,0,cid,x,,,CANCELLED\n"
      "e,1600050000,0,1,,y,,,CANCELLED\n",
      options);
  const HistorySummary s = summarise(read.history);
  EXPECT_EQ(s.jobs, 5);
  EXPECT_EQ(s.cpu_jobs, 1);
  EXPECT_DOUBLE_EQ(s.gpu_hours, 10);  // 4 + 4 + 2
  EXPECT_TRUE(s.unix_times);
  EXPECT_EQ(s.users.count, 3);
  EXPECT_EQ(s.users.top[0].name, "ann");
  EXPECT_EQ(s.users.top[0].jobs, 2);
  EXPECT_DOUBLE_EQ(s.users.top[0].gpu_hours, 6);
  EXPECT_EQ(s.users.top[2].name, "cid");
  EXPECT_DOUBLE_EQ(s.users.top_6_percent_share, 0.6);  // one of three
  // 0, 4, 6: mean absolute difference 24 / 9, over twice the mean 20 / 3
  EXPECT_NEAR(s.users.gini, 24. / 9 / (20. / 3), 1e-12);
  EXPECT_EQ(s.accounts.count, 2);
  EXPECT_DOUBLE_EQ(s.accounts.top[0].gpu_hours, 8);
  EXPECT_EQ(s.partitions.count, 0);
  ASSERT_EQ(s.sizes.size(), 4u);
  EXPECT_EQ(s.sizes[0].num_gpus, 0);
  EXPECT_EQ(s.sizes[3].num_gpus, 4);
  EXPECT_EQ(s.sizes[3].jobs, 2);
  EXPECT_DOUBLE_EQ(s.sizes[3].gpu_hours, 6);
  EXPECT_EQ(s.duration_s.count, 4);
  EXPECT_DOUBLE_EQ(s.duration_s.mean, 3150);
  EXPECT_EQ(s.wait_s.count, 2);
  EXPECT_DOUBLE_EQ(s.wait_s.quantiles.back(), 10);
  EXPECT_THAT(s.ends, ElementsAre(1, 1, 1, 2, 0, 0));
  EXPECT_EQ(s.walltime_limit_s.count, 2);
  EXPECT_DOUBLE_EQ(s.request_accuracy.quantiles.front(), 0.5);
  EXPECT_DOUBLE_EQ(s.request_accuracy.quantiles.back(), 1.5);
  EXPECT_EQ(s.by_hour[12], 1);
  EXPECT_EQ(s.by_hour[13], 1);
  EXPECT_EQ(s.by_hour[1], 2);
  EXPECT_EQ(s.by_hour[2], 1);
  EXPECT_THAT(s.by_weekday, ElementsAre(3, 0, 0, 0, 0, 0, 2));
  EXPECT_DOUBLE_EQ(*s.offered_gpus, 10 * 3600. / 50000);
}

TEST(Summary, TimesFromAnyOriginAndOfCpuJobs) {
  ReadOptions options;
  options.cpu_jobs = CpuJobs::Keep;
  const HistorySummary s = summarise(
      read_ok("job_id,submit_time,duration,num_gpus,user\n1,90000,5,0,u\n2,90000,7,0,u\n", options)
          .history);
  EXPECT_FALSE(s.unix_times);
  EXPECT_EQ(s.by_hour[1], 2);
  EXPECT_EQ(s.by_weekday[1], 2);
  EXPECT_EQ(s.duration_s.count, 2);
  EXPECT_FALSE(s.offered_gpus);
  EXPECT_EQ(s.users.gini, 0);
  EXPECT_EQ(s.users.top_6_percent_share, 0);
  EXPECT_EQ(summarise({}).jobs, 0);
}

TEST(SummaryGolden, PhillyAttempts) {  // expected: Python's statistics module over the same file
  const auto path = base::test_data("traces/philly/philly_df_schedule.csv.gz");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto read = read_jobs(*path, {});
  ASSERT_TRUE(read);
  const HistorySummary s = summarise(read->history);
  EXPECT_THAT(s.duration_s.quantiles,
              Pointwise(DoubleNear(0.005), (std::array{1.0, 36.0, 72.0, 791.0, 3309.0, 20722.0,
                                                       513832.450, 5199751.0})));
  EXPECT_THAT(s.wait_s.quantiles,
              Pointwise(DoubleNear(0.005),
                        (std::array{0.0, 0.0, 0.0, 0.0, 0.0, 535.0, 17111.950, 21774.0})));
  EXPECT_THAT(s.by_hour,
              testing::ElementsAreArray((std::array<int64_t, 24>{
                  6357, 5255, 6415, 8611, 7192, 6654, 6587, 7952, 7695, 7398, 8181, 11648,
                  7334, 6060, 5197, 4325, 4667, 3140, 3966, 3655, 6489, 7418, 4643, 4977})));
  EXPECT_THAT(s.by_weekday, testing::ElementsAreArray((std::array<int64_t, 7>{
                                19429, 23847, 24776, 27037, 30499, 13367, 12861})));
}

TEST(SummaryGolden, ThetaGpuUsers) {  // expected: Python over the same file
  const auto path = base::test_data("traces/alcf/data_thetagpu.csv.gz");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto read = read_jobs(*path, {});
  ASSERT_TRUE(read);
  const HistorySummary s = summarise(read->history);
  EXPECT_EQ(s.users.count, 52);
  EXPECT_NEAR(s.users.gini, 0.938087072, 1e-6);
  EXPECT_NEAR(s.users.top_6_percent_share, 0.884005134, 1e-6);
  EXPECT_NEAR(s.request_accuracy.quantiles[3], 0.142404167, 1e-6);
}

}  // namespace
}  // namespace goban::study::history
