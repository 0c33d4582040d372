// A pilot on a live site: policies change by the plan, what jobs got is kept, harm ends it, and a
// journal of it is replayed exactly.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "live/loop/test_pilot_world.hpp"

namespace goban::live::loop {
namespace {

using base::kHour;
using base::kMinute;
using base::kSecond;
using controller::LivePilot;
using controller::PilotState;
using core::pilot::Arm;
using testing::HasSubstr;

TEST(Pilot, PoliciesTakeTurnsByThePlan) {
  PilotWorld world;
  world.now += 17 * kMinute;
  ASSERT_TRUE(world.ask(start_of()));
  const core::pilot::Plan plan = short_plan();
  for (int32_t period = 0; period < plan.num_periods(); ++period) {
    const std::string expected = plan.arm(period) == Arm::B ? plan.policy_b : plan.policy_a;
    EXPECT_EQ(world.policy(), expected) << period;
    world.pass(kHour - kSecond);
    EXPECT_EQ(world.policy(), expected) << period;
    world.pass(kSecond);
  }
  EXPECT_EQ(world.policy(), kConfigured);
  EXPECT_EQ(world.pilot().state, PilotState::Ended);
  EXPECT_EQ(world.pilot().closed_ns - world.pilot().started_ns, plan.length_ns());
  ASSERT_TRUE(world.ask(start_of())) << "the next one may begin";
}

TEST(Pilot, APeriodThatPassedUnseenIsLeftOut) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(3 * kHour + kMinute, 4 * kHour);
  EXPECT_EQ(world.pilot().period, 3);
  EXPECT_EQ(world.policy(),
            short_plan().arm(3) == Arm::B ? short_plan().policy_b : std::string(kConfigured));
}

TEST(Pilot, JobsCountForThePeriodOfTheirSubmission) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(5 * kMinute);
  world.submit(kMinute);  // not judged: the period has just begun
  world.pass(25 * kMinute);
  for (int i = 0; i < 9; ++i) world.submit(40 * kMinute);  // 8 GPUs: one waits for 40 min
  world.pass(110 * kMinute, 5 * kSecond);
  const core::pilot::Outcomes& first = world.pilot().periods[0];
  EXPECT_EQ(first.jobs, 10);
  EXPECT_EQ(first.judged, 9);
  EXPECT_NEAR(first.wait_s, 40 * 60, 9 * 20);  // messages take seconds
  EXPECT_NEAR(first.gpu_hours, 9 * 40 / 60.0 + 1 / 60.0, 0.5);
  EXPECT_EQ(world.pilot().periods[1].jobs, 0);
}

TEST(Pilot, WaitsInProgressAreSeen) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(20 * kMinute);
  for (int i = 0; i < 9; ++i) world.submit(5 * kHour);
  world.pass(60 * kMinute, 5 * kSecond);
  EXPECT_EQ(world.pilot().periods[0].jobs, 0) << "none has ended";
  const auto now = controller::pilot_outcomes(world.cycle->controller().book(), world.now);
  EXPECT_EQ(now[0].judged, 9);
  EXPECT_NEAR(now[0].wait_s, 60 * 60, 9 * 20);  // of the ninth; messages take seconds
}

TEST(Pilot, ErrorsUnderBFallBackAtOnce) {
  PilotWorld world;
  core::pilot::Plan plan = short_plan();
  plan.pairs = 2;
  plan.stop.jobs = 5;
  ASSERT_TRUE(world.ask(start_of(plan)));
  bool fell_back = false;
  for (int32_t i = 0; i < plan.num_periods() && !fell_back; ++i) {
    const bool is_b = plan.arm(i) == Arm::B;
    for (int job = 0; job < 6; ++job) world.submit(kMinute, is_b ? 1 : 0);
    world.pass(50 * kMinute);
    fell_back = !world.pilot().runs();
    if (fell_back) {
      EXPECT_EQ(world.pilot().state, PilotState::FellBack);
      EXPECT_EQ(world.policy(), kConfigured);
      EXPECT_THAT(world.pilot().detail, HasSubstr("errors: 100.0 %"));
      // Messages take seconds, turns come by the minute.
      EXPECT_LT(world.pilot().closed_ns, world.now - 40 * kMinute);
    }
    world.pass(10 * kMinute);
  }
  EXPECT_TRUE(fell_back);
  world.pass(5 * kHour);
  EXPECT_EQ(world.policy(), kConfigured) << "and it stays";
}

