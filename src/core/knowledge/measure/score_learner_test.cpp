#include "core/knowledge/measure/score_learner.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <numbers>

#include "base/random.hpp"
#include "core/knowledge/binning.hpp"

namespace goban::core::knowledge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kGpus = 64;
constexpr uint32_t kHonest = 10;
constexpr uint32_t kLiar = 99;
constexpr double kLiarJobs = 0.2;

enum class Lie : uint8_t { TargetsAreSlow, TargetsAreFast, AnythingAnywhere };

/// A cluster on which jobs of 1 to 4 GPUs end one after the other.
struct Site {
  base::Random random;
  std::vector<double> truth;  ///< true scores
  std::vector<double> profiled;
  ScoreLearner learner;
  Lie lie = Lie::TargetsAreSlow;
  double scatter = 0.02;
  int64_t honest_runs_on_7 = 0;

  explicit Site(uint64_t seed, LearnOptions options = {})
      : random(seed), truth(scores()), profiled(truth), learner({truth}, options) {}

  static std::vector<double> scores() {
    base::Random draw(11);
    std::vector<double> out;
    for (uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      out.push_back((gpu % 16 == 0 ? 1.3 : 1.0) + 0.02 * draw.uniform());
    }
    return out;
  }
  double noise() {
    const double u = 1 - random.uniform();
    return std::exp(scatter * std::sqrt(-2 * std::log(u)) *
                    std::cos(2 * std::numbers::pi * random.uniform()));
  }
  double claimed(uint32_t gpu, double step_s) {
    const bool target = gpu < 8;
    switch (lie) {
      case Lie::TargetsAreSlow:
        return target ? 2 * step_s : step_s;
      case Lie::TargetsAreFast:
        return target ? step_s / 2 : step_s;
      case Lie::AnythingAnywhere:
        return step_s * std::exp(2 * random.uniform() - 1);
    }
    return step_s;
  }
  void run_job() {
    const bool lies = random.uniform() < kLiarJobs;
    RunEvidence run{.user = lies ? kLiar : static_cast<uint32_t>(random.below(kHonest)),
                    .application = static_cast<uint32_t>(random.below(2)),
                    .source = TimeSource::RankCompute};
    const auto first = static_cast<uint32_t>(random.below(kGpus));
    const auto count = static_cast<uint32_t>(1 + random.below(4));
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t gpu = (first + i * 17) % kGpus;
      const double step_s = 0.1 * (run.user + 1) * (run.application + 1) * truth[gpu] * noise();
      run.gpus.emplace_back(gpu);
      run.step_s.push_back(lies ? claimed(gpu, step_s) : step_s);
      honest_runs_on_7 += !lies && gpu == 7 ? 1 : 0;
    }
    learner.observe(run);
  }
  [[nodiscard]] double learnt(uint32_t gpu) const { return learner.raw_by_class()[0][gpu]; }
  [[nodiscard]] std::vector<double> bins() const {
    const ClassScores bins = bin_scores(learner.raw_by_class()[0]).scores;
    std::vector<double> out;
    for (const uint8_t bin : bins.bin) out.push_back(bins.bin_values[bin]);
    return out;
  }
};

TEST(ScoreLearner, OneLiarWithAFifthOfTheJobsMovesNoBin) {
  for (const Lie lie : {Lie::TargetsAreSlow, Lie::TargetsAreFast, Lie::AnythingAnywhere}) {
    Site site(1 + static_cast<uint64_t>(lie));
    site.lie = lie;
    const auto before = site.bins();
    for (int job = 0; job < 10'000; ++job) {
      site.run_job();
      if (job % 1000 == 0) {
        ASSERT_EQ(site.bins(), before) << static_cast<int>(lie) << " " << job;
      }
    }
    EXPECT_EQ(site.bins(), before);
    EXPECT_EQ(site.learner.raw_by_class()[0], site.profiled);
  }
}

TEST(ScoreLearner, WithoutTheRuleOfUsersHeWould) {
  Site site(1, {.users_min = 1});
  const auto before = site.bins();
  bool moved = false;
  for (int job = 0; job < 20'000 && !moved; ++job) {
    site.run_job();
    moved = site.bins() != before;
  }
  EXPECT_TRUE(moved);
}

/// As stated in docs/profile.md.
constexpr int64_t kFoundWithinRuns = 30;

TEST(ScoreLearner, AStragglerIsFoundAndForgivenWithinTheStatedRuns) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Site site(seed);
    site.lie = Lie::TargetsAreFast;  // the user reports that it is fast
    for (int job = 0; job < 4000; ++job) site.run_job();
    EXPECT_LT(site.learnt(7), 1.03);
    const auto runs_until = [&](auto&& reached) {
      site.honest_runs_on_7 = 0;
      for (int job = 0; job < 20'000 && !reached(); ++job) site.run_job();
      return site.honest_runs_on_7;
    };
    site.truth[7] *= 1.3;
    EXPECT_LE(runs_until([&] { return site.learnt(7) > 1.2; }), kFoundWithinRuns) << seed;
    EXPECT_NEAR(site.learnt(7), site.truth[7], 0.08);
    site.truth[7] = site.profiled[7];
    EXPECT_LE(runs_until([&] { return site.learnt(7) < 1.1; }), kFoundWithinRuns) << seed;
    EXPECT_NEAR(site.learnt(7), site.truth[7], 0.08);
  }
}

