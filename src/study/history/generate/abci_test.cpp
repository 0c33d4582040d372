#include "study/history/generate/abci.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

#include "core/model/cluster_presets.hpp"
#include "study/history/generate/abci/facts.hpp"
#include "study/history/generate/samplers.hpp"
#include "study/history/job_reader.hpp"

namespace goban::study::history {
namespace {

namespace abci = generate::abci;

using core::model::Job;

std::string generate(const AbciOptions& options) {
  std::string out;
  const auto status = generate_abci(options, [&](std::string_view piece) { out += piece; });
  EXPECT_TRUE(status) << status.error().text();
  return out;
}

const core::model::Cluster& cluster() {
  static const core::model::Cluster abci = core::model::make_preset("abci").value();
  return abci;
}

/// Every job must fit the preset.
ReadResult read(const std::string& text) {
  base::MemorySource source(text);
  ReadOptions options;
  options.cluster = &cluster();
  auto result = read_jobs(source, "abci.csv", options);
  EXPECT_TRUE(result);
  EXPECT_EQ(result->rejected, 0);
  if (result->rejected > 0) ADD_FAILURE() << result->first_rejections[0].reason;
  EXPECT_FALSE(result->unsorted);
  return std::move(*result);
}

uint64_t checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

size_t row_of(const Job& job) {
  const std::string& type = cluster().resource_type(job.request.resource_type).name;
  for (size_t row = 0; row < abci::kNumRows; ++row) {
    const abci::WalltimeRow& found = abci::walltime_rows()[row];
    if (found.resource_type == type && job.request.instances >= found.nodes_min &&
        job.request.instances <= found.nodes_max) {
      return row;
    }
  }
  ADD_FAILURE() << type << " " << job.request.instances;
  return 0;
}

double share(const std::vector<double>& hours, double from, double to) {
  const auto inside = std::ranges::count_if(hours, [&](double h) { return h > from && h <= to; });
  return static_cast<double>(inside) / static_cast<double>(hours.size());
}

std::vector<double> mid_ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    }
    begin = end;
  }
  return ranks;
}

double spearman(const std::vector<double>& x, const std::vector<double>& y) {
  const auto a = mid_ranks(x);
  const auto b = mid_ranks(y);
  const double middle = static_cast<double>(x.size() - 1) / 2;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  return ab / std::sqrt(aa * bb);
}

/// The whole deep-learning population of one seed.
class AbciYearTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  static const ReadResult& year() {
    static std::map<uint64_t, ReadResult> years;
    auto found = years.find(GetParam());
    if (found == years.end()) {
      found = years.emplace(GetParam(), read(generate({.seed = GetParam()}))).first;
    }
    return found->second;
  }
  static std::vector<std::vector<double>> hours_by_row() {
    std::vector<std::vector<double>> hours(abci::kNumRows);
    for (const Job& job : year().history.jobs) hours[row_of(job)].push_back(job.work_s / 3'600);
    return hours;
  }
};