TEST(Pilot, AnOperatorStopsIt) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(90 * kMinute);
  ASSERT_TRUE(world.ask(controller::StopPilot{.by = kPilotOperator, .reason = "maintenance"}));
  EXPECT_EQ(world.policy(), kConfigured);
  EXPECT_EQ(world.pilot().state, PilotState::Stopped);
  EXPECT_EQ(world.pilot().detail, "stopped by root: maintenance");
  EXPECT_FALSE(world.ask(controller::StopPilot{.by = kPilotOperator}));
}

TEST(Pilot, AReplayIsExact) {
  PilotWorld world;
  world.log.keeps_records = true;
  ASSERT_TRUE(world.ask(start_of()));
  for (int i = 0; i < 40; ++i) {
    world.submit((1 + i % 7) * 30 * kMinute, i % 5 == 0 ? 1 : 0);
    world.pass(7 * kMinute);
  }
  ASSERT_TRUE(world.pilot().runs()) << "this tests a pilot in progress";
  Refolded again(world, kConfigured);
  ASSERT_TRUE(again.fold) << again.fold.error().text();
  EXPECT_GT(again.fold->reproduced, 40);
  EXPECT_EQ(again.fold->other, 0);
  const auto& mine = world.cycle->controller();
  const auto& theirs = again.cycle->controller();
  EXPECT_EQ(theirs.core().policies().name, world.policy());
  EXPECT_EQ(controller::to_json(*theirs.book().pilot), controller::to_json(world.pilot()));
  EXPECT_EQ(theirs.core().num_running(), mine.core().num_running());
  EXPECT_EQ(theirs.core().num_waiting(), mine.core().num_waiting());
}

TEST(Pilot, GoesOnAfterARestart) {
  PilotWorld world;
  const core::pilot::Plan plan = short_plan();
  ASSERT_TRUE(world.ask(start_of(plan)));
  for (int i = 0; i < 12; ++i) world.submit(3 * kHour);
  while (plan.arm(world.pilot().period) != Arm::B) world.pass(kMinute);
  ASSERT_EQ(world.policy(), plan.policy_b);
  ASSERT_TRUE(world.cycle->compact());
  const nlohmann::json before = controller::to_json(world.pilot());
  PilotWorld next;
  ASSERT_TRUE(next.cycle->fold(world.log.safe));
  next.now = world.now;
  EXPECT_EQ(next.policy(), plan.policy_b);
  EXPECT_EQ(controller::to_json(next.pilot()), before);
  EXPECT_EQ(next.cycle->controller().core().num_running(), 8u);
  next.pass(plan.length_ns());
  EXPECT_EQ(next.pilot().state, PilotState::Ended);
  EXPECT_EQ(next.policy(), kConfigured);
}

TEST(Pilot, AnotherConfiguredPolicyWaitsForItsEnd) {
  PilotWorld world;
  world.log.keeps_records = true;
  ASSERT_TRUE(world.ask(start_of()));
  for (int i = 0; i < 12; ++i) world.submit(3 * kHour);
  world.pass(30 * kMinute);
  Refolded other(world, "fifo+packed");
  ASSERT_TRUE(other.fold) << other.fold.error().text();
  EXPECT_EQ(other.cycle->controller().core().policies().name, world.policy());
  TimeNs now = world.now;
  for (; other.cycle->controller().book().pilot->runs(); now += kMinute) {
    (void)other.cycle->run({}, now);
  }
  EXPECT_EQ(other.cycle->controller().core().policies().name, "fifo+packed");
}

/// B shares GPUs where the site is known.
TEST(Pilot, ARestartWithEnergyEndsIt) {
  PilotWorld world;
  world.log.keeps_records = true;
  core::pilot::Plan plan = short_plan();
  plan.policy_b = "goban";
  ASSERT_TRUE(world.ask(start_of(plan)));
  for (int i = 0; i < 12; ++i) world.submit(3 * kHour);
  while (plan.arm(world.pilot().period) != Arm::B) world.pass(kMinute);
  const auto with_energy = [] {
    controller::Site site = test_site(2, 4, kConfigured);
    add_knowledge(site);
    return site;
  };
  PilotWorld by_journal(with_energy());
  ASSERT_TRUE(by_journal.cycle->fold(world.log.safe));
  ASSERT_TRUE(world.cycle->compact());
  PilotWorld by_snapshot(with_energy());
  ASSERT_TRUE(by_snapshot.cycle->fold(world.log.safe));
  for (PilotWorld* next : {&by_journal, &by_snapshot}) {
    EXPECT_EQ(next->policy(), kConfigured) << "at no time does B decide there";
    next->now = world.now;
    next->turn();
    EXPECT_EQ(next->pilot().state, PilotState::Stopped);
    EXPECT_THAT(next->pilot().detail, HasSubstr("energy or colocation"));
    next->pass(3 * kHour);
    EXPECT_EQ(next->policy(), kConfigured);
  }
}

