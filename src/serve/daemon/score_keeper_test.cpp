// The score keeper with a real scheduler: jobs report the compute times of their ranks, the
// profiler measures the true scores, and one of the users reports false times.
#include "serve/daemon/score_keeper.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <thread>

#include "base/random.hpp"
#include "core/knowledge/scores_file.hpp"
#include "core/policy/compose.hpp"
#include "live/loop/test_world.hpp"

namespace goban::serve::daemon {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr uint32_t kGpus = 8;
constexpr uint32_t kLiar = 99;
constexpr int64_t kStart_s = 1'700'000'000;
constexpr base::TimeNs kTurn = 60 * base::kSecond;  ///< of the scheduler's clock

/// The true speeds of the GPUs, and the reports of jobs.
struct Truth {
  std::mutex mutex{};
  std::vector<double> slowness = std::vector<double>(kGpus, 1.0);
  base::Random random{7};
  int64_t runs_on_5 = 0;  ///< by honest users

  /// Cumulative times of a run's ranks; a step takes 0.1 s on a normal GPU.
  std::vector<live::RankTimes> ranks_of(const live::LaunchOrder& order) {
    const std::scoped_lock lock(mutex);
    constexpr int64_t kSteps = 100;
    std::vector<live::RankTimes> out;
    for (const core::model::GpuId gpu : order.gpus) {
      const bool lies = order.spec.owner.uid == kLiar;
      const double noise = 1 + 0.02 * (random.uniform() - 0.5);
      const double step_s = 0.1 * slowness[gpu.index()] * noise * (lies && gpu.value < 2 ? 2 : 1);
      out.push_back({.rank = static_cast<int32_t>(out.size()),
                     .ranks = static_cast<int32_t>(order.gpus.size()),
                     .steps = kSteps,
                     .busy_s = kSteps * step_s});
      runs_on_5 += !lies && gpu.value == 5 ? 1 : 0;
    }
    return out;
  }
};

/// An engine whose runs last from one take_events() to the next but one.
class QuickEngine final : public live::Engine {
 public:
  explicit QuickEngine(Truth& truth) : truth_(truth) {}
  void launch(const live::LaunchOrder& order) override {
    ++launches;
    next_.push_back({.kind = live::ReportKind::Started, .run = order.run});
    later_.push_back({.kind = live::ReportKind::Ended,
                      .run = order.run,
                      .exit_code = 0,
                      .ranks = truth_.ranks_of(order)});
  }
  void stop(live::RunId, live::StopReason) override {}
  void resume(const live::LaunchOrder&) override {}
  void forget(core::model::JobId, const std::string&) override {}
  std::vector<live::EngineEvent> take_events() override {
    return live::events_of(std::exchange(next_, std::exchange(later_, {})));
  }
  std::atomic<int> launches = 0;

 private:
  Truth& truth_;
  std::vector<live::Report> next_{};
  std::vector<live::Report> later_{};
};

/// Passes finished jobs to the box, and counts them.
class BoxAccounting final : public live::loop::Accounting {
 public:
  BoxAccounting(EvidenceBox& box, stores::ProfileBook& profiles, std::atomic<size_t>& ended)
      : box_(box), profiles_(profiles), ended_(ended) {}
  base::Status record(const std::vector<live::loop::FinishedJob>& jobs) override {
    for (const live::loop::FinishedJob& each : jobs) box_.put(each.job, profiles_);
    ended_ += jobs.size();
    return {};
  }

