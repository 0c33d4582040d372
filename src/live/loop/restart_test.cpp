// A restarted daemon finds another configuration, or the leftovers of the previous daemon.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;

constexpr int64_t kGiBOfMemory = int64_t{1} << 30;
constexpr JobId kFirst{0U};
constexpr JobId kSecondJob{1U};

/// One GPU with a power model; limits cause no slowdown.
controller::Site limited_site(const char* policy) {
  controller::Site site = test_site(1, 1, policy);
  add_knowledge(site);
  site.composition.options.prices.cap_price_w = 0;
  return site;
}

job::JobSpec deadline_job() {
  job::JobSpec spec{.name = "r", .model = "resnet"};
  spec.training.gpu_mem_bytes = 2 * kGiBOfMemory;
  spec.training.epochs = 1000;
  spec.training.gpu_util_pct = 90;
  spec.training.deadline_ns = 10 * 24 * 3600 * kSecond;
  return spec;
}

/// The scheduler of one daemon between start and end.
struct Life {
  explicit Life(controller::Site site) : controller(std::move(site)) {}
  void apply(controller::Input input) {
    controller.apply({.at_ns = now, .input = std::move(input)});
    (void)controller.decide(now);
    for (const controller::Order& order : controller.take_orders()) {
      if (const auto* cap = std::get_if<controller::CapGpu>(&order)) watts = cap->watts;
    }
  }
  void report(JobId job, Report sent) {
    sent.run = {.job = job, .run = 1};
    apply(controller::EngineReport{.report = std::move(sent)});
  }
  /// The job continues at 20 s per epoch, then at `later_s`.
  void train(JobId job, int steps, double epoch_s) {
    for (int i = 0; i < steps; ++i) {
      now += 10 * kSecond;
      epochs += 10 / epoch_s;
      report(job, {.kind = ReportKind::Progress, .progress = {.epoch = epochs, .epochs = 1000}});
    }
  }
  /// A job under a power limit.
  void limit_a_job() {
    apply(controller::Submit{.jobs = {deadline_job()}});
    report(kFirst, {.kind = ReportKind::Started});
    train(kFirst, 10, 20);
    apply(controller::Submit{.jobs = {deadline_job()}});
    apply(controller::Cancel{.job = kSecondJob, .by = {.is_operator = true}});
  }

  controller::Controller controller;
  TimeNs now = kSecond;
  double epochs = 0;
  double watts = -1;  ///< of the last order; negative = none
};

TEST(Restart, PowerLimitsAreSetAgainOrLifted) {
  Life before(limited_site("eaco"));
  before.limit_a_job();
  ASSERT_GT(before.watts, 0) << "the job has no limit: this tests nothing";
  const std::string snapshot = before.controller.snapshot();
  for (const char* policy : {"eaco", "fifo+packed"}) {
    controller::Controller after(limited_site(policy));
    ASSERT_TRUE(after.restore(snapshot));
    const auto orders = after.limits_to_repeat();
    ASSERT_EQ(orders.size(), 1U) << policy;
    const auto& cap = std::get<controller::CapGpu>(orders.front());
    EXPECT_EQ(cap.watts, std::string_view(policy) == "eaco" ? before.watts : 0) << policy;
  }
  // Then they belong to no job.
  controller::Controller lifted(limited_site("fifo+packed"));
  ASSERT_TRUE(lifted.restore(snapshot));
  controller::Controller later(limited_site("fifo+packed"));
  ASSERT_TRUE(later.restore(lifted.snapshot()));
  EXPECT_TRUE(later.limits_to_repeat().empty());
}

TEST(Restart, APaceUnderAPowerLimitIsNoPaceAlone) {
  Life life(limited_site("eaco"));
  life.limit_a_job();
  ASSERT_GT(life.watts, 0);
  const double left_s = life.controller.reported_left_s(kFirst, life.now);
  life.train(kFirst, 20, 24);
  const double done_s = 20 * 10 / 24.0 * 20;  // duration of those epochs without a limit
  EXPECT_NEAR(life.controller.reported_left_s(kFirst, life.now), left_s - done_s, 1);
}