TEST(Pilot, APolicyThatIsNoLongerKnownEndsIt) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  ASSERT_TRUE(world.cycle->compact());
  std::string snapshot = world.log.safe.snapshot;
  for (size_t at = 0; (at = snapshot.find("las+packed", at)) != std::string::npos;) {
    snapshot.replace(at, 10, "gone+packed");
  }
  for (size_t at = 0;
       (at = snapshot.find("\"policy_a\":\"easy-backfill+packed", at)) != std::string::npos;) {
    snapshot.replace(at + 12, 20, "away-backfill+packed");
  }
  PilotWorld next;
  ASSERT_TRUE(next.cycle->fold({.snapshot = snapshot}));
  next.now = world.now;
  next.turn();
  EXPECT_EQ(next.pilot().state, PilotState::Stopped);
  EXPECT_NE(next.pilot().detail, "");
  EXPECT_EQ(next.policy(), kConfigured);
}

TEST(Pilot, EndsAtItsPlannedEndHoweverLateThatIsSeen) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(9 * kHour, 9 * kHour);
  EXPECT_EQ(world.pilot().state, PilotState::Ended);
  EXPECT_EQ(world.pilot().closed_ns - world.pilot().started_ns, 6 * kHour);
}

TEST(Pilot, NothingAfterItsEndChangesWhatIsCompared) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(5 * kHour + 20 * kMinute);
  const JobId first = world.cycle->controller().next_job();
  for (int i = 0; i < 10; ++i) world.submit(5 * kHour);  // on 8 GPUs
  world.pass(40 * kMinute);
  ASSERT_EQ(world.pilot().state, PilotState::Ended);
  const auto outcomes = [&] {
    return controller::pilot_outcomes(world.cycle->controller().book(), world.now);
  };
  const auto at_end = outcomes();
  EXPECT_EQ(at_end[5].judged, 10);
  EXPECT_NEAR(at_end[5].wait_s, 2 * 40 * 60, 10 * 120);  // messages take up to two turns
  for (uint32_t i : {8U, 9U}) {
    ASSERT_TRUE(world.ask(controller::Cancel{.job = JobId(first.value + i), .by = kPilotOperator}));
  }
  world.pass(9 * kHour);
  EXPECT_EQ(outcomes(), at_end);
}

TEST(Pilot, AWithdrawnJobCountsWithItsWait) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(20 * kMinute);
  for (int i = 0; i < 8; ++i) world.submit(5 * kHour);
  const JobId last = world.cycle->controller().next_job();
  world.submit(5 * kHour);
  world.pass(30 * kMinute);
  ASSERT_TRUE(world.ask(controller::Cancel{.job = last, .by = kPilotOperator}));
  world.pass(20 * kMinute);
  const auto now = controller::pilot_outcomes(world.cycle->controller().book(), world.now);
  EXPECT_EQ(now[0].judged, 9);
  EXPECT_NEAR(now[0].wait_s, 30 * 60, 9 * 120);  // messages take up to two turns
}

TEST(Pilot, WhoWasHeldOrThrottledIsNotCompared) {
  PilotWorld world;
  ASSERT_TRUE(world.ask(start_of()));
  world.pass(20 * kMinute);
  const auto submit = [&](job::JobSpec spec) {
    const JobId job = world.cycle->controller().next_job();
    world.engine.fates[job] = {.takes_ns = kMinute, .exit_code = 0};
    EXPECT_TRUE(world.ask(controller::Submit{.jobs = {std::move(spec)}}));
    return job;
  };
  const JobId held = submit({.name = "held", .num_gpus = 1, .held = true});
  submit({.name = "task", .num_gpus = 1, .array_task = 0, .array_limit = 1});
  submit({.name = "free", .num_gpus = 1});
  world.pass(20 * kMinute);
  ASSERT_TRUE(world.ask(controller::Release{.job = held, .by = kPilotOperator}));
  world.pass(10 * kMinute);
  EXPECT_EQ(world.pilot().periods[0].jobs, 3);
  EXPECT_EQ(world.pilot().periods[0].judged, 1);
  EXPECT_LT(world.pilot().periods[0].wait_s, 3 * 60) << "messages take up to two cycles";
}