 private:
  EvidenceBox& box_;
  stores::ProfileBook& profiles_;
  std::atomic<size_t>& ended_;
};

core::model::Cluster one_node() {
  core::model::ClusterBuilder builder("one");
  core::model::ClusterBuilder::Placed placed;
  placed.node.name = "n0";
  placed.node.num_gpus = kGpus;
  placed.node.gpu_model = builder.add_gpu_model({.name = "virtual"});
  builder.add_node(placed);
  return *builder.build();
}

struct KeeperTest : testing::Test {
  KeeperTest() {
    char pattern[] = "/tmp/goban_keeper_XXXXXX";
    folder = ::mkdtemp(pattern);
    for (uint32_t i = 0; i < kGpus; ++i) {
      machine.gpus.push_back({.index = static_cast<int32_t>(i),
                              .uuid = "V-" + std::to_string(i),
                              .name = "virtual",
                              .is_virtual = true});
    }
    profiles = std::move(
        *stores::ProfileBook::open(folder + "/profiles", folder + "/payloads", "virtual"));
    options.state = folder;
    options.scores = folder + "/scores.csv";
    options.every_ns = 0;
    options.look_every_ns = 0;
    options.unix_clock = [this] { return now_s.load(); };
    options.say = [this](const std::string& line) { said += line + "\n"; };
    options.measure = [this](const auto&, const auto& plan, const auto&, const auto&) {
      return measured(plan.gpus.front());
    };
  }
  ~KeeperTest() override {
    keeper.reset();
    daemon.reset();
    std::filesystem::remove_all(folder);
  }
  KeeperTest(const KeeperTest&) = delete;
  KeeperTest& operator=(const KeeperTest&) = delete;

  /// The profiler's result: the true scores.
  live::machine::SessionResult measured(size_t gpu) {
    ++measurements;
    core::knowledge::GpuSession session{
        .unix_s = now_s, .condition = live::machine::gpus_now(machine)[gpu].condition};
    for (auto& blocks : session.block_s) {
      blocks.assign(16, 0.02 * truth.slowness[gpu]);
    }
    return {.sessions = {std::move(session)}, .problems = {""}, .spent_s = 8};
  }
  void start(double configured_first = 1) {
    live::controller::Site site;
    site.cluster = one_node();
    std::vector<double> raw(kGpus, 1.0);
    raw[0] = configured_first;
    site.scores = core::knowledge::bin_classes({raw});
    site.penalties = core::knowledge::LocalityPenalties(site.cluster, 1);
    site.composition = *core::policy::compose("fifo+random");
    auto quick = std::make_unique<QuickEngine>(truth);
    engine = quick.get();
    auto started =
        live::loop::Daemon::start(std::move(site), {}, std::make_unique<live::loop::MemoryLog>(),
                                  std::make_unique<GatedEngine>(std::move(quick), gate),
                                  std::make_unique<BoxAccounting>(box, *profiles, ended),
                                  {.poll_ns = 1'000'000,
                                   .wall_clock = [this] { return clock_ns += kTurn; },
                                   .say = [](const auto&) {}});
    ASSERT_TRUE(started) << started.error().text();
    daemon = std::move(*started);
    keeper = std::make_unique<ScoreKeeper>(*daemon, machine, box, gate, options);
  }
  void write_book(const core::knowledge::MeasureBook& book) const {
    std::ofstream(core::knowledge::book_path(options.scores)) << core::knowledge::to_json(book);
  }
  core::knowledge::MeasureBook book() const {
    return *live::machine::read_book_beside(options.scores);
  }
  static live::job::JobSpec job(uint32_t user, int32_t gpus) {
    return {.owner = {.uid = user}, .model = "resnet50", .num_gpus = gpus};
  }
  void submit(std::vector<live::job::JobSpec> jobs) {
    submitted += jobs.size();
    ASSERT_TRUE(daemon->ask(live::controller::Submit{.jobs = std::move(jobs)}));
  }
  void wait_for_jobs() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (ended < submitted && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(ended, submitted);
    // The last turn must also take their outcomes.
    (void)daemon->wait_for_change(daemon->version(), 50'000'000);
  }
  /// One job per user, of whom the last one is malicious; then the keeper's turn. They start
  /// together, so that their placement does not depend on the speed of the machine.
  void round() {
    std::vector<live::job::JobSpec> jobs;
    for (uint32_t user = 0; user < 5; ++user) {
      const bool lies = user == 4 || only_liar;
      jobs.push_back(job(lies ? kLiar : user, user % 3 == 0 ? 1 : 2));
    }
    submit(std::move(jobs));
    wait_for_jobs();
    now_s += 900;
    keeper->turn();
  }
  std::vector<double> scores() const {
    std::vector<double> out;
    daemon->look([&](const live::loop::SchedulerSnapshot& snapshot) {
      out = snapshot.site.scores.of({0}).raw;
    });
    return out;
  }
  /// Number of runs on GPU 5 until its score is reached; over 1000: never.
  int64_t runs_until(const std::function<bool(double)>& is_so) {
    truth.runs_on_5 = 0;
    while (!is_so(scores()[5]) && truth.runs_on_5 <= 1000 && !HasFatalFailure()) round();
    return truth.runs_on_5;
  }

