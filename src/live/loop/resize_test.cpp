// A resize in the live scheduler: stop, then start on other GPUs, also over a crash in between.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <optional>

#include "live/controller/pilots.hpp"
#include "live/loop/test_scripted_world.hpp"

namespace goban::live::loop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

controller::Site elastic_site() {
  controller::Site site = test_site(2, 2, "skip+packed+max-marginal");
  add_speeds(site);
  return site;
}

job::JobSpec elastic_job(int64_t steps = 10'000) {
  job::JobSpec spec{.name = "e", .model = "net", .num_gpus = 2};
  spec.preemptible = true;
  spec.training = {.gpus_min = 1, .gpus_max = 4, .steps = steps, .resize_cost_ns = base::kSecond};
  return spec;
}

struct Resize : testing::Test {
  void step(std::vector<EngineEvent> events = {}) {
    now += base::kSecond;
    engine.events = std::move(events);
    (void)cycle->run({}, now);
  }
  const controller::JobBook& book() { return cycle->controller().book(); }
  const controller::LiveJob& job(uint32_t number) { return *book().find(JobId(number)); }
  /// What a replay of the journal finds wrong; empty: nothing.
  std::string replay_problem() {
    CommitCycle again(site, log, engine);
    const auto fold = again.fold(log.safe);
    if (!fold) return fold.error().text();
    if (fold->other > 0) return "a decision differs";
    auto& mine = const_cast<controller::Controller&>(cycle->controller());
    controller::Controller restored(site);
    if (const auto status = restored.restore(mine.snapshot()); !status) {
      return status.error().text();
    }
    return restored.snapshot() == mine.snapshot() ? "" : restored.snapshot();
  }
  void submit(const job::JobSpec& spec) {
    now += base::kSecond;
    for (const auto& answer : cycle->run({controller::Submit{.jobs = {spec}}}, now)) {
      ASSERT_TRUE(answer) << answer.error().text();
    }
  }
  void report(ReportKind kind, uint32_t job, uint32_t run) {
    step(events_of({{.kind = kind, .run = {.job = JobId(job), .run = run}}}));
  }
  /// Sizes of the launches so far, as "job/run: GPUs, as the script is told".
  [[nodiscard]] std::vector<std::string> launched() const {
    std::vector<std::string> out;
    for (const LaunchOrder& order : engine.launches) {
      out.push_back(fmt::format("{}/{}: {}, {}", order.run.job.value, order.run.run,
                                order.gpus.size(), order.spec.num_gpus));
    }
    return out;
  }
  /// kill -9 and a new daemon.
  void crash() {
    log.crash();
    engine.launches.clear();
    engine.stops.clear();
    cycle.emplace(site, log, engine);
    const auto fold = cycle->fold(log.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_EQ(fold->other, 0);
    cycle->resume();
  }

  controller::Site site = elastic_site();
  MemoryLog log;
  ScriptedEngine engine;
  std::optional<CommitCycle> cycle{std::in_place, site, log, engine};
  TimeNs now = 1'000 * base::kSecond;
};

TEST_F(Resize, StopsAtACheckpointAndStartsOnOtherGpus) {
  submit(elastic_job());
  EXPECT_THAT(launched(), ElementsAre("0/1: 4, 4")) << "alone it gets all GPUs";
  report(ReportKind::Started, 0, 1);
  submit(elastic_job());
  EXPECT_THAT(engine.stops,
              ElementsAre(std::pair(RunId{.job = JobId(0U), .run = 1}, StopReason::Preempted)));
  EXPECT_THAT(launched(), ElementsAre("0/1: 4, 4")) << "its GPUs are not left yet";
  EXPECT_EQ(job(0).resizes, 1U);
  report(ReportKind::Ended, 0, 1);
  EXPECT_THAT(launched(), ElementsAre("0/1: 4, 4", "0/2: 2, 2", "1/1: 2, 2"));
  EXPECT_EQ(replay_problem(), "");
  // When the other one ends it grows again, with its own number of GPUs in each past run.
  report(ReportKind::Started, 0, 2);
  report(ReportKind::Started, 1, 1);
  report(ReportKind::Ended, 1, 1);
  report(ReportKind::Ended, 0, 2);
  EXPECT_EQ(launched().back(), "0/3: 4, 4");
  ASSERT_EQ(job(0).past.size(), 2U);
  EXPECT_EQ(job(0).past[0].gpus.size(), 4U);
  EXPECT_EQ(job(0).past[1].gpus.size(), 2U);
  EXPECT_EQ(replay_problem(), "");
}

TEST_F(Resize, APilotCountsTheGpusOfEachRun) {
  core::pilot::Plan plan{.policy_a = "skip+packed+max-marginal", .policy_b = "skip+packed"};
  while (plan.arm(0) != core::pilot::Arm::A) ++plan.seed;
  now += base::kSecond;
  const auto answers = cycle->run(
      {controller::StartPilot{.plan = plan, .by = {.user = "root", .is_operator = true}}}, now);
  ASSERT_TRUE(answers.front()) << answers.front().error().text();
  submit(elastic_job());
  report(ReportKind::Started, 0, 1);
  submit(elastic_job());
  report(ReportKind::Ended, 0, 1);  // 2 s on 4 GPUs
  report(ReportKind::Started, 0, 2);
  report(ReportKind::Started, 1, 1);
  report(ReportKind::Ended, 1, 1);  // 1 s on 2 GPUs
  report(ReportKind::Ended, 0, 2);  // 3 s on 2 GPUs
  const auto periods = controller::pilot_outcomes(book(), now);
  EXPECT_NEAR(periods.front().gpu_hours, (2 * 4 + 1 * 2 + 3 * 2) / 3600.0, 1e-9);
}

TEST_F(Resize, ACrashBetweenItsStepsLeavesOneJobOnce) {
  submit(elastic_job());
  report(ReportKind::Started, 0, 1);
  submit(elastic_job());
  ASSERT_EQ(engine.stops.size(), 1U);
  crash();  // after the stop was ordered
  EXPECT_THAT(engine.stops,
              ElementsAre(std::pair(RunId{.job = JobId(0U), .run = 1}, StopReason::Preempted)));
  EXPECT_THAT(engine.launches, IsEmpty());
  report(ReportKind::Ended, 0, 1);
  EXPECT_THAT(launched(), ElementsAre("0/2: 2, 2", "1/1: 2, 2"));
  crash();  // after the starts were ordered, before they were answered
  EXPECT_THAT(launched(), ElementsAre("0/2: 2, 2", "1/1: 2, 2")) << "the same runs";
  report(ReportKind::Started, 0, 2);
  report(ReportKind::Started, 1, 1);
  EXPECT_EQ(book().runs.size(), 2U);
  EXPECT_EQ(job(0).runs, 2U);
  EXPECT_EQ(job(0).resizes, 1U);
  EXPECT_EQ(replay_problem(), "");
}

TEST_F(Resize, AJobThatMayNotBeStoppedKeepsItsSize) {
  job::JobSpec stays = elastic_job();
  stays.preemptible = false;
  submit(stays);
  report(ReportKind::Started, 0, 1);
  submit(elastic_job());
  EXPECT_THAT(engine.stops, IsEmpty());
  EXPECT_EQ(job(0).resizes, 0U);
}

TEST_F(Resize, RangesThatDoNotFitAreRefused) {
  const auto problem = [&](const auto& change) {
    job::JobSpec spec = elastic_job();
    change(spec);
    const auto status = cycle->controller().check(controller::Submit{.jobs = {spec}});
    return status ? std::string() : status.error().text();
  };
  EXPECT_EQ(problem([](job::JobSpec&) {}), "");
  EXPECT_NE(problem([](job::JobSpec& spec) { spec.training.gpus_max = 1; }).find("range"),
            std::string::npos);
  EXPECT_NE(problem([](job::JobSpec& spec) { spec.training.gpus_min = 3; }).find("range"),
            std::string::npos);
  EXPECT_NE(problem([](job::JobSpec& spec) {
              spec.training.gpus_max = 13;
            }).find("requests up to 13 GPUs; the cluster has 4"),
            std::string::npos);
  EXPECT_NE(problem([](job::JobSpec& spec) { spec.model = "other"; }).find("no speed of other"),
            std::string::npos);
}

TEST_F(Resize, ReportedStepsGoBeforePredictedOnes) {
  submit(elastic_job(1000));
  report(ReportKind::Started, 0, 1);
  Report sent{.kind = ReportKind::Progress, .run = {.job = JobId(0U), .run = 1}};
  sent.progress = {.step = 400, .steps = 1000};
  step(events_of({sent}));
  EXPECT_EQ(cycle->controller().reported_steps_left(JobId(0U), now), 600);
  EXPECT_EQ(replay_problem(), "");
}

}  // namespace
}  // namespace goban::live::loop
