#include "study/history/generate/gavel.hpp"

#include <gtest/gtest.h>
#include <map>

#include "study/history/job_reader.hpp"

namespace goban::study::history {
namespace {

std::string generate(const GavelOptions& options) {
  std::string out;
  const auto status = generate_gavel(options, [&](std::string_view piece) { out += piece; });
  EXPECT_TRUE(status) << status.error().text();
  return out;
}

ReadResult read(const std::string& text) {
  base::MemorySource source(text);
  auto result = read_jobs(source, "generated.csv", {});
  EXPECT_TRUE(result);
  EXPECT_EQ(result->rejected, 0);
  EXPECT_TRUE(result->ignored_columns.empty());
  return std::move(*result);
}

/// FNV-1a, to compare bytes with what another machine wrote.
uint64_t checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

TEST(GenerateGavel, TheSameSeedGivesTheSameBytesEverywhere) {
  const std::string text = generate({});
  EXPECT_EQ(checksum(text), 92438931365734546u) << text.substr(0, 300);
  EXPECT_EQ(text, generate({}));
  EXPECT_NE(text, generate({.seed = 2}));
}

TEST(GenerateGavel, MeetsGavelsDistribution) {
  constexpr double kJobs = 200'000;
  GavelOptions options;
  options.num_jobs = static_cast<int64_t>(kJobs);
  options.load = 0.6;
  const ReadResult result = read(generate(options));
  std::map<int32_t, int> sizes;
  std::map<int, int> factors;
  std::map<std::pair<uint32_t, int32_t>, int> types;
  int is_short = 0;
  double gpu_s = 0;
  for (size_t i = 0; i < result.history.jobs.size(); ++i) {
    const core::model::Job& job = result.history.jobs[i];
    const core::model::TrainingFacts& facts = result.history.training[i];
    ++sizes[job.request.num_gpus];
    if (job.request.num_gpus == 1) ++types[{job.request.model.value, facts.batch_size}];
    is_short += job.work_s < 60'000 ? 1 : 0;
    gpu_s += job.work_s * job.request.num_gpus;
    ASSERT_GE(job.work_s, 60 * 31.6);
    ASSERT_LE(job.work_s, 60 * 10'000);
    const double factor = base::to_seconds(facts.deadline_ns) / job.work_s;
    ++factors[static_cast<int>(factor * 10 + 0.5)];
    ASSERT_GE(facts.epochs, 1);
    ASSERT_GT(facts.gpu_mem_bytes, 0);
    ASSERT_GT(facts.gpu_util_pct, 0);
  }
  EXPECT_NEAR(is_short / kJobs, 0.8, 0.005);
  EXPECT_NEAR(sizes[1] / kJobs, 0.70, 0.005);
  EXPECT_NEAR(sizes[2] / kJobs, 0.10, 0.005);
  EXPECT_NEAR(sizes[4] / kJobs, 0.15, 0.005);
  EXPECT_NEAR(sizes[8] / kJobs, 0.05, 0.005);
  ASSERT_EQ(factors.size(), 3u);
  for (const int tenths : {12, 20, 100}) EXPECT_NEAR(factors[tenths] / kJobs, 1.0 / 3, 0.005);
  EXPECT_EQ(types.size(), 26u);
  for (const auto& [type, count] : types) EXPECT_NEAR(count / (0.7 * kJobs), 1.0 / 26, 0.003);
  EXPECT_EQ(result.counts.impossible_deadlines, 0);
  const double span_s = base::to_seconds(result.history.jobs.back().request.submit_ns);
  EXPECT_NEAR(gpu_s / (span_s * 64), 0.6, 0.01);
}

TEST(GenerateGavel, OnlyDistributedTypesTakeSeveralGpus) {
  const ReadResult result = read(generate({.num_jobs = 5'000}));
  for (const core::model::Job& job : result.history.jobs) {
    if (job.request.num_gpus == 1) continue;
    const std::string& name = result.history.models[job.request.model.index()];
    EXPECT_TRUE(name != "A3C" && name != "CycleGAN" && name != "Recommendation") << name;
  }
}

TEST(GenerateGavel, Problems) {
  const auto problem = [](const GavelOptions& options) {
    const auto status = generate_gavel(options, [](std::string_view) {});
    return status ? "" : status.error().text();
  };
  EXPECT_EQ(problem({.num_jobs = 0}), "number of jobs is out of range (give 1 to 100000000)");
  EXPECT_EQ(problem({.cluster_gpus = 0}), "number of GPUs is out of range (give 1 to 16777216)");
  EXPECT_EQ(problem({.load = 0}), "load is out of range (give 1e-6 to 1e6, such as 0.8)");
  EXPECT_EQ(problem({.num_jobs = 100'000'000, .load = 0.01}),
            "the history would span more than 70 years (give fewer jobs or a higher load)");
}

}  // namespace
}  // namespace goban::study::history