/// Three applications of a user, with baselines from GPUs 1 to 4.
ScoreLearner warmed(uint32_t users) {
  ScoreLearner learner({{1, 1, 1, 1, 1, 1, 1, 1}});
  for (uint32_t user = 0; user < users; ++user) {
    RunEvidence run{.user = user, .source = TimeSource::RankCompute};
    for (uint32_t gpu = 1; gpu <= 4; ++gpu) {
      run.gpus.emplace_back(gpu);
      run.step_s.push_back(0.5);
    }
    learner.observe(run);
  }
  return learner;
}

TEST(ScoreLearner, TheAllReduceOfAGangBlamesNobody) {
  ScoreLearner learner = warmed(5);
  const auto before = learner.raw_by_class();
  // GPU 0 is slow, and the whole gang waits for it.
  for (uint32_t i = 0; i < 50; ++i) {
    learner.observe({.user = i % 5,
                     .source = TimeSource::Progress,
                     .gpus = {GpuId(0U), GpuId(1U), GpuId(2U)},
                     .step_s = {1.0}});
  }
  EXPECT_EQ(learner.raw_by_class(), before);
  EXPECT_THAT(learner.suspects(), IsEmpty());
  EXPECT_EQ(learner.unused(), 50);
  // Per-rank times without waits show only GPU 0 as slow.
  for (uint32_t i = 0; i < 10; ++i) {
    learner.observe({.user = i % 5,
                     .source = TimeSource::RankCompute,
                     .gpus = {GpuId(0U), GpuId(1U), GpuId(2U)},
                     .step_s = {1.0, 0.5, 0.5}});
  }
  EXPECT_THAT(learner.raw_by_class()[0], ElementsAre(2, 1, 1, 1, 1, 1, 1, 1));
}

TEST(ScoreLearner, ProgressAloneMakesSuspectAndMovesNothing) {
  ScoreLearner learner = warmed(5);
  for (uint32_t i = 0; i < 50; ++i) {
    learner.observe({.user = i % 5, .gpus = {GpuId(0U)}, .step_s = {2.0}});
  }
  EXPECT_THAT(learner.raw_by_class()[0], testing::Each(1));
  EXPECT_THAT(learner.suspects(), ElementsAre(GpuId(0U)));
  learner.measured(GpuId(0U), std::vector<double>{1.5});
  EXPECT_EQ(learner.raw_by_class()[0][0], 1.5);
  EXPECT_THAT(learner.suspects(), IsEmpty());
}

TEST(ScoreLearner, TwoUsersAreTooFew) {
  ScoreLearner learner = warmed(2);
  for (uint32_t i = 0; i < 50; ++i) {
    learner.observe(
        {.user = i % 2, .source = TimeSource::RankCompute, .gpus = {GpuId(0U)}, .step_s = {2.0}});
  }
  EXPECT_EQ(learner.raw_by_class()[0][0], 1);
  EXPECT_THAT(learner.suspects(), ElementsAre(GpuId(0U)));
}

TEST(ScoreLearner, WhatTheProfilerMeasuredLatelyStandsWhoeverAgrees) {
  ScoreLearner learner = warmed(5);
  learner.set_fresh({true});
  const auto say = [&] {
    for (uint32_t i = 0; i < 10; ++i) {
      learner.observe(
          {.user = i % 5, .source = TimeSource::RankCompute, .gpus = {GpuId(0U)}, .step_s = {1.0}});
    }
  };
  say();
  EXPECT_EQ(learner.raw_by_class()[0][0], 1);
  EXPECT_THAT(learner.suspects(), ElementsAre(GpuId(0U)));
  learner.set_fresh({});
  say();
  EXPECT_EQ(learner.raw_by_class()[0][0], 2);
}

TEST(ScoreLearner, OneMadeFromAnImageGoesOnAlike) {
  Site site(3);
  for (int job = 0; job < 500; ++job) site.run_job();
  Site other = site;
  other.learner = ScoreLearner(site.learner.image());
  site.truth[7] = other.truth[7] = 2;
  for (int job = 0; job < 2000; ++job) {
    site.run_job();
    other.run_job();
  }
  EXPECT_GT(site.learnt(7), 1.8);
  EXPECT_EQ(site.learner.image(), other.learner.image());
}

TEST(ScoreLearner, RemembersTheApplicationsThatRanLast) {
  ScoreLearner learner({{1, 1, 1, 1, 1}}, {.applications_max = 2});
  const auto run = [&](uint32_t application, const std::vector<GpuId>& gpus) {
    learner.observe({.application = application,
                     .source = TimeSource::RankCompute,
                     .gpus = gpus,
                     .step_s = std::vector<double>(gpus.size(), 1.0)});
  };
  const std::vector<GpuId> others = {GpuId(1U), GpuId(2U), GpuId(3U)};
  for (const uint32_t application : {1U, 2U, 1U, 3U}) run(application, others);
  EXPECT_TRUE(learner.image().baselines.contains({0, 1}));
  EXPECT_FALSE(learner.image().baselines.contains({0, 2}));
  EXPECT_TRUE(learner.image().baselines.contains({0, 3}));
}

TEST(ScoreLearner, SharedRunsAndNonsenseSayNothing) {
  ScoreLearner learner = warmed(3);
  RunEvidence run{.source = TimeSource::RankCompute, .gpus = {GpuId(0U)}, .step_s = {2.0}};
  run.shared = true;
  learner.observe(run);
  run.shared = false;
  for (const double step_s : {0.0, -1.0, std::nan(""), 1e300}) {
    run.step_s = {step_s};
    learner.observe(run);
  }
  run.step_s = {1, 2};
  learner.observe(run);
  EXPECT_EQ(learner.unused(), 6);
}

}  // namespace
}  // namespace goban::core::knowledge
