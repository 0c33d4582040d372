// Any trace: no GPU is held twice, each job gets what it may have, all end, and a replay of the
// computed shares decides the same.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <set>

#include "base/random.hpp"
#include "study/rivals/elasticflow.hpp"
#include "study/rivals/shockwave.hpp"

namespace goban::study::rivals {
namespace {

constexpr std::array<GavelPolicy, 6> kGavelPolicies = {
    GavelPolicy::GandivaFair,      GavelPolicy::MaxMinFairness,     GavelPolicy::MaxSumThroughput,
    GavelPolicy::MinTotalDuration, GavelPolicy::FinishTimeFairness, GavelPolicy::Allox};

/// Ids from 0 to `num_gpus`, each at most once; as many for each job as `gpus_of` says.
template <typename GpusOf>
void expect_sound(const std::vector<Decision>& decisions, int32_t num_gpus, const GpusOf& gpus_of) {
  for (const Decision& decision : decisions) {
    std::set<int32_t> held;
    std::set<int32_t> jobs;
    for (const Holding& holding : decision.holdings) {
      ASSERT_TRUE(jobs.insert(holding.job).second) << holding.job;
      ASSERT_TRUE(gpus_of(holding.job, holding.gpus.size())) << holding.job;
      for (const int32_t gpu : holding.gpus) {
        ASSERT_TRUE(gpu >= 0 && gpu < num_gpus && held.insert(gpu).second) << gpu;
      }
    }
  }
}

ShockwaveInputs random_shockwave(uint64_t seed) {
  base::Random random(seed);
  ShockwaveInputs inputs;
  inputs.num_gpus = 8;
  for (const int32_t batch : {5, 10, 20, 40, 80}) {
    for (const int32_t gpus : {1, 2, 4, 8})
      inputs.rates.add("LM", batch, gpus, 300.0 * gpus / batch);
  }
  inputs.batch_sizes[{"LM", 10, 1}] = {{.from_epoch = 2, .factor = 2},
                                       {.from_epoch = 5, .factor = 8}};
  double submit_s = 0;
  const size_t jobs = 1 + random.below(40);
  for (size_t i = 0; i < jobs; ++i) {
    inputs.jobs.push_back({.model = "LM",
                           .batch = 5 << random.below(5),
                           .gpus = 1 << random.below(4),
                           .mode = static_cast<BatchMode>(random.below(3)),
                           .steps = static_cast<int64_t>(1 + random.below(80'000)),
                           .submit_s = submit_s});
    // Jobs overlap: the published loop stops when none is active.
    submit_s += static_cast<double>(random.below(30));
  }
  inputs.jobs.front().steps = 80'000;
  return inputs;
}

TEST(RandomTraces, ShockwaveIsSound) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    ShockwaveInputs inputs = random_shockwave(seed);
    for (const GavelPolicy policy : kGavelPolicies) {
      inputs.shares.reset();
      const auto run = run_shockwave(inputs, policy);
      ASSERT_TRUE(run) << run.error().text();
      expect_sound(run->rounds, inputs.num_gpus, [&](int32_t job, size_t gpus) {
        return static_cast<size_t>(inputs.jobs[static_cast<size_t>(job)].gpus) == gpus;
      });
      for (const double jct_s : run->jct_s) EXPECT_GT(jct_s, 0);
      // The record of a run repeats it.
      inputs.shares = ShareRecord{.sets = run->shares, .file = "record"};
      const auto again = run_shockwave(inputs, policy);
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_EQ(again->jct_s, run->jct_s);
      EXPECT_EQ(again->rounds.size(), run->rounds.size());
    }
  }
}

ElasticInputs random_elastic(uint64_t seed) {
  base::Random random(seed);
  ElasticInputs inputs;
  inputs.num_nodes = 4;
  for (const int32_t gpus : {1, 2, 4, 8, 16, 32}) {
    inputs.rates.add("m", 16, gpus, std::min(gpus, 16));
    inputs.rates.add("m", 64, gpus, 1 + gpus / 2.0);
  }
  double submit_s = 0;
  const size_t jobs = 1 + random.below(40);
  for (size_t i = 0; i < jobs; ++i) {
    inputs.jobs.push_back({.submit_s = submit_s,
                           .iterations = static_cast<double>(1 + random.below(20'000)),
                           .model = "m",
                           .deadline_s = submit_s + static_cast<double>(random.below(20'000)),
                           .batch = random.below(2) == 0 ? 16 : 64,
                           .gpus = 1 << random.below(6),
                           .duration_s = static_cast<double>(1 + random.below(20'000))});
    submit_s += static_cast<double>(random.below(900));
  }
  return inputs;
}

TEST(RandomTraces, ElasticFlowIsSound) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const ElasticInputs inputs = random_elastic(seed);
    for (const auto policy : {run_elastic_edf, run_elastic_gandiva, run_elastic_themis}) {
      const auto run = policy(inputs);
      ASSERT_TRUE(run) << seed << ": " << run.error().text();
      const bool elastic = policy == run_elastic_edf;
      expect_sound(run->maps, 32, [&](int32_t id, size_t gpus) {
        const ElasticJob& job = inputs.jobs[static_cast<size_t>(id)];
        return elastic ? gpus <= static_cast<size_t>(job.batch)
                       : gpus == static_cast<size_t>(job.gpus);
      });
      EXPECT_EQ(run->rows.size(), inputs.jobs.size());
      for (const ElasticRow& row : run->rows) {
        EXPECT_GE(row.end_s, inputs.jobs[static_cast<size_t>(row.job)].submit_s);
      }
    }
  }
}

}  // namespace
}  // namespace goban::study::rivals
