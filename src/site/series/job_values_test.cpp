#include "site/series/job_values.hpp"

#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "site/series/store_writer.hpp"

namespace goban::site::series {
namespace {

constexpr int64_t kStart_ms = 1'554'422'430'000;
constexpr int64_t kMinute_ms = 60'000;

class JobValuesTest : public testing::Test {
 protected:
  /// codes: a value, or -1 missing, -2 stale, -3 N/A; one per minute from kStart_ms.
  void write(const std::string& device, const std::vector<int>& codes, uint32_t step_ms = 60'000) {
    auto store = StoreWriter::open(folder_.path(), {step_ms, false});
    ASSERT_TRUE(store);
    for (size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == -1) continue;
      const State state = codes[i] == -2   ? State::Stale
                          : codes[i] == -3 ? State::NotAvailable
                                           : State::Value;
      const Reading reading{state, static_cast<double>(std::max(codes[i], 0))};
      ASSERT_TRUE((*store)->add({"n1", device, ""}, Metric::GpuUtilization,
                                kStart_ms + static_cast<int64_t>(i) * step_ms, reading));
    }
    ASSERT_TRUE((*store)->finish());
  }
  std::vector<DeviceValues> values(const std::vector<std::string>& devices, int minutes,
                                   ValueOptions options = {}, int64_t shift_ms = -1000) {
    const auto store = StoreReader::open(folder_.path(), Metric::GpuUtilization);
    SeriesJob job{"j", kStart_ms + shift_ms, kStart_ms + shift_ms + minutes * kMinute_ms, {}};
    for (const std::string& device : devices) job.devices.push_back({"n1", device, ""});
    return JobValues(*store, options).of(job);
  }
  base::TestFolder folder_{"job_values"};
};

TEST_F(JobValuesTest, BusyAndIdle) {
  write("0", {90, 95, 100, 100, 90});
  write("1", {0, 1, 0, 0, 4});
  const auto found = values({"0", "1"}, 5);
  EXPECT_EQ(found[0].activity, Activity::Busy);
  EXPECT_EQ(found[0].finding, Finding::Known);
  EXPECT_EQ(found[0].expected, 5U);
  EXPECT_DOUBLE_EQ(found[0].values->mean, 95);
  EXPECT_DOUBLE_EQ(found[0].values->trimmed_max, 100);
  EXPECT_DOUBLE_EQ(found[0].coverage, 1);
  EXPECT_EQ(found[1].activity, Activity::Idle);
}

TEST_F(JobValuesTest, LittleCoverageIsUnknownNeverIdle) {
  write("0", {0, -1, -1, -1, -1, -1, -1, -1, -1, 0});
  write("1", {0, 60, -1, -1, -1, -1, -1, -1, -1, -1});
  write("2", {-2, -2, -2, -2, -2, -2, -2, 0, 0, 0});
  const auto found = values({"0", "1", "2"}, 10);
  EXPECT_EQ(found[0].finding, Finding::LowCoverage);
  EXPECT_EQ(found[0].activity, Activity::Unknown);
  EXPECT_EQ(found[0].missing, 8U);
  EXPECT_EQ(found[1].activity, Activity::Busy);  // one valid sample suffices
  EXPECT_EQ(found[2].stale, 7U);
  EXPECT_EQ(found[2].activity, Activity::Unknown);
  EXPECT_DOUBLE_EQ(found[2].coverage, 0.3);
}

TEST_F(JobValuesTest, GpusWithoutSamplesAreReported) {
  write("0", {-3, -3, -3, -3, -3});
  write("1", {0, 0, 0, 0, 0});
  const auto found = values({"0", "1", "2"}, 5);
  EXPECT_EQ(found[0].finding, Finding::NotAvailable);
  EXPECT_FALSE(found[0].values);
  EXPECT_EQ(found[2].finding, Finding::NoSeries);
  EXPECT_EQ(found[2].missing, 5U);
  EXPECT_EQ(values({"1"}, 5, {}, 3'600'000)[0].finding, Finding::NoSamples);
  ValueCounts counts;
  counts.add(found);
  EXPECT_EQ(counts.devices, 3U);
  EXPECT_EQ(counts.by_activity[static_cast<size_t>(Activity::Unknown)], 2U);
  EXPECT_EQ(counts.by_finding[static_cast<size_t>(Finding::NoSeries)], 1U);
}

TEST_F(JobValuesTest, TheWindowIsInclusiveAndCanBeTrimmed) {
  write("0", {80, 0, 0, 0, 0, 0, 0, 70});
  const auto at = [&](ValueOptions options) { return *values({"0"}, 7, options, 0)[0].values; };
  EXPECT_EQ(at({}).count, 8U);
  EXPECT_EQ(at({}).max, 80);
  ValueOptions trimmed;
  trimmed.skip_first = 1;
  EXPECT_EQ(at(trimmed).max, 70);
  trimmed.skip_last = 1;
  EXPECT_EQ(at(trimmed).max, 0);
  EXPECT_EQ(at(trimmed).count, 6U);
}

TEST_F(JobValuesTest, TheStepOfTheSamplesDecidesWhatIsExpected) {
  write("0", std::vector<int>(20, 50), 30'000);
  const auto found = values({"0"}, 10);
  EXPECT_EQ(found[0].expected, 20U);
  EXPECT_DOUBLE_EQ(found[0].coverage, 1);
}

TEST_F(JobValuesTest, ShortJobsExpectAtLeastOneSample) {
  write("0", {50});
  const auto store = StoreReader::open(folder_.path(), Metric::GpuUtilization);
  const SeriesJob job{"j", kStart_ms + 1000, kStart_ms + 2000, {{"n1", "0", ""}}};
  const auto found = JobValues(*store, {}).of(job);
  EXPECT_EQ(found[0].expected, 1U);
  EXPECT_EQ(found[0].finding, Finding::NoSamples);
}

}  // namespace
}  // namespace goban::site::series