TEST(Pilot, PolicyAIsTheConfiguredOne) {
  PilotWorld world;
  core::pilot::Plan plan = short_plan();
  plan.policy_a = "fifo+packed";
  EXPECT_THAT(world.ask(start_of(plan)).error().text(), HasSubstr("policy_a"));
  plan.policy_a = "packed+easy-backfill";  // the same parts
  EXPECT_TRUE(world.ask(start_of(plan)));
  ASSERT_TRUE(world.ask(controller::StopPilot{.by = kPilotOperator}));
  plan.policy_a = kConfigured;
  plan.policy_b = "packed+easy-backfill";
  EXPECT_THAT(world.ask(start_of(plan)).error().text(), HasSubstr("the same policy"));
}

TEST(Pilot, IsRefusedWhereItCannotBe) {
  PilotWorld world;
  const auto refusal = [&](const controller::StartPilot& start) {
    const base::Status status = world.ask(start);
    return status ? std::string() : status.error().text();
  };
  controller::StartPilot by_user = start_of();
  by_user.by = {.uid = 7, .user = "ann"};
  EXPECT_THAT(refusal(by_user), HasSubstr("only operators"));
  const auto with_b = [&](const char* policy) {
    core::pilot::Plan plan = short_plan();
    plan.policy_b = policy;
    return refusal(start_of(plan));
  };
  EXPECT_THAT(with_b("fastest"), HasSubstr("policy_b"));
  EXPECT_THAT(with_b("srtf+packed"), HasSubstr("only in simulation"));
  EXPECT_THAT(with_b("eaco"), HasSubstr("cannot be undone"));
  EXPECT_THAT(with_b(kConfigured), HasSubstr("two different policies"));
  core::pilot::Plan ours = short_plan();
  ours.policy_b = "goban";  // shares GPUs where the site is known only
  EXPECT_EQ(refusal(start_of(ours)), "");
  EXPECT_THAT(refusal(start_of()), HasSubstr("a pilot is running"));
  controller::Site sharing = test_site(2, 4, kConfigured);
  add_knowledge(sharing);
  PilotWorld other(std::move(sharing));
  EXPECT_THAT(other.ask(start_of()).error().text(), HasSubstr("energy or colocation"));
}

TEST(Pilot, InputsAreReadAsTheyWereWritten) {
  const auto round_trip = [](controller::Input input) {
    const std::string text = controller::to_text({.at_ns = 7, .input = std::move(input)});
    auto read = controller::parse_input(text);
    EXPECT_TRUE(read) << read.error().text();
    EXPECT_EQ(controller::to_text(*read), text);
    return std::move(read->input);
  };
  const auto started = std::get<controller::StartPilot>(round_trip(start_of()));
  EXPECT_EQ(started.plan, short_plan());
  EXPECT_TRUE(started.by == kPilotOperator);
  EXPECT_EQ(std::get<controller::StopPilot>(
                round_trip(controller::StopPilot{.by = kPilotOperator, .reason = "why"}))
                .reason,
            "why");
  const auto step = std::get<controller::PilotStep>(
      round_trip(controller::PilotStep{.period = 3, .harm = "misses"}));
  EXPECT_EQ(step.period, 3);
  EXPECT_EQ(step.harm, "misses");
  const auto halt = std::get<controller::PilotStep>(
      round_trip(controller::PilotStep{.period = -1, .harm = "energy"}));
  EXPECT_EQ(halt.period, -1);
  EXPECT_FALSE(controller::parse_input(R"({"at":1,"take":"pilot_start","by":{}})"));
  EXPECT_FALSE(controller::parse_input(
      R"({"at":1,"take":"pilot_start","plan":{"policy_a":"x","policy_b":"x"},"by":{}})"));
}

}  // namespace
}  // namespace goban::live::loop
