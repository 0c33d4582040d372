// A job joined to its GPUs: activity with coverage, processes, windows on shared nodes.
#include "site/series/job_series.hpp"

#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "site/series/store_writer.hpp"

namespace goban::site::series {
namespace {

using testing::ElementsAre;

constexpr int64_t kStart_ms = 1'554'422'400'000;
constexpr int64_t kMinute_ms = 60'000;

class JobSeriesTest : public testing::Test {
 public:
  void SetUp() override { writer = *StoreWriter::open(folder.path(), {60'000, false}); }
  /// One sample per minute for `minutes`.
  void add(const char* gpu, Metric metric, int minutes, double value) const {
    for (int i = 0; i < minutes; ++i) {
      ASSERT_TRUE(
          writer->add({"n", gpu, ""}, metric, kStart_ms + i * kMinute_ms, {State::Value, value}));
    }
  }
  JobSeriesValues values(const ValueOptions& options, bool with_processes = true) {
    EXPECT_TRUE(writer->finish());
    const auto use = StoreReader::open(folder.path(), Metric::GpuUtilization);
    const auto processes = StoreReader::open(folder.path(), Metric::GpuProcesses);
    EXPECT_TRUE(use && processes);
    return JobSeries(*use, with_processes ? &*processes : nullptr, options).of(job);
  }

  base::TestFolder folder{"job_series"};
  std::unique_ptr<StoreWriter> writer;
  SeriesJob job{.id = "1",
                .start_ms = kStart_ms,
                .end_ms = kStart_ms + 10 * kMinute_ms,
                .devices = {{"n", "0", ""}, {"n", "1", ""}, {"n", "2", ""}, {"n", "3", ""}}};
};

TEST_F(JobSeriesTest, BusyIdleUnknownAndWithoutAProcess) {
  add("0", Metric::GpuUtilization, 11, 90);
  add("1", Metric::GpuUtilization, 11, 60);
  add("2", Metric::GpuUtilization, 11, 0);
  add("3", Metric::GpuUtilization, 2, 0);  // too few to classify it as idle
  add("0", Metric::GpuProcesses, 11, 2);
  add("1", Metric::GpuProcesses, 1, 1);
  add("2", Metric::GpuProcesses, 11, 0);
  add("3", Metric::GpuProcesses, 2, 0);
  const JobSeriesValues result = values({});
  EXPECT_EQ(result.busy, 2U);
  EXPECT_EQ(result.idle, 1U);
  EXPECT_EQ(result.unknown, 1U);
  EXPECT_FALSE(result.complete());
  EXPECT_THAT(result.processes, ElementsAre(ProcessUse::Seen, ProcessUse::Seen, ProcessUse::None,
                                            ProcessUse::Unknown));
  EXPECT_EQ(result.no_process, 1U);
  EXPECT_DOUBLE_EQ(*result.busy_mean, 75);
  EXPECT_DOUBLE_EQ(*result.busy_sd, 15);
  EXPECT_DOUBLE_EQ(result.coverage, (1 + 1 + 1 + 0.2) / 4);
  EXPECT_DOUBLE_EQ(result.coverage_min, 0.2);
}

TEST_F(JobSeriesTest, WithoutSeriesNothingIsKnown) {
  const JobSeriesValues result = values({}, false);
  EXPECT_EQ(result.unknown, 4U);
  EXPECT_EQ(result.no_process, 0U);
  EXPECT_FALSE(result.busy_mean);
  EXPECT_EQ(result.coverage, 0);
}

TEST_F(JobSeriesTest, OneShortProcessAmongManySamplesCounts) {
  job.end_ms = kStart_ms + 100 * kMinute_ms;
  add("0", Metric::GpuProcesses, 100, 0);
  ASSERT_TRUE(writer->add({"n", "0", ""}, Metric::GpuProcesses, kStart_ms + 100 * kMinute_ms,
                          {State::Value, 1}));
  EXPECT_EQ(values({}).processes[0], ProcessUse::Seen);
}

// The previous job ended at this job's start; its last sample arrived 50 s late.
TEST_F(JobSeriesTest, LateSamplesOfTheNeighbourCanBeLeftOut) {
  ASSERT_TRUE(writer->add({"n", "0", ""}, Metric::GpuUtilization, kStart_ms, {State::Value, 100}));
  for (int i = 1; i <= 10; ++i) {
    ASSERT_TRUE(writer->add({"n", "0", ""}, Metric::GpuUtilization, kStart_ms + i * kMinute_ms,
                            {State::Value, i == 10 ? 50.0 : 0.0}));
  }
  job.devices.resize(1);
  EXPECT_EQ(values({}).gpus[0].values->max, 100);
  EXPECT_EQ(values({.include_start = false}).gpus[0].values->max, 50);
  EXPECT_EQ(values({.delay_ms = 60'000}).gpus[0].values->max, 50);
  EXPECT_EQ(values({.skip_first = 1, .include_end = false}).gpus[0].values->max, 0);
  EXPECT_EQ(values({.skip_first = 1, .skip_last = 1}).gpus[0].values->count, 9U);
}

}  // namespace
}  // namespace goban::site::series
