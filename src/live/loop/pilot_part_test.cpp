// A pilot that is limited to some nodes and users: both policies decide there alone, the site's
// policy decides about everything else, and the end returns nodes and jobs to all.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <set>

#include "live/controller/core_image_json.hpp"
#include "live/loop/test_pilot_world.hpp"

namespace goban::live::loop {
namespace {

using base::kHour;
using base::kMinute;
using base::kSecond;
using controller::PilotState;
using core::model::ActionKind;
using core::pilot::Arm;
using testing::ElementsAre;
using testing::HasSubstr;

core::pilot::Plan limited_plan() {
  core::pilot::Plan plan = short_plan();
  plan.nodes = {"n1"};
  plan.users = {"ann"};
  plan.accounts = {"vision"};
  return plan;
}

job::JobSpec pilot_spec(const char* user, int32_t gpus, const char* account = "") {
  job::JobSpec spec{.name = "a", .account = account, .num_gpus = gpus};
  spec.owner.user = user;
  return spec;
}

struct PartWorld : PilotWorld {
  using PilotWorld::PilotWorld;

  [[nodiscard]] const controller::LiveJob& job_of(JobId job) const {
    return cycle->controller().book().jobs.at(job);
  }
  [[nodiscard]] std::set<uint32_t> nodes_of(JobId job) const {
    std::set<uint32_t> nodes;
    for (const GpuId gpu : job_of(job).gpus) nodes.insert(cluster.node_of(gpu).value);
    return nodes;
  }
  /// Who decides on the pilot's nodes; empty: nobody apart.
  [[nodiscard]] std::string part_policy() const {
    const core::policy::PolicySet& policies = cycle->controller().core().policies();
    return policies.of_part ? policies.of_part->name : std::string();
  }
  /// Submits jobs of users within and without, for a while.
  void load(int steps) {
    for (int i = 0; i < steps; ++i) {
      const char* user = i % 2 == 0 ? "ann" : "bob";
      job::JobSpec spec = pilot_spec(user, 1 + i % 3, i % 5 == 0 ? "vision" : "");
      spec.walltime_limit_ns = i % 3 == 0 ? 4 * kHour : 0;
      spec.preemptible = i % 4 != 0;
      submit(spec, (1 + i % 7) * 20 * kMinute, i % 6 == 0 ? 1 : 0);
      pass(7 * kMinute);
    }
  }
};

TEST(PilotPart, PoliciesTakeTurnsOnItsNodesAlone) {
  PartWorld world;
  const core::pilot::Plan plan = limited_plan();
  ASSERT_TRUE(world.ask(start_of(plan)));
  for (int32_t period = 0; period < plan.num_periods(); ++period) {
    EXPECT_EQ(world.policy(), kConfigured);
    EXPECT_EQ(world.part_policy(), plan.arm(period) == Arm::B ? plan.policy_b : plan.policy_a);
    world.pass(kHour);
  }
  EXPECT_EQ(world.pilot().state, PilotState::Ended);
  EXPECT_EQ(world.policy(), kConfigured);
  EXPECT_EQ(world.part_policy(), "");
  EXPECT_TRUE(world.cycle->controller().core().state().resources().promised().empty());
  ASSERT_TRUE(world.ask(start_of(plan))) << "the next one may begin";
}

TEST(PilotPart, ItsJobsRunThereAndOthersElsewhere) {
  PartWorld world;
  ASSERT_TRUE(world.ask(start_of(limited_plan())));
  world.pass(20 * kMinute);
  const JobId ann = world.submit(pilot_spec("ann", 3), kHour);
  const JobId vision = world.submit(pilot_spec("bob", 1, "vision"), kHour);
  const JobId bob = world.submit(pilot_spec("bob", 4), kHour);
  const JobId waits = world.submit(pilot_spec("ann", 1), kMinute);
  const JobId large = world.submit(pilot_spec("ann", 8), kMinute);
  world.pass(10 * kMinute);
  EXPECT_THAT(world.nodes_of(ann), ElementsAre(1U));
  EXPECT_THAT(world.nodes_of(vision), ElementsAre(1U));
  EXPECT_THAT(world.nodes_of(bob), ElementsAre(0U));
  EXPECT_TRUE(world.nodes_of(waits).empty());
  EXPECT_FALSE(world.job_of(large).reservation.valid()) << "larger than the pilot's nodes";
  world.pass(2 * kHour);
  EXPECT_EQ(world.pilot().periods[0].jobs, 3) << "the jobs of others do not count";
  EXPECT_EQ(world.pilot().periods[0].judged, 3);
}

TEST(PilotPart, WhoRunsAlreadyStays) {
  PartWorld world;
  const JobId ann = world.submit(pilot_spec("ann", 4), 2 * kHour);
  const JobId bob = world.submit(pilot_spec("bob", 4), 2 * kHour);
  const JobId waits = world.submit(pilot_spec("ann", 2), kHour);
  const JobId next = world.submit(pilot_spec("bob", 2), kHour);
  world.pass(10 * kMinute);
  core::pilot::Plan plan = limited_plan();
  // The nodes on which the jobs of others run.
  plan.nodes = {"n" + std::to_string(*world.nodes_of(bob).begin())};
  ASSERT_TRUE(world.ask(start_of(plan)));
  world.pass(10 * kMinute);
  EXPECT_EQ(world.job_of(bob).stage, controller::JobStage::Running);
  EXPECT_EQ(world.job_of(ann).stage, controller::JobStage::Running);
  EXPECT_FALSE(world.job_of(ann).reservation.valid()) << "it runs elsewhere";
  EXPECT_TRUE(world.job_of(waits).reservation.valid());
  world.pass(2 * kHour);
  EXPECT_EQ(world.nodes_of(waits), world.nodes_of(bob));
  EXPECT_EQ(world.nodes_of(next), world.nodes_of(ann));
}

TEST(PilotPart, WhoseRequestChangesAtTheEngineMayEnterAndLeaveIt) {
  PartWorld world;
  ASSERT_TRUE(world.ask(start_of(limited_plan())));
  world.submit(pilot_spec("ann", 4), kHour);
  world.submit(pilot_spec("bob", 4), kHour);
  JobSeen seen{.id = "8", .managed = true, .spec = pilot_spec("ann", 2)};
  const auto belongs = [&] {
    EXPECT_TRUE(world.ask(seen));
    const controller::JobBook& book = world.cycle->controller().book();
    const JobId job = book.by_engine_id.at("8");
    const ReservationId whose = book.jobs.at(job).reservation;
    EXPECT_EQ(world.cycle->controller().core().state().queue(whose).size(), 1U);
    return whose.valid();
  };
  EXPECT_TRUE(belongs());
  seen.spec.num_gpus = 8;
  seen.spec.instances = 2;
  EXPECT_FALSE(belongs()) << "larger than the pilot's nodes";
  seen.spec.num_gpus = 3;
  seen.spec.instances = 1;
  EXPECT_TRUE(belongs());
  seen.spec.owner.user = "bob";
  EXPECT_FALSE(belongs());
  seen.spec.account = "vision";
  EXPECT_TRUE(belongs());
}

TEST(PilotPart, ItsEndReturnsNodesAndJobs) {
  for (const bool by_hand : {false, true}) {
    PartWorld world;
    core::pilot::Plan plan = limited_plan();
    ASSERT_TRUE(world.ask(start_of(plan)));
    world.pass(5 * kHour + 20 * kMinute);
    const JobId runs = world.submit(pilot_spec("ann", 4), 3 * kHour);
    const JobId waits = world.submit(pilot_spec("ann", 4), kHour);
    const JobId bob = world.submit(pilot_spec("bob", 8), kHour);
    world.pass(10 * kMinute);
    const std::vector<GpuId> held = world.job_of(runs).gpus;
    ASSERT_TRUE(world.job_of(waits).gpus.empty());
    if (by_hand) {
      ASSERT_TRUE(world.ask(controller::StopPilot{.by = kPilotOperator}));
    }
    world.pass(40 * kMinute);
    EXPECT_FALSE(world.pilot().runs());
    EXPECT_EQ(world.job_of(runs).gpus, held);
    EXPECT_EQ(world.job_of(runs).runs, 1U);
    EXPECT_THAT(world.nodes_of(waits), ElementsAre(0U)) << "all nodes are for all";
    EXPECT_EQ(world.pilot().periods[5].judged, 2);
    world.pass(5 * kHour);
    EXPECT_EQ(world.job_of(bob).result, controller::JobResult::Completed);
  }
}

TEST(PilotPart, HarmFallsBackAtOnce) {
  PartWorld world;
  core::pilot::Plan plan = limited_plan();
  plan.stop.jobs = 5;
  ASSERT_TRUE(world.ask(start_of(plan)));
  for (int32_t i = 0; i < plan.num_periods() && world.pilot().runs(); ++i) {
    const bool is_b = plan.arm(i) == Arm::B;
    for (int job = 0; job < 6; ++job) {
      world.submit(pilot_spec("ann", 1), kMinute, is_b ? 1 : 0);
      world.submit(pilot_spec("bob", 1), kMinute, 1);  // not the pilot's
    }
    world.pass(kHour);
  }
  EXPECT_EQ(world.pilot().state, PilotState::FellBack);
  EXPECT_THAT(world.pilot().detail, HasSubstr("errors: 100.0 %"));
  EXPECT_THAT(world.pilot().detail, HasSubstr("0.0 % under A"));
  EXPECT_EQ(world.part_policy(), "");
}

TEST(PilotPart, AReplayIsExact) {
  PartWorld world;
  world.log.keeps_records = true;
  world.load(8);
  ASSERT_TRUE(world.ask(start_of(limited_plan())));
  world.load(40);
  ASSERT_TRUE(world.pilot().runs()) << "this tests a pilot in progress";
  Refolded again(world, kConfigured);
  ASSERT_TRUE(again.fold) << again.fold.error().text();
  EXPECT_GT(again.fold->reproduced, 40);
  EXPECT_EQ(again.fold->other, 0);
  const auto state_of = [](const CommitCycle& cycle) {
    const controller::Controller& controller = cycle.controller();
    return std::pair(controller::to_json(controller.core().image()),
                     controller::to_json(*controller.book().pilot));
  };
  EXPECT_EQ(state_of(*again.cycle), state_of(*world.cycle));
}

TEST(PilotPart, GoesOnAfterARestart) {
  PartWorld world;
  const core::pilot::Plan plan = limited_plan();
  ASSERT_TRUE(world.ask(start_of(plan)));
  world.load(10);
  while (plan.arm(world.pilot().period) != Arm::B) world.pass(kMinute);
  ASSERT_TRUE(world.cycle->compact());
  const nlohmann::json snapshot = nlohmann::json::parse(world.log.safe.snapshot);
  EXPECT_EQ(snapshot["version"], 3) << "an earlier release would give its nodes to others";
  PartWorld next;
  ASSERT_TRUE(next.cycle->fold(world.log.safe));
  next.now = world.now;
  EXPECT_EQ(next.policy(), kConfigured);
  EXPECT_EQ(next.part_policy(), plan.policy_b);
  ASSERT_TRUE(next.cycle->compact());
  EXPECT_EQ(next.log.safe.snapshot, world.log.safe.snapshot);
  next.pass(plan.length_ns());
  EXPECT_EQ(next.pilot().state, PilotState::Ended);
  EXPECT_EQ(next.part_policy(), "");
}

TEST(PilotPart, ItsNodesCannotBeReservedMeanwhile) {
  controller::Site site = test_site(2, 4, kConfigured);
  site.reservations = {.unit_ns = kSecond, .ahead_ns = 0};
  PartWorld world(std::move(site));
  ASSERT_TRUE(world.ask(start_of(limited_plan())));
  controller::Reserve reserve{.by = kPilotOperator};
  reserve.plan.nodes = {NodeId(1U)};
  reserve.plan.start_ns = world.now + 100 * kHour;
  reserve.plan.end_ns = reserve.plan.start_ns + kHour;
  EXPECT_THAT(world.ask(reserve).error().text(), HasSubstr("belongs to the pilot"));
  reserve.plan.nodes = {NodeId(0U)};
  EXPECT_TRUE(world.ask(reserve));
  ASSERT_TRUE(world.ask(controller::StopPilot{.by = kPilotOperator}));
  core::pilot::Plan plan = limited_plan();
  plan.nodes = {"n0"};
  EXPECT_THAT(world.ask(start_of(plan)).error().text(), HasSubstr("belongs to reservation R2"));
}

TEST(PilotPart, IsRefusedWhereItCannotBe) {
  PartWorld world;
  const auto refusal = [&](const core::pilot::Plan& plan) {
    const base::Status status = world.ask(start_of(plan));
    return status ? std::string() : status.error().text();
  };
  core::pilot::Plan plan = limited_plan();
  plan.nodes = {"n7"};
  EXPECT_THAT(refusal(plan), HasSubstr("nodes: there is no node n7"));
  plan.nodes = {"n0", "n1"};
  EXPECT_THAT(refusal(plan), HasSubstr("no node to other users"));
  plan.nodes = {"n1", "n1"};
  EXPECT_THAT(refusal(plan), HasSubstr("names n1 twice"));
  plan.nodes = {};
  EXPECT_THAT(refusal(plan), HasSubstr("nodes: is missing"));
  plan = limited_plan();
  plan.users = plan.accounts = {};
  EXPECT_THAT(refusal(plan), HasSubstr("users: names nobody"));
  plan = limited_plan();
  plan.policy_b = "las+packed+edf";
  EXPECT_THAT(refusal(plan), HasSubstr("sizes of jobs"));
  EXPECT_EQ(world.cycle->controller().book().pilot, std::nullopt);
}

TEST(PilotPart, JobsOfMoreNodesThanItHasDoNotBelongToIt) {
  core::model::ClusterBuilder builder("test");
  builder.add_gpu_model({.name = "test", .mem_bytes = int64_t{16} << 30});
  for (const char* name : {"n0", "n1", "n2"}) {
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = name;
    placed.node.num_gpus = 4;
    builder.add_node(placed);
  }
  core::model::ResourceType type;
  type.name = "one-of-a-node";
  type.gpus = 1;
  type.max_instances = 8;
  type.apart = true;
  builder.add_resource_type(type);
  controller::Site site = test_site(3, 4, kConfigured);
  site.cluster = *builder.build();
  PartWorld world(std::move(site));
  ASSERT_TRUE(world.ask(start_of(limited_plan())));
  job::JobSpec spec = pilot_spec("ann", 2);
  spec.resource_type = type.name;
  spec.instances = 2;
  const JobId two = world.submit(spec, kHour);
  EXPECT_FALSE(world.job_of(two).reservation.valid()) << "n1 has room for one of them";
  EXPECT_THAT(world.nodes_of(two), ElementsAre(0U, 2U));
  spec.num_gpus = spec.instances = 1;
  EXPECT_TRUE(world.job_of(world.submit(spec, kHour)).reservation.valid());
}

/// The daemon of this journal was on other nodes.
TEST(PilotPart, NodesThatAreGoneEndIt) {
  PartWorld world;
  world.log.keeps_records = true;
  core::pilot::Plan plan = limited_plan();
  ASSERT_TRUE(world.ask(start_of(plan)));
  controller::Site renamed = test_site(2, 4, kConfigured);
  core::model::ClusterBuilder builder("other");
  builder.add_gpu_model({.name = "test", .mem_bytes = int64_t{16} << 30});
  for (const char* name : {"m0", "m1"}) {
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = name;
    placed.node.num_gpus = 4;
    builder.add_node(placed);
  }
  renamed.cluster = *builder.build();
  PartWorld next(std::move(renamed));
  ASSERT_TRUE(next.cycle->fold(world.log.safe));
  next.now = world.now;
  next.turn();
  EXPECT_EQ(next.pilot().state, PilotState::Stopped);
  EXPECT_THAT(next.pilot().detail, HasSubstr("there is no node n1"));
  EXPECT_EQ(next.part_policy(), "");
}

}  // namespace
}  // namespace goban::live::loop
