// Shockwave's round simulator: two jobs by hand, and the published logs, round by round, where the
// data is present.
#include "study/rivals/shockwave.hpp"

#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "study/rivals/batch_sizes.hpp"
#include "study/rivals/shares.hpp"

namespace goban::study::rivals {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// LM with batch size 80 has 746 steps an epoch. 10 steps a second: 1200 a round.
ShockwaveInputs two_jobs() {
  ShockwaveInputs inputs;
  inputs.num_gpus = 2;
  inputs.jobs = {{.model = "LM", .batch = 80, .gpus = 1, .steps = 1500, .submit_s = 0},
                 {.model = "LM", .batch = 80, .gpus = 2, .steps = 1800, .submit_s = 30}};
  inputs.rates.add("LM", 80, 1, 10);
  inputs.rates.add("LM", 80, 2, 10);
  return inputs;
}

std::vector<std::vector<Holding>> holdings(const ShockwaveRun& run) {
  std::vector<std::vector<Holding>> all;
  for (const Decision& round : run.rounds) all.push_back(round.holdings);
  return all;
}

TEST(Shockwave, TwoJobsByHand) {
  const auto run = run_shockwave(two_jobs(), GavelPolicy::GandivaFair);
  ASSERT_TRUE(run) << run.error().text();
  // Job 0 ends 30 s into its second round. Job 1 then runs two rounds and pays 20 of the first
  // 120 s: 1000 of 1200 steps count, and 80 s do the other 800.
  const std::vector<Holding> first = {{0, {0}}};
  const std::vector<Holding> second = {{1, {0, 1}}};
  EXPECT_THAT(holdings(*run), ElementsAre(first, first, second, second));
  EXPECT_THAT(run->jct_s, ElementsAre(150, 320));
  EXPECT_EQ(run->makespan_s, 350);
  EXPECT_EQ(run->mean_jct_s, 235);
  EXPECT_THAT(run->start_s, ElementsAre(0, 150));
  EXPECT_THAT(run->rounds[2].ended, ElementsAre(0));
  // Alone each takes 3 epochs of 59675 samples: 223.78125 s.
  EXPECT_THAT(run->finish_time_fairness, ElementsAre(0.67030, 1.42997));
  EXPECT_NEAR(run->utilization, (0.94286 + 0.51429) / 2, 1e-12);
  std::string line;
  append_decision(line, run->rounds[2]);
  EXPECT_EQ(line, "[150, [[1, [0, 1]]], [0]]\n");
}

TEST(Shockwave, RealGpusByHand) {
  const RealGpus real{.restart_s = {40}, .speed = {1, 0.5}};
  const auto run = run_shockwave(two_jobs(), GavelPolicy::GandivaFair, real);
  ASSERT_TRUE(run) << run.error().text();
  // Job 1 does 5 steps a second: 400 in its first round, 40 s of which are the restart, then 600,
  // 600, and the last 200 in 40 s.
  EXPECT_THAT(run->jct_s, ElementsAre(150, 120 + 3 * 120 + 40));
  const auto bad = run_shockwave(two_jobs(), GavelPolicy::GandivaFair, {.speed = {1}});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().text(), HasSubstr("1 speeds for 2 jobs"));
}

TEST(Shockwave, ARestartThatIsLongerThanARoundGoesOnInTheNext) {
  const RealGpus real{.restart_s = {180}};
  const auto run = run_shockwave(two_jobs(), GavelPolicy::GandivaFair, real);
  ASSERT_TRUE(run) << run.error().text();
  // No step of job 1 in its first round, 600 in the second, the other 1200 in the third.
  EXPECT_THAT(run->jct_s, ElementsAre(150, 120 + 3 * 120));
  EXPECT_THAT(run->alone_s, testing::Each(testing::DoubleNear(223.78125, 1e-9)));
}

TEST(Shockwave, RestartsAreDrawnBySeed) {
  const auto jct_s = [](uint64_t seed) {
    const RealGpus real{.restart_s = {0, 30, 60, 90}, .seed = seed};
    return run_shockwave(two_jobs(), GavelPolicy::GandivaFair, real).value().jct_s[1];
  };
  std::set<double> drawn;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(jct_s(seed), jct_s(seed));
    drawn.insert(jct_s(seed));
  }
  // 1800 steps at 10 a second from 150 s on, 120 s behind the submission, and one restart.
  EXPECT_THAT(drawn, ElementsAre(300, 330, 360, 390));
}