  std::string folder;
  std::string said;
  Truth truth;
  base::gpus::MachineGpus machine;
  ScoreKeeperOptions options;
  std::unique_ptr<stores::ProfileBook> profiles;
  EvidenceBox box;
  std::shared_ptr<MeasuringGate> gate = std::make_shared<MeasuringGate>();
  std::atomic<size_t> ended = 0;
  size_t submitted = 0;
  bool only_liar = false;
  std::atomic<int64_t> now_s = kStart_s;
  std::atomic<base::TimeNs> clock_ns = kStart_s * base::kSecond;
  int measurements = 0;
  QuickEngine* engine = nullptr;
  std::unique_ptr<live::loop::Daemon> daemon;
  std::unique_ptr<ScoreKeeper> keeper;
};

TEST_F(KeeperTest, AUserWhoLiesMovesNoBinAndIsLookedInto) {
  write_book({.since_unix_s = kStart_s - 1'000'000'000});
  start();
  for (int i = 0; i < 60; ++i) {
    only_liar = i >= 40;
    round();
    ASSERT_THAT(scores(), Each(1.0)) << "round " << i;
  }
  EXPECT_GT(measurements, 10);
  EXPECT_EQ(keeper->report().moved_by_jobs, 0);
}

TEST_F(KeeperTest, WithoutTheRuleOfUsersHeWould) {
  options.refreshes = false;
  options.learning.users_min = 1;
  start();
  for (int i = 0; i < 100 && keeper->report().moved_by_jobs == 0; ++i) {
    only_liar = i >= 40;
    round();
  }
  EXPECT_GT(keeper->report().moved_by_jobs, 0);
}

/// As docs/profile.md states it.
constexpr int64_t kFoundWithinRuns = 30;

TEST_F(KeeperTest, AStragglerIsMeasuredWithinTheStatedRunsAndForgiven) {
  write_book({.since_unix_s = kStart_s - 1'000'000'000});
  start();
  for (int i = 0; i < 12; ++i) round();
  truth.slowness[5] = 1.4;
  EXPECT_LE(runs_until([](double score) { return score > 1.2; }), kFoundWithinRuns);
  EXPECT_NEAR(scores()[5], 1.4, 1e-6) << "the profiler's score";
  truth.slowness[5] = 1;
  EXPECT_LE(runs_until([](double score) { return score < 1.1; }), kFoundWithinRuns);
  EXPECT_EQ(keeper->report().moved_by_jobs, 0);
}

TEST_F(KeeperTest, WhereNothingIsMeasuredUsersThatAgreeFindIt) {
  options.refreshes = false;
  start();
  for (int i = 0; i < 12; ++i) round();
  EXPECT_THAT(scores(), Each(1.0));
  truth.slowness[5] = 1.4;
  EXPECT_LE(runs_until([](double score) { return score > 1.2; }), kFoundWithinRuns);
  EXPECT_LE(runs_until([](double score) { return std::abs(score - 1.4) < 0.08; }),
            kFoundWithinRuns);
  EXPECT_THAT(said, HasSubstr("jobs of several users agree on GPU 5 (V-5)"));
  // A restarted keeper continues from the evidence of the first one.
  keeper.reset();
  gate = std::make_shared<MeasuringGate>();
  keeper = std::make_unique<ScoreKeeper>(*daemon, machine, box, gate, options);
  truth.slowness[5] = 1;
  EXPECT_LE(runs_until([](double score) { return score < 1.1; }), kFoundWithinRuns);
}

TEST_F(KeeperTest, MeasuringKeepsItsBudgetOverRestarts) {
  start();
  keeper->turn();
  EXPECT_EQ(book().since_unix_s, kStart_s) << "the budget of GPU time grows from now on";
  now_s += 1240;  // 0.1 % of it on 8 GPUs are 9.92 s, and a measurement takes 10
  keeper->turn();
  EXPECT_EQ(measurements, 0);
  now_s += 20;
  keeper->turn();
  keeper->turn();
  EXPECT_EQ(measurements, 1);
  EXPECT_EQ(book().spent_s, 8);
  keeper.reset();
  gate = std::make_shared<MeasuringGate>();
  keeper = std::make_unique<ScoreKeeper>(*daemon, machine, box, gate, options);
  now_s += 980;  // 17.92 s by now, and 18 s are required
  keeper->turn();
  EXPECT_EQ(measurements, 1);
  now_s += 20;
  keeper->turn();
  EXPECT_EQ(measurements, 2);
  const api::ScoreReport report = keeper->report();
  EXPECT_EQ(report.spent_s, 16);
  EXPECT_LE(report.spent_s, report.budget_s);
}

TEST_F(KeeperTest, WhatWasMeasuredUnderAnotherConditionExpires) {
  core::knowledge::MeasureBook old{.since_unix_s = kStart_s - 1'000};
  core::knowledge::GpuSession session{.unix_s = kStart_s - 900, .condition = {.driver = "before"}};
  for (auto& blocks : session.block_s) blocks = {0.03};
  core::knowledge::add_session(old.of("V-0"), session);
  write_book(old);
  start(1.5);
  keeper->turn();
  EXPECT_THAT(scores(), Each(1.0)) << "unknown";
  EXPECT_THAT(said, HasSubstr("the PM score of GPU 0 (V-0) has expired"));
  EXPECT_TRUE(keeper->report().gpus[0].expired);
  EXPECT_FALSE(keeper->report().gpus[1].expired) << "never measured";
  said.clear();
  keeper->turn();
  EXPECT_EQ(said, "") << "it is logged once";
  // Scores sent from now on apply.
  std::vector<double> raw(kGpus, 1.0);
  raw[0] = 1.25;
  ASSERT_TRUE(daemon->ask(live::controller::ScoresMeasured{
      .table = core::knowledge::to_csv(core::knowledge::bin_classes({raw, raw, raw})),
      .instead_of = {}}));
  keeper->turn();
  EXPECT_EQ(scores()[0], 1.25);
  EXPECT_FALSE(keeper->report().gpus[0].expired);
}

// The job gets the GPU at once; no job runs during a measurement.
TEST_F(KeeperTest, AJobEndsTheMeasurementOfItsGpu) {
  write_book({.since_unix_s = kStart_s - 1'000'000'000});
  bool was_interrupted = false;
  options.measure = [&](const auto&, const auto& plan, const auto& busy, const auto& interrupted) {
    submit({job(1, kGpus)});
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (!interrupted && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    was_interrupted = interrupted;
    EXPECT_EQ(engine->launches, 0);
    EXPECT_TRUE(busy().contains(static_cast<int32_t>(plan.gpus.front())));
    return live::machine::SessionResult{
        .sessions = {{}}, .problems = {"it was needed"}, .spent_s = 3};
  };
  start();
  keeper->turn();
  EXPECT_TRUE(was_interrupted);
  wait_for_jobs();
  EXPECT_EQ(engine->launches, 1);
  EXPECT_EQ(book().spent_s, 3) << "its cost counts";
  EXPECT_EQ(keeper->report().measurements, 0);
}

}  // namespace
}  // namespace goban::serve::daemon
