#include "study/history/generate/philly.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "study/history/generate/philly/facts.hpp"
#include "study/history/job_reader.hpp"

namespace goban::study::history {
namespace {

namespace philly = generate::philly;

using core::model::Job;

std::string generate(const PhillyOptions& options) {
  std::string out;
  const auto status = generate_philly(options, [&](std::string_view piece) { out += piece; });
  EXPECT_TRUE(status) << status.error().text();
  return out;
}

ReadResult read(const std::string& text) {
  base::MemorySource source(text);
  auto result = read_jobs(source, "philly.csv", {});
  EXPECT_TRUE(result);
  EXPECT_EQ(result->rejected, 0);
  EXPECT_FALSE(result->unsorted);
  return std::move(*result);
}

uint64_t checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// Number of occurrences of each text in a column.
std::map<std::string, int64_t> counts_of(const std::string& text, int column) {
  std::map<std::string, int64_t> counts;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i <= column; ++i) std::getline(fields, field, ',');
    ++counts[field];
  }
  return counts;
}
constexpr int kUser = 4;
constexpr int kAccount = 5;
constexpr int kState = 7;

class PhillyTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(PhillyTest, MeetsSizesAndRunTimes) {
  const ReadResult result = read(generate({.seed = GetParam()}));
  std::map<int32_t, int64_t> sizes;
  std::vector<std::vector<double>> rows(philly::kNumRunTimeRows);
  int64_t long_ones = 0;
  for (const Job& job : result.history.jobs) {
    ++sizes[job.request.num_gpus];
    if (job.work_s >= 300) ++long_ones;
    size_t row = 0;
    while (philly::run_time_rows()[row].gpus_max < job.request.num_gpus) ++row;
    rows[row].push_back(job.work_s);
  }
  for (const philly::SizeRow& size : philly::kSizes) {
    EXPECT_EQ(sizes[size.num_gpus], size.attempts) << size.num_gpus << " GPUs";
  }
  EXPECT_NEAR(static_cast<double>(long_ones) / 95'418, 1, 0.002);
  for (size_t row = 0; row < rows.size(); ++row) {
    SCOPED_TRACE(row);
    const DurationFacts& facts = philly::run_time_rows()[row].facts;
    auto& times = rows[row];
    std::ranges::sort(times);
    const auto count = static_cast<double>(times.size());
    double sum = 0;
    for (const double time : times) sum += time;
    EXPECT_NEAR(sum / count / facts.mean_s, 1, 0.01);
    EXPECT_EQ(times.front(), facts.min_s);
    EXPECT_EQ(times.back(), facts.max_s);
    for (const CdfPoint& point : facts.points) {
      const auto below = std::ranges::upper_bound(times, point.seconds) - times.begin();
      EXPECT_NEAR(static_cast<double>(below) / count, point.share, 0.01) << point.seconds;
    }
  }
}

TEST_P(PhillyTest, MeetsClustersUsersAndStates) {
  const std::string text = generate({.seed = GetParam()});
  auto clusters = counts_of(text, kAccount);
  EXPECT_EQ(clusters.size(), 15u);
  EXPECT_NEAR(static_cast<double>(clusters["vc0"]) / philly::kAttempts, 0.5012, 1e-3);
  EXPECT_NEAR(static_cast<double>(clusters["vc3"]) / philly::kAttempts, 0.0903, 1e-3);
  const auto users = counts_of(text, kUser);
  EXPECT_EQ(users.size(), 136u);
  int64_t first = 0;
  for (int user = 0; user < 6; ++user) first += users.at("u" + std::to_string(user));
  EXPECT_NEAR(static_cast<double>(first) / philly::kAttempts, 0.5704, 1e-3);
  // Shares of the sample. They are not fitted; only the dependence on the run time is.
  auto states = counts_of(text, kState);
  EXPECT_EQ(states.size(), 3u);
  EXPECT_NEAR(static_cast<double>(states["COMPLETED"]) / philly::kAttempts, 0.5692, 0.02);
  EXPECT_NEAR(static_cast<double>(states["CANCELLED"]) / philly::kAttempts, 0.1302, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PhillyTest, ::testing::Values(1, 2017),
                         ::testing::PrintToStringParamName());

TEST(Philly, TheSameSeedGivesTheSameBytesEverywhere) {
  PhillyOptions options;
  options.num_jobs = 20'000;
  const std::string text = generate(options);
  EXPECT_EQ(checksum(text), 939646593851679569u) << text.substr(0, 300);
  EXPECT_EQ(text, generate(options));
  options.seed = 2;
  EXPECT_NE(text, generate(options));
}

TEST(Philly, DaysAreTheBeginning) {
  const std::string whole = generate({.num_jobs = 5'000});
  const std::string week = generate({.num_jobs = 5'000, .days = 7});
  EXPECT_TRUE(whole.starts_with(week));
  EXPECT_NEAR(static_cast<double>(read(week).history.jobs.size()) / 5'000, 7.0 / 75, 0.06);
}

TEST(Philly, FewJobsAreFine) {
  for (const int64_t jobs : {1, 2, 17}) {
    EXPECT_EQ(read(generate({.num_jobs = jobs})).history.jobs.size(), static_cast<size_t>(jobs));
  }
}

TEST(Philly, Problems) {
  const auto problem = [](const PhillyOptions& options) {
    const auto status = generate_philly(options, [](std::string_view) {});
    return status ? "" : status.error().text();
  };
  EXPECT_EQ(problem({.num_jobs = 30'000'000}),
            "number of jobs is out of range (give 1 to 25000000)");
  EXPECT_EQ(problem({.days = 76}), "number of days is out of range (give 1 to 75)");
}

}  // namespace
}  // namespace goban::study::history