TEST(Shockwave, ABatchThatGrowsKeepsWholeEpochs) {
  RateTable rates;
  rates.add("LM", 20, 1, 30);
  const std::vector<BatchPhase> phases = {{.from_epoch = 3, .factor = 2}};
  const Training training{.model = find_trained_model("LM"),
                          .mode = BatchMode::GradientNoise,
                          .first_batch = 10,
                          .gpus = 1,
                          .steps = 134'583,
                          .phases = &phases};
  BatchState state{
      .batch = 10, .steps = 134'583, .done = 5'968, .rate = 20, .flag = BatchFlag::None};
  set_batch_flag(training, state);  // epoch 1; the next is still before the phase
  EXPECT_EQ(state.flag, BatchFlag::None);
  state.done = 6'000;
  set_batch_flag(training, state);
  ASSERT_EQ(state.flag, BatchFlag::Up);
  apply_batch_flag(training, rates, state);
  EXPECT_EQ(state.flag, BatchFlag::None);
  EXPECT_EQ(state.batch, 20);
  EXPECT_EQ(state.rate, 30);
  EXPECT_EQ(state.steps, 67'292);  // half, rounded up: 23 epochs as before
  EXPECT_EQ(state.done, 5'968);    // 2 epochs of 2984 steps
  state.flag = BatchFlag::Up;
  apply_batch_flag(training, rates, state);  // no rate is known for 40
  EXPECT_EQ(state.batch, 20);
}

TEST(Shockwave, RefusesWhatItCannotReplay) {
  ShockwaveInputs inputs = two_jobs();
  inputs.jobs[1].model = "GPT";
  EXPECT_THAT(run_shockwave(inputs, GavelPolicy::Allox).error().message,
              HasSubstr("job 1: unknown model GPT"));
  inputs = two_jobs();
  inputs.jobs[1].batch = 40;
  EXPECT_THAT(run_shockwave(inputs, GavelPolicy::Allox).error().message,
              HasSubstr("no rate of LM with batch size 40 on 2 GPUs, which job 1 needs"));
  inputs = two_jobs();
  inputs.jobs[1].gpus = 4;
  EXPECT_THAT(run_shockwave(inputs, GavelPolicy::Allox).error().message,
              HasSubstr("job 1: 4 GPUs on a cluster of 2"));
  inputs = two_jobs();
  inputs.jobs[1].submit_s = 5000;
  EXPECT_THAT(run_shockwave(inputs, GavelPolicy::Allox).error().message,
              HasSubstr("before job 1 is submitted"));
}

TEST(Shockwave, ARecordOfSharesMustFit) {
  ShockwaveInputs inputs = two_jobs();
  const auto with = [&](const std::string& text) {
    auto record = parse_shares(text, "s.jsonl");
    EXPECT_TRUE(record);
    inputs.shares = *record;
    const auto run = run_shockwave(inputs, GavelPolicy::MaxMinFairness);
    return run ? "" : run.error().text();
  };
  EXPECT_EQ(with("[0, [[0, 1]]]\n[120, [[0, 1], [1, 1]]]\n"), "");
  EXPECT_THAT(with("[0, [[0, 1]]]\n"), HasSubstr("s.jsonl:2: the record ends before"));
  EXPECT_THAT(with("[0, [[0, 1]]]\n[121, [[0, 1], [1, 1]]]\n"),
              HasSubstr("s.jsonl:2: shares at 121 s where those at 120 s are due"));
  EXPECT_THAT(with("[0, [[1, 1]]]\n"), HasSubstr("s.jsonl:1: job 0 is due"));
  EXPECT_THAT(with("[0, [[0, 1]]]\n[120, [[0, 1], [1, 1]]]\n[300, []]\n"), HasSubstr("s.jsonl:3"));
}

/// The published trace; skips where it is absent.
class PublishedShockwave : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = base::test_data("rivals/shockwave");
    if (!folder) GTEST_SKIP() << folder.error().text();
    folder_ = *folder;
    inputs_.jobs = parse_shockwave_trace(text("trace.csv"), "trace.csv").value();
    inputs_.rates = parse_rates(text("rates_v100.csv"), "rates_v100.csv").value();
    inputs_.batch_sizes = parse_batch_sizes(text("gns_batch_sizes.csv"), "gns.csv").value();
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    return base::read_text_file(folder_ + "/" + file).value();
  }
  /// Every round and GPU id, JCT and figure.
  void expect_equal(const std::string& policy, const ShockwaveRun& run) const {
    const std::string published = text(policy + ".rounds.jsonl.gz");
    size_t end = published.find('\n');
    const auto head = nlohmann::json::parse(published.substr(0, end));
    EXPECT_EQ(head["jct"].get<std::vector<double>>(), run.jct_s);
    EXPECT_EQ(head["ftf"].get<std::vector<double>>(), run.finish_time_fairness);
    EXPECT_EQ(head["makespan"].get<double>(), run.makespan_s);
    EXPECT_NEAR(head["avg_jct"].get<double>(), run.mean_jct_s, 1e-9);
    EXPECT_NEAR(head["util"].get<double>(), run.utilization, 1e-12);
    size_t round = 0;
    for (; end + 1 < published.size(); ++round) {
      const size_t from = end + 1;
      end = published.find('\n', from);
      ASSERT_LT(round, run.rounds.size());
      nlohmann::json own = nlohmann::json::array();
      for (const Holding& each : run.rounds[round].holdings) own.push_back({each.job, each.gpus});
      ASSERT_EQ(nlohmann::json::parse(published.substr(from, end - from)), own) << round;
    }
    EXPECT_EQ(round, run.rounds.size());
  }

  /// The run of a policy with its recorded shares; none where there is no log of it.
  [[nodiscard]] std::optional<ShockwaveRun> recorded_run(const std::string& policy,
                                                         GavelPolicy preset) {
    if (!std::filesystem::exists(folder_ + "/" + policy + ".rounds.jsonl.gz")) return {};
    if (preset != GavelPolicy::GandivaFair) {
      inputs_.shares = parse_shares(text(policy + ".shares.jsonl.gz"), "shares").value();
    }
    return run_shockwave(inputs_, preset).value();
  }

  std::string folder_;
  ShockwaveInputs inputs_;
};

