#include "study/history/generate/poisson.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

#include "study/history/job_reader.hpp"

namespace goban::study::history {
namespace {

std::string generate(const PoissonOptions& options) {
  std::string out;
  const auto status = generate_poisson(options, [&](std::string_view piece) { out += piece; });
  EXPECT_TRUE(status) << status.error().text();
  return out;
}

ReadResult read(const std::string& text) {
  base::MemorySource source(text);
  auto result = read_jobs(source, "generated.csv", {});
  EXPECT_TRUE(result);
  EXPECT_EQ(result->rejected, 0);
  EXPECT_FALSE(result->unsorted);
  return std::move(*result);
}

/// FNV-1a, to compare bytes with what another machine wrote.
uint64_t checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

TEST(Generate, TheSameSeedGivesTheSameBytesEverywhere) {
  PoissonOptions options;
  options.walltimes = true;
  const std::string text = generate(options);
  EXPECT_EQ(checksum(text), 5375385321764826759u) << text.substr(0, 200);
  EXPECT_EQ(text, generate(options));
  options.seed = 2;
  EXPECT_NE(text, generate(options));
}

TEST(Generate, MeetsLoadDurationsAndSizes) {
  PoissonOptions options;
  options.num_jobs = 100'000;
  options.duration_sigma = 1;
  const ReadResult result = read(generate(options));
  ASSERT_EQ(result.history.jobs.size(), 100'000u);
  double gpu_s = 0;
  double work_s = 0;
  std::map<int32_t, int> sizes;
  std::map<uint32_t, int> users;
  for (const core::model::Job& job : result.history.jobs) {
    gpu_s += job.work_s * job.request.num_gpus;
    work_s += job.work_s;
    ++sizes[job.request.num_gpus];
    ++users[job.request.user.value];
  }
  const double span_s = base::to_seconds(result.history.jobs.back().request.submit_ns);
  EXPECT_NEAR(gpu_s / (span_s * 64), 0.8, 0.03);
  EXPECT_NEAR(work_s / 1e5, 5400, 100);
  EXPECT_NEAR(sizes[1] / 1e5, 0.80, 0.01);
  EXPECT_NEAR(sizes[32] / 1e5, 0.005, 0.001);
  EXPECT_EQ(result.history.models.size(), 6u);
  EXPECT_EQ(users.size(), 100u);
  const uint32_t first = result.history.users.find("u0");
  const uint32_t tenth = result.history.users.find("u9");
  EXPECT_NEAR(static_cast<double>(users[first]) / users[tenth], std::pow(10, 1.1), 1.5);
}

TEST(Generate, HorizonHoldsAllJobs) {
  PoissonOptions options;
  options.num_jobs = 1000;
  options.horizon_s = 86'400;
  const ReadResult result = read(generate(options));
  const double last_s = base::to_seconds(result.history.jobs.back().request.submit_ns);
  EXPECT_LT(last_s, 86'400);
  EXPECT_GT(last_s, 86'000);
}

TEST(Generate, SmallClustersLeaveOutLargeJobs) {
  PoissonOptions options;
  options.cluster_gpus = 4;
  for (const core::model::Job& job : read(generate(options)).history.jobs) {
    EXPECT_LE(job.request.num_gpus, 4);
  }
}

TEST(Generate, WalltimesAreNotBelowTheTruth) {
  PoissonOptions options;
  options.walltimes = true;
  const ReadResult result = read(generate(options));
  EXPECT_TRUE(result.history.has_walltime_limits);
  for (const core::model::Job& job : result.history.jobs) {
    EXPECT_GE(base::to_seconds(job.request.walltime_limit_ns), job.work_s);
  }
}

std::string problem(const PoissonOptions& options) {
  const auto status = generate_poisson(options, [](std::string_view) {});
  return status ? "" : status.error().text();
}

TEST(Generate, Problems) {
  EXPECT_EQ(problem({.num_jobs = 0}), "number of jobs is out of range (give 1 to 100000000)");
  EXPECT_EQ(problem({.load = 0}), "load is out of range (give 1e-6 to 1e6, such as 0.8)");
  EXPECT_EQ(problem({.load = std::nan("")}),
            "load is out of range (give 1e-6 to 1e6, such as 0.8)");
  EXPECT_EQ(problem({.cluster_gpus = 1, .gpu_shares = {{2, 1}}}),
            "no job size fits the cluster (give a size of at most 1 GPUs)");
  EXPECT_EQ(problem({.num_jobs = 100'000'000, .cluster_gpus = 1, .load = 0.001}),
            "the history would span more than 70 years "
            "(give fewer jobs, a higher load or shorter jobs)");
}

}  // namespace
}  // namespace goban::study::history
