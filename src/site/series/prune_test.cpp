#include "site/series/prune.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <gmock/gmock.h>
#include <map>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "site/series/job_values.hpp"
#include "site/series/store_reader.hpp"
#include "site/series/store_writer.hpp"

namespace goban::site::series {
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
  void fill(const DeviceKey& gpu, int64_t from_ms, const std::vector<Reading>& readings,
            uint32_t step_ms = 60'000) const {
    auto writer = StoreWriter::open(folder.path(), {step_ms, false});
    ASSERT_TRUE(writer);
    for (size_t i = 0; i < readings.size(); ++i) {
      ASSERT_TRUE((*writer)->add(gpu, Metric::GpuUtilization,
                                 from_ms + static_cast<int64_t>(i) * step_ms + step_ms / 2,
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

  base::TestFolder folder{"prune"};
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
           some(30, forty) + some(30, {State::NotAvailable, 0}) +  // half suffices
           some(29, forty) + some(31, {State::Stale, 0}) +         // less does not
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
  // Hours that were reduced are not restored by importing the same samples.
  fill(kGpu, kMay_ms, some(2880, {State::Value, 50}));
  EXPECT_EQ(codes(kGpu), before);
}

TEST_F(Prune, LateSamplesDoNotCostTheHoursOfEarlierPrunes) {
  fill(kGpu, kApril_ms, some(20 * 1440, {State::Value, 50}));
  (void)prune_all(kMay_ms, INT64_MIN);
  EXPECT_EQ(codes(kGpu).size(), 20U * 24);
  fill(kGpu, kApril_ms + 24 * kDay_ms, some(1440, {State::Value, 70}));
  EXPECT_EQ(prune_all(kMay_ms, INT64_MIN).months_reduced, 1U);
  EXPECT_EQ(codes(kGpu).size(), 21U * 24);
  EXPECT_EQ(codes(kGpu).front().second, 50);
  EXPECT_EQ(codes(kGpu).back().second, 70);
  EXPECT_EQ(prune_all(kMay_ms, INT64_MIN).months_reduced, 0U);
}

TEST_F(Prune, EachBlockCountsByItsOwnStep) {
  fill(kGpu, kApril_ms, some(20 * 1440, {State::Value, 50}));
  fill(kGpu, kApril_ms + 20 * kDay_ms, some(2 * 5760, {State::Value, 70}), 15'000);
  // An hour with both: 20 minutes with one step and 40 with the other.
  fill(kGpu, kApril_ms + 22 * kDay_ms, some(20, {State::Value, 0}));
  fill(kGpu, kApril_ms + 22 * kDay_ms + 20 * kMinute_ms, some(160, {State::Value, 90}), 15'000);
  (void)prune_all(kMay_ms, INT64_MIN);
  const auto hours = codes(kGpu);
  ASSERT_EQ(hours.size(), 22U * 24 + 1);
  EXPECT_EQ(hours[0].second, 50);
  EXPECT_EQ(hours[size_t{20} * 24].second, 70);
  EXPECT_EQ(hours.back().second, 60);
}

TEST_F(Prune, AValueThatCameLaterReplacesAMarkOnce) {
  fill(kGpu, kApril_ms, some(60, {State::NotAvailable, 0}));
  fill(kGpu, kApril_ms, some(40, {State::Value, 30}));  // blocks overlap in time
  (void)prune_all(kMay_ms, INT64_MIN);
  using Pair = std::pair<int64_t, uint16_t>;
  EXPECT_THAT(codes(kGpu), ElementsAre(Pair{30, 30}));
  fill(kOther, kApril_ms, some(60, {State::NotAvailable, 0}));
  (void)prune_all(kMay_ms, INT64_MIN);
  EXPECT_THAT(codes(kOther), ElementsAre(Pair{30, kNotAvailableCode}));
  fill(kOther, kApril_ms, some(60, {State::Value, 20}));
  (void)prune_all(kMay_ms, INT64_MIN);
  EXPECT_THAT(codes(kOther), ElementsAre(Pair{30, 20}));
}

TEST_F(Prune, ImportsAndPrunesInAnyOrderKeepEveryHourlyValue) {
  constexpr std::array<uint32_t, 5> kSteps_ms{15'000, 60'000, 300'000, 1'500'000, 3'600'000};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    std::filesystem::remove_all(folder / "gpu_utilization");
    std::map<int64_t, uint16_t> kept;  // hourly values so far
    for (int round = 0; round < 5; ++round) {
      const uint32_t step_ms = kSteps_ms[random.below(kSteps_ms.size())];
      std::vector<Reading> readings;
      for (uint64_t left = 1 + random.below(2 * kDay_ms / step_ms); left > 0;) {
        const auto state = random.below(4) == 0 ? State::NotAvailable : State::Value;
        const double value = state == State::Value ? static_cast<double>(random.below(101)) : 0;
        const uint64_t run = std::min<uint64_t>(left, 1 + random.below(100));
        readings = readings + some(run, {state, value});
        left -= run;
      }
      fill(kGpu, kApril_ms + static_cast<int64_t>(random.below(6 * 24)) * kHour_ms / 2, readings,
           step_ms);
      if (random.below(3) == 0) continue;
      (void)prune_all(kMay_ms, INT64_MIN);
      const auto once = codes(kGpu);
      EXPECT_EQ(prune_all(kMay_ms, INT64_MIN).months_reduced, 0U);
      EXPECT_EQ(codes(kGpu), once);
      const std::map<int64_t, uint16_t> now(once.begin(), once.end());
      for (const auto& [minute, code] : kept) {
        ASSERT_TRUE(now.contains(minute)) << minute;
        EXPECT_EQ(now.at(minute), code) << minute;
      }
      for (const auto& [minute, code] : once) {
        if (is_value(code)) kept[minute] = code;
      }
    }
  }
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
}  // namespace goban::site::series