TEST(Restart, AJournalWithPowerLimitsIsReadWithoutAPowerModel) {
  controller::Site site = limited_site("eaco");
  auto known = std::make_shared<core::policy::SiteKnowledge>(*site.knowledge);
  known->power.clear();
  site.knowledge = known;
  controller::Controller controller(std::move(site));
  controller.apply({.at_ns = 1, .input = controller::Submit{.jobs = {job::JobSpec{.name = "a"}}}});
  const auto redone = controller.redo(
      R"({"decided":{"at":1,"actions":[{"do":"start","job":0,"gpus":[0]},{"do":"cap","gpu":0,"cap":1}]}})",
      true);
  ASSERT_FALSE(redone);
  EXPECT_NE(redone.error().text().find("power limit"), std::string::npos);
}

TEST(Restart, NodesThatMayNotRestAnyMoreWakeNobody) {
  const auto resting_site = [](const char* policy) {
    controller::Site site = test_site(4, 2, policy);
    add_knowledge(site);
    return site;
  };
  Life before(resting_site("goban"));
  before.apply(controller::Submit{.jobs = {job::JobSpec{.name = "a"}}});
  ASSERT_LT(before.controller.wake_ns(), base::kNever) << "nobody would rest: this tests nothing";
  controller::Controller after(resting_site("fifo+packed"));
  ASSERT_TRUE(after.restore(before.controller.snapshot()));
  (void)after.decide(2 * kSecond);
  EXPECT_EQ(after.wake_ns(), base::kNever);
}

controller::Site site_with_users(const std::vector<const char*>& users) {
  controller::Site site = test_site(1, 2, "las+packed");
  for (const char* user : users) site.users.intern(user);
  return site;
}

TEST(Restart, TheAccountsFileMayNameMoreThanBefore) {
  Life before(site_with_users({"alice"}));
  for (const char* user : {"bob", "alice", "bob"}) {
    job::JobSpec spec{.name = "a", .account = "chem"};
    spec.owner.user = user;
    before.apply(controller::Submit{.jobs = {spec}});
  }
  const std::string snapshot = before.controller.snapshot();
  for (const auto& users : std::vector<std::vector<const char*>>{
           {}, {"alice"}, {"alice", "carol"}, {"carol", "bob", "alice"}}) {
    Life after(site_with_users(users));
    const auto restored = after.controller.restore(snapshot);
    ASSERT_TRUE(restored) << restored.error().text();
    for (uint32_t job = 0; job < 3; ++job) {
      const auto& state = after.controller.core().state();
      const auto user = state.job(state.slot_of(JobId(job))).request.user;
      EXPECT_EQ(after.controller.site().users[user.index()], job == 1 ? "alice" : "bob");
    }
  }
}

TEST(Restart, WhatAJobSaysNeverMakesAJournalThatCannotBeRead) {
  for (const double absurd : {1e305, -1e305, 1e300}) {
    MemoryLog log;
    const controller::Site site = test_site(1, 2, "fifo+packed");
    FaultyEngine engine(site.cluster, 1);
    CommitCycle cycle(site, log, engine);
    (void)cycle.run({controller::Submit{.jobs = {job::JobSpec{.name = "a"}}}}, kSecond);
    Report sent{.kind = ReportKind::Progress, .run = {.job = kFirst, .run = 1}};
    sent.progress = {.epoch = 1, .epochs = absurd, .loss = absurd};
    const Report end{.kind = ReportKind::Ended,
                     .run = {.job = kFirst, .run = 1},
                     .exit_code = 0,
                     .ranks = {{.ranks = 1, .steps = 1, .busy_s = absurd}}};
    (void)cycle.run(
        {controller::EngineReport{.report = sent}, controller::EngineReport{.report = end}},
        2 * kSecond);
    EXPECT_EQ(cycle.controller().book().find(kFirst)->stage, controller::JobStage::Done);
    FaultyEngine other(site.cluster, 1);
    CommitCycle next(site, log, other);
    const auto fold = next.fold(log.safe);
    EXPECT_TRUE(fold) << absurd << ": " << fold.error().text();
    ASSERT_TRUE(cycle.compact());
    controller::Controller from_snapshot(site);
    EXPECT_TRUE(from_snapshot.restore(log.safe.snapshot));
  }
}

}  // namespace
}  // namespace goban::live::loop