TEST_F(PublishedShockwave, GandivaFairIsEqual) {
  const auto run = recorded_run("gandiva_fair", GavelPolicy::GandivaFair);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->rounds.size(), 270U);
  expect_equal("gandiva_fair", *run);
}

TEST_F(PublishedShockwave, MaxMinFairnessWithRecordedSharesIsEqual) {
  const auto run = recorded_run("max_min_fairness", GavelPolicy::MaxMinFairness);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->rounds.size(), 277U);
  expect_equal("max_min_fairness", *run);
}

// The logs of these two may be added to the folder, with their shares.
TEST_F(PublishedShockwave, MaxSumThroughputWithRecordedSharesIsEqual) {
  const auto run = recorded_run("max_sum_throughput_perf", GavelPolicy::MaxSumThroughput);
  if (!run) GTEST_SKIP() << "no max_sum_throughput_perf.rounds.jsonl.gz";
  expect_equal("max_sum_throughput_perf", *run);
}

TEST_F(PublishedShockwave, MinTotalDurationWithRecordedSharesIsEqual) {
  const auto run = recorded_run("min_total_duration", GavelPolicy::MinTotalDuration);
  if (!run) GTEST_SKIP() << "no min_total_duration.rounds.jsonl.gz";
  expect_equal("min_total_duration", *run);
}

// Beside their real run the authors published another simulation of it, with settings that are not
// public: it is no run of the published program, which it leaves in round 43.
TEST_F(PublishedShockwave, TheAuthorsComparisonRunIsAnotherOne) {
  const auto run = recorded_run("max_min_fairness", GavelPolicy::MaxMinFairness);
  ASSERT_TRUE(run);
  std::istringstream lines(text("max_min_fairness.authors_simulation.jsonl.gz"));
  std::string line;
  std::getline(lines, line);
  EXPECT_NEAR(nlohmann::json::parse(line)["avg_jct"].get<double>() / run->mean_jct_s - 1, -0.0162,
              0.0001);
  size_t round = 0;
  for (; std::getline(lines, line); ++round) {
    nlohmann::json own = nlohmann::json::array();
    for (const Holding& each : run->rounds[round].holdings) own.push_back({each.job, each.gpus});
    if (nlohmann::json::parse(line) != own) break;
  }
  EXPECT_EQ(round, 43U);
}

TEST_F(PublishedShockwave, OwnMaxMinSharesReachTheRecordedObjective) {
  const auto record = parse_shares(text("max_min_fairness.shares.jsonl.gz"), "shares").value();
  ASSERT_EQ(record.sets.size(), 28U);
  for (const ShareSet& set : record.sets) {
    ShareProblem problem;
    problem.capacity = 32;
    double recorded = INFINITY;
    for (size_t i = 0; i < set.jobs.size(); ++i) {
      const double gpus = inputs_.jobs[static_cast<size_t>(set.jobs[i])].gpus;
      problem.gpus.push_back(gpus);
      recorded = std::min(recorded, gpus * set.shares[i]);
    }
    const auto own = max_min_shares(problem);
    double used = 0;
    double least = INFINITY;
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_TRUE(own[i] >= 0 && own[i] <= 1);
      used += problem.gpus[i] * own[i];
      least = std::min(least, problem.gpus[i] * own[i]);
    }
    EXPECT_LE(used, 32 + 1e-9);
    EXPECT_GE(least, recorded * (1 - 1e-6));
  }
}

// With one's own shares the published decisions are not reached; the means are those of two other
// implementations of the same text (docs/studies/rivals.md).
TEST_F(PublishedShockwave, OwnSharesReachTheStatedOutcomes) {
  const auto mean = [this](GavelPolicy policy) {
    return run_shockwave(inputs_, policy)->mean_jct_s;
  };
  EXPECT_NEAR(mean(GavelPolicy::MaxMinFairness) / 11274.11699328137 - 1, -0.0006, 0.00005);
  EXPECT_NEAR(mean(GavelPolicy::FinishTimeFairness), 11563, 0.5);
  EXPECT_NEAR(mean(GavelPolicy::Allox), 9964.5, 0.05);
  EXPECT_EQ(run_shockwave(inputs_, GavelPolicy::MaxMinFairness)->makespan_s, 33207.66301239685);
}

}  // namespace
}  // namespace goban::study::rivals