TEST_P(AbciYearTest, MeetsTheResourceMix) {
  int64_t jobs = 0;
  std::map<size_t, int64_t> rows;
  std::map<int32_t, int64_t> nodes;
  double multi_node_hours = 0;
  for (const Job& job : year().history.jobs) {
    const size_t row = row_of(job);
    ++jobs;
    ++rows[row];
    if (row < abci::kFull2) continue;
    ++nodes[job.request.instances];
    multi_node_hours += job.request.instances * job.work_s / 3'600;
  }
  EXPECT_EQ(jobs, abci::kDlJobs);
  EXPECT_EQ(rows[abci::kGSmall], 245'978);
  EXPECT_EQ(rows[abci::kGLarge] + rows[abci::kFull1], 239'856);
  EXPECT_NEAR(static_cast<double>(rows[abci::kFull1]) / (226'024 + 11'896), 0.95, 1e-4);
  int64_t multi = 0;
  int64_t powers = 0;
  int64_t up_to_eight = 0;
  int64_t beyond_rack = 0;
  for (const auto& [count, of] : nodes) {
    multi += of;
    if ((count & (count - 1)) == 0) powers += of;
    if (count <= 8) up_to_eight += of;
    if (count >= 35) beyond_rack += of;
  }
  EXPECT_EQ(multi, 11'896);
  EXPECT_NEAR(static_cast<double>(nodes[2]) / 11'896, 0.55, 1e-4);
  EXPECT_NEAR(static_cast<double>(powers) / 11'896, 0.907, 1e-4);
  EXPECT_NEAR(static_cast<double>(up_to_eight) / 11'896, 0.80, 1e-4);
  EXPECT_EQ(beyond_rack, 578);
  EXPECT_NEAR(multi_node_hours / abci::kMultiNodeHours, 1, 0.03);
}

TEST_P(AbciYearTest, MeetsTable2) {
  const auto rows = hours_by_row();
  for (size_t row = 0; row < abci::kNumRows; ++row) {
    const abci::WalltimeRow& published = abci::walltime_rows()[row];
    SCOPED_TRACE(published.name);
    std::vector<double> hours = rows[row];
    std::ranges::sort(hours);
    const auto count = static_cast<double>(hours.size());
    const double mean = std::accumulate(hours.begin(), hours.end(), 0.0) / count;
    double squares = 0;
    for (const double h : hours) squares += (h - mean) * (h - mean);
    // Jobs moved to their limit are visible in bins of at most 300 jobs.
    const bool few = hours.size() <= 300;
    EXPECT_NEAR(mean / published.mean_h, 1, few ? 0.02 : 0.004);
    EXPECT_NEAR(std::sqrt(squares / count) / published.sd_h, 1, few ? 0.03 : 0.01);
    EXPECT_NEAR(hours[hours.size() / 2] / published.median_h, 1, few ? 0.03 : 0.01);
    EXPECT_NEAR(hours.front(), published.min_h, 0.001);
    EXPECT_NEAR(hours.back(), published.max_h, 0.001);
    EXPECT_GE(hours.front() * 3'600, 300 - 1e-6);
  }
}

TEST_P(AbciYearTest, MeetsTheDistributionFunctions) {
  const auto rows = hours_by_row();
  constexpr double kPoint = 0.002;  // 0.2 percentage points
  for (const auto row : {abci::kGSmall, abci::kGLarge, abci::kFull1}) {
    EXPECT_NEAR(share(rows[row], 0, 1), 0.70, kPoint);
  }
  EXPECT_NEAR(share(rows[abci::kGSmall], 0, 24), 0.983, kPoint);
  EXPECT_NEAR(share(rows[abci::kGLarge], 0, 24), 0.939, kPoint);
  EXPECT_NEAR(share(rows[abci::kFull1], 0, 24), 0.966, kPoint);
  EXPECT_NEAR(share(rows[abci::kFull2], 1, 2), 0.70, 0.005);
  std::vector<double> multi;
  for (size_t row = abci::kFull2; row < abci::kNumRows; ++row) {
    multi.insert(multi.end(), rows[row].begin(), rows[row].end());
  }
  EXPECT_NEAR(share(multi, 0, 24), 0.98, kPoint);
}

TEST_P(AbciYearTest, MeetsUsersAndLimits) {
  std::map<uint32_t, int64_t> users;
  int64_t exceeded = 0;
  for (const Job& job : year().history.jobs) {
    ++users[job.request.user.value];
    const core::model::ResourceType& type = cluster().resource_type(job.request.resource_type);
    EXPECT_LE(job.request.walltime_limit_ns, type.walltime_max_ns);
    if (job.work_s > base::to_seconds(job.request.walltime_limit_ns)) ++exceeded;
  }
  EXPECT_EQ(exceeded, abci::kWalltimeExceededJobs);
  EXPECT_EQ(users.size(), 389u);
  std::vector<int64_t> counts;
  for (const auto& [user, jobs] : users) counts.push_back(jobs);
  std::ranges::sort(counts, std::greater());
  const auto top = std::accumulate(counts.begin(), counts.begin() + 23, int64_t{0});
  EXPECT_NEAR(static_cast<double>(top) / abci::kDlJobs, 0.80, 0.001);
}

// The paper draws 100 jobs of each bin of Full once; the standard deviation of such a draw is
// 0.023.
TEST_P(AbciYearTest, RankCorrelationIsThatOfOneDraw) {
  std::vector<std::vector<Job>> bins(abci::kNumRows);
  for (const Job& job : year().history.jobs) bins[row_of(job)].push_back(job);
  base::Random random(GetParam());
  constexpr int kDraws = 100;
  double sum = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> nodes;
    std::vector<double> walltimes;
    for (size_t row = abci::kFull1; row < abci::kNumRows; ++row) {
      auto& bin = bins[row];
      ASSERT_GE(bin.size(), 100u);
      for (size_t i = 0; i < 100; ++i) {
        std::swap(bin[i], bin[i + random.below(bin.size() - i)]);
        nodes.push_back(bin[i].request.instances);
        walltimes.push_back(bin[i].work_s);
      }
    }
    sum += spearman(nodes, walltimes);
  }
  EXPECT_NEAR(sum / kDraws, abci::kSpearman, 0.05);
}

// More by day than by night, more on Tuesday than on Sunday; no hour is empty or far above the
// others.
TEST_P(AbciYearTest, ArrivesByDayAndWeek) {
  std::array<int64_t, 24> hours{};
  std::array<int64_t, 7> weekdays{};
  for (const Job& job : year().history.jobs) {
    const auto hour = job.request.submit_ns / (3'600 * base::kSecond);
    ++hours[static_cast<size_t>(hour % 24)];
    ++weekdays[static_cast<size_t>((hour / 24 + abci::kFirstWeekday) % 7)];
    ASSERT_LT(hour, 24 * abci::kDays);
  }
  EXPECT_GT(hours[16], 2 * hours[5]);
  EXPECT_GT(static_cast<double>(weekdays[1]), 1.3 * static_cast<double>(weekdays[6]));
  EXPECT_GT(weekdays[6], abci::kDlJobs / 14);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AbciYearTest, ::testing::Values(1, 2019),
                         ::testing::PrintToStringParamName());

TEST(Abci, TheSameSeedGivesTheSameBytesEverywhere) {
  AbciOptions options;
  options.num_jobs = 20'000;
  const std::string text = generate(options);
  EXPECT_EQ(checksum(text), 4941626418186092199u) << text.substr(0, 300);
  EXPECT_EQ(text, generate(options));
  options.seed = 2;
  EXPECT_NE(text, generate(options));
}

TEST(Abci, DaysAreTheBeginningOfTheYear) {
  AbciOptions options;
  options.num_jobs = 20'000;
  const std::string year = generate(options);
  options.days = 30;
  const std::string month = generate(options);
  EXPECT_TRUE(year.starts_with(month));
  const auto jobs = static_cast<double>(read(month).history.jobs.size());
  EXPECT_NEAR(jobs / 20'000, 30.0 / 362, 0.02);
  EXPECT_LT(base::to_seconds(read(month).history.jobs.back().request.submit_ns), 30 * 86'400);
}

TEST(Abci, AllJobsHoldTheDeepLearningOnes) {
  AbciOptions options;
  options.num_jobs = 100'000;
  options.population = AbciPopulation::All;
  const ReadResult result = read(generate(options));
  ASSERT_EQ(result.history.jobs.size(), 100'000u);
  EXPECT_EQ(result.ignored_columns, std::vector<std::string>{"population"});
  int64_t without_gpus = 0;
  int64_t brief = 0;
  for (const Job& job : result.history.jobs) {
    if (job.request.num_gpus == 0) {
      ++without_gpus;
    } else if (job.work_s < 300) {
      ++brief;
    }
  }
  const double others = 1 - 497'730.0 / 2'501'437;
  EXPECT_NEAR(static_cast<double>(without_gpus) / 1e5, 0.40 * others, 0.001);
  EXPECT_NEAR(static_cast<double>(brief) / 1e5, 0.47 * others, 0.001);
}

TEST(Abci, FewJobsAreFine) {
  for (const int64_t jobs : {1, 2, 17, 100}) {
    for (const auto population : {AbciPopulation::Dl, AbciPopulation::All}) {
      const auto result = read(generate({.population = population, .num_jobs = jobs}));
      EXPECT_EQ(result.history.jobs.size(), static_cast<size_t>(jobs));
    }
  }
}

TEST(Abci, ProgressGoesFromLittleToAll) {
  int64_t last = 0;
  int64_t total = 0;
  const auto status = generate_abci(
      {.num_jobs = 300'000}, [](std::string_view) {},
      [&](int64_t done, int64_t all) {
        EXPECT_GE(done, last);
        EXPECT_LE(done, all);
        last = done;
        total = all;
      });
  ASSERT_TRUE(status);
  EXPECT_GT(static_cast<double>(last), 0.9 * static_cast<double>(total));
}

TEST(Abci, Problems) {
  const auto problem = [](const AbciOptions& options) {
    const auto status = generate_abci(options, [](std::string_view) {});
    return status ? "" : status.error().text();
  };
  EXPECT_EQ(problem({.num_jobs = -1}), "number of jobs is out of range (give 1 to 25000000)");
  EXPECT_EQ(problem({.num_jobs = 25'000'001}),
            "number of jobs is out of range (give 1 to 25000000)");
  EXPECT_EQ(problem({.days = 363}), "number of days is out of range (give 1 to 362)");
}

}  // namespace
}  // namespace goban::study::history
