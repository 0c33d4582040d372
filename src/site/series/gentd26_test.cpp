// Real 57-second series of 143 pods (Alibaba GenTD26), reduced to job values: values computed once
// from the public data set by independent code, and the effect of rounding to integer percent.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <map>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/test_data.hpp"
#include "base/test_folder.hpp"
#include "base/text_file.hpp"
#include "site/series/job_values.hpp"
#include "site/series/store_writer.hpp"

namespace goban::site::series {
namespace {

constexpr uint32_t kStep_ms = 57'000;

struct Pod {
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

class GenTd26 : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = base::test_data("traces/alibaba-gentd26/pod_gpu_duty_cycle_anon.csv.gz");
    if (!path) GTEST_SKIP() << path.error().text();
    const auto text = base::read_text_file(*path);
    ASSERT_TRUE(text);
    base::CsvReader csv(*text, *path);
    while (csv.next()) {
      Pod& pod = pods_[std::string(csv.field(2))];
      pod.values.push_back(*base::parse_double(csv.field(0)));
      pod.times_ms.push_back(std::llround(*base::parse_double(csv.field(1)) * 1000));
    }
    ASSERT_TRUE(csv.status());
  }
  std::map<std::string, Pod> pods_;
};

TEST_F(GenTd26, ValuesOfTheSpecification) {
  ASSERT_EQ(pods_.size(), 143U);
  size_t long_enough = 0;
  size_t zeros = 0;
  size_t samples = 0;
  std::map<std::string, size_t> busy;
  size_t sigma_differs = 0;
  size_t decision_differs = 0;
  size_t flips = 0;
  std::vector<double> means;
  for (const auto& [name, pod] : pods_) {
    samples += pod.values.size();
    zeros += static_cast<size_t>(std::ranges::count(pod.values, 0.0));
    if (pod.values.size() * 57 < 300) continue;
    ++long_enough;
    const auto population = reduce(pod.values, {base::statistics::SigmaRule::Population});
    const auto sample = reduce(pod.values, {base::statistics::SigmaRule::Sample});
    busy["raw"] += population->max >= 5;
    busy["mean"] += population->mean >= 5;
    busy["trimmed"] += population->trimmed_max >= 5;
    sigma_differs += population->trimmed_max != sample->trimmed_max;
    decision_differs += (population->trimmed_max >= 5) != (sample->trimmed_max >= 5);
    flips += (population->max >= 5) != (population->trimmed_max >= 5);
    means.push_back(population->mean);
  }
  EXPECT_EQ(long_enough, 140U);
  EXPECT_EQ(busy["raw"], 132U);
  EXPECT_EQ(busy["mean"], 115U);
  EXPECT_EQ(busy["trimmed"], 123U);
  EXPECT_EQ(sigma_differs, 8U);
  EXPECT_EQ(decision_differs, 0U);
  EXPECT_EQ(flips, 9U);
  EXPECT_NEAR(static_cast<double>(zeros) / static_cast<double>(samples), 0.668, 0.0005);
  std::ranges::sort(means);
  const std::vector<std::pair<double, double>> expected{
      {0, 0.01}, {0.1, 0.41}, {0.25, 5.32}, {0.5, 5.79}, {0.75, 6.32}, {0.9, 11.66}, {1, 27.87}};
  for (const auto& [share, mean] : expected) {
    const auto rule = base::statistics::QuantileRule::NearestRank;
    EXPECT_NEAR(*base::statistics::quantile(means, share, rule), mean, 0.005) << share;
  }
}

// A store has integer percent. The decisions at 5 % must not change.
TEST_F(GenTd26, ThroughAStore) {
  const base::TestFolder folder("gentd26");
  auto writer = StoreWriter::open(folder.path(), {kStep_ms, false});
  ASSERT_TRUE(writer);
  for (const auto& [name, pod] : pods_) {
    for (size_t i = 0; i < pod.values.size(); ++i) {
      ASSERT_TRUE((*writer)->add({name, "0", ""}, Metric::GpuUtilization, pod.times_ms[i],
                                 {State::Value, pod.values[i]}));
    }
  }
  ASSERT_TRUE((*writer)->finish());
  const auto store = StoreReader::open(folder.path(), Metric::GpuUtilization);
  ASSERT_TRUE(store);
  JobValues job_values(*store, {});
  size_t busy = 0;
  size_t decisions_changed = 0;
  double mean_off = 0;
  for (const auto& [name, pod] : pods_) {
    if (pod.values.size() * 57 < 300) continue;
    const auto [first, last] = std::ranges::minmax(pod.times_ms);
    const auto found = job_values.of({name, first, last, {{name, "0", ""}}})[0];
    ASSERT_TRUE(found.values) << name;
    const auto exact = reduce(pod.values);
    busy += found.values->trimmed_max >= 5;
    decisions_changed += (found.values->trimmed_max >= 5) != (exact->trimmed_max >= 5);
    mean_off = std::max(mean_off, std::abs(found.values->mean - exact->mean));
  }
  EXPECT_EQ((*writer)->counts().same_slot, 0U);
  EXPECT_EQ(busy, 123U);
  EXPECT_EQ(decisions_changed, 0U);
  EXPECT_LT(mean_off, 0.13);  // percentage points
}

}  // namespace
}  // namespace goban::site::series
