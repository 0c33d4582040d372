#include "series/prune.hpp"

#include <filesystem>
#include <gmock/gmock.h>

#include "base/random.hpp"
#include "series/job_values.hpp"
#include "series/store_reader.hpp"
#include "series/store_writer.hpp"
#include "series/test_folder.hpp"

namespace goban::series {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr int64_t kApril_ms = 1'554'076'800'000;  // 2019-04-01 00:00:00 UTC
constexpr int64_t kMay_ms = kApril_ms + 30 * kDay_ms;
constexpr int64_t kJune_ms = kMay_ms + 31 * kDay_ms;
constexpr int64_t kMinute_ms = 60'000;
const DeviceKey kGpu{"g1", "0", "GPU-1"};
const DeviceKey kOther{"g1", "1", "GPU-2"};

class Prune : public testing::Test {
 public:
  void fill(const DeviceKey& gpu, int64_t from_ms, const std::vector<Reading>& readings) const {
    auto writer = StoreWriter::open(folder.path(), {60'000, false});
    ASSERT_TRUE(writer);
    for (size_t i = 0; i < readings.size(); ++i) {
      ASSERT_TRUE((*writer)->add(gpu, Metric::GpuUtilization,
                                 from_ms + static_cast<int64_t>(i) * kMinute_ms + 30'000,
                                 readings[i]));
    }
    ASSERT_TRUE((*writer)->finish());
  }
  [[nodiscard]] std::vector<std::pair<int64_t, uint16_t>> codes(const DeviceKey& gpu) const {
    const auto store = StoreReader::open(folder.path(), Metric::GpuUtilization);
    EXPECT_TRUE(store);
    std::vector<StoreReader::Code> found;
    store->read(store->find(gpu), INT64_MIN / 2, INT64_MAX / 2, found);
    std::vector<std::pair<int64_t, uint16_t>> out;
    for (const auto& code : found)
      out.emplace_back((code.time_ms - kApril_ms) / kMinute_ms, code.code);
    return out;
  }
  [[nodiscard]] PruneCounts prune_all(int64_t hourly_before_ms, int64_t drop_before_ms) const {
    const auto done =
        prune(folder.path(), Metric::GpuUtilization,
              {.drop_before_ms = drop_before_ms, .hourly_before_ms = hourly_before_ms});
    EXPECT_TRUE(done) << done.error().text();
    return *done;
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(folder / "gpu_utilization")) {
      names.push_back(each.path().filename().string());
    }
    return names;
  }

  TestFolder folder{"prune"};
};

std::vector<Reading> some(size_t count, Reading reading) { return std::vector(count, reading); }

std::vector<Reading> operator+(std::vector<Reading> left, const std::vector<Reading>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

TEST_F(Prune, AnHourIsTheMeanOfItsValuesOrSaysWhyNot) {
  const Reading ten{State::Value, 10};
  const Reading forty{State::Value, 40};
  fill(kGpu, kApril_ms,
       some(30, ten) + some(30, forty) +                           // mean 25
           some(30, forty) + some(30, {State::NotAvailable, 0}) +  // half is enough
           some(29, forty) + some(31, {State::Stale, 0}) +         // less is not
           some(60, {State::NotAvailable, 0}) + some(60, {State::Missing, 0}) +
           some(20, ten));  // too few
  fill(kOther, kApril_ms + 26 * kHour_ms, some(60, {State::Value, 0}));
  const PruneCounts done = prune_all(kMay_ms, INT64_MIN);
  EXPECT_EQ(done.months_reduced, 1U);
  EXPECT_EQ(done.months_dropped, 0U);
  using Pair = std::pair<int64_t, uint16_t>;
  EXPECT_THAT(codes(kGpu), ElementsAre(Pair{30, 25}, Pair{90, 40}, Pair{150, kStaleCode},
                                       Pair{210, kNotAvailableCode}));
  EXPECT_THAT(codes(kOther), ElementsAre(Pair{26 * 60 + 30, 0}));  // zero stays zero
  EXPECT_THAT(files(), ElementsAre("2019-04.series"));
}

TEST_F(Prune, TiersByMonthAndRepeated) {
  for (const int64_t month_ms : {kApril_ms, kMay_ms, kJune_ms}) {
    fill(kGpu, month_ms, some(2880, {State::Value, 50}));
  }
  EXPECT_EQ(codes(kGpu).size(), 3U * 2880);
  PruneCounts done = prune_all(kJune_ms, kMay_ms);
  EXPECT_EQ(done.months_dropped, 1U);
  EXPECT_EQ(done.months_reduced, 1U);
  EXPECT_LT(done.bytes_after, done.bytes_before);
  EXPECT_THAT(files(), UnorderedElementsAre("2019-05.series", "2019-06.series"));
  EXPECT_EQ(codes(kGpu).size(), 48U + 2880);
  const auto before = codes(kGpu);
  done = prune_all(kJune_ms, kMay_ms);
  EXPECT_EQ(done.months_dropped + done.months_reduced, 0U);
  EXPECT_EQ(codes(kGpu), before);
  // What was reduced does not come back with an import of the same samples.
  fill(kGpu, kMay_ms, some(2880, {State::Value, 50}));
  EXPECT_EQ(codes(kGpu), before);
}

TEST_F(Prune, MeansOfLongJobsStay) {
  base::Random random(3);
  std::vector<Reading> readings;
  for (int i = 0; i < 3 * 1440; ++i) {
    readings.push_back({State::Value, static_cast<double>(random.below(101))});
  }
  fill(kGpu, kApril_ms, readings);
  const auto mean_of = [this] {
    const auto store = StoreReader::open(folder.path(), Metric::GpuUtilization);
    JobValues values(*store, {});
    SeriesJob job;
    job.start_ms = kApril_ms + 5 * kHour_ms;
    job.end_ms = kApril_ms + 65 * kHour_ms - 1;
    job.devices = {kGpu};
    const DeviceValues found = values.of(job).front();
    EXPECT_EQ(found.finding, Finding::Known);
    return found.values->mean;
  };
  const double before = mean_of();
  (void)prune_all(kMay_ms, INT64_MIN);
  EXPECT_NEAR(mean_of(), before, 0.5);
}

TEST_F(Prune, RestsOfAPruneCutShortGoAndWritersAreRespected) {
  fill(kGpu, kApril_ms, some(120, {State::Value, 50}));
  (void)folder.write("gpu_utilization/2019-04.series.new", "half a file");
  EXPECT_EQ(prune_all(kMay_ms, INT64_MIN).months_reduced, 1U);
  EXPECT_THAT(files(), ElementsAre("2019-04.series"));
  const auto writer = StoreWriter::open(folder.path(), {});
  ASSERT_TRUE(writer);
  const auto refused = prune(folder.path(), Metric::GpuUtilization, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("another import is writing"));
}

}  // namespace
}  // namespace goban::series
