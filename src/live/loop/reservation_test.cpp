// Reservations in the live scheduler: who may make and use them, when they are refused, and that
// they survive a crash of the daemon.
#include <gmock/gmock.h>

#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TimeNs kHour = 3600 * base::kSecond;
constexpr TimeNs kDay = 24 * kHour;
const controller::Caller kRoot{.uid = 0, .user = "root", .is_operator = true};
const controller::Caller kAda{.uid = 7, .user = "ada"};
const job::Owner kAdaOwner{.uid = 7, .gid = 7, .user = "ada"};
const job::Owner kBobOwner{.uid = 8, .gid = 8, .user = "bob"};

struct ReservationTest : testing::Test {
  static controller::Site make_site() {
    core::model::ClusterBuilder builder("test");
    const uint32_t old_gpu = builder.add_gpu_model({.name = "V100"});
    const uint32_t new_gpu = builder.add_gpu_model({.name = "H200"});
    for (uint32_t i = 0; i < 3; ++i) {
      core::model::ClusterBuilder::Placed placed;
      placed.node.name = "n" + std::to_string(i);
      placed.node.num_gpus = 2;
      placed.node.gpu_model = i == 2 ? new_gpu : old_gpu;
      builder.add_node(placed);
    }
    controller::Site site;
    site.cluster = *builder.build();
    site.scores = core::knowledge::PmScores::uniform(6);
    site.penalties = core::knowledge::LocalityPenalties(site.cluster, 1);
    site.composition = *core::policy::compose("easy-backfill");
    site.reservations.by_users = true;
    site.keep_ended_ns = 100 * kDay;
    return site;
  }
  void SetUp() override { restart(); }
  /// kill -9 and a new daemon.
  void restart() {
    log.crash();
    cycle = std::make_unique<CommitCycle>(site, log, engine);
    const auto fold = cycle->fold(log.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_EQ(fold->other, 0);
  }
  base::Result<Answer> ask(controller::Input input) {
    return cycle->run({std::move(input)}, now)[0];
  }
  std::string refusal(const controller::Input& input) {
    const auto answer = ask(input);
    return answer ? "taken" : answer.error().text();
  }
  /// Advances time in small steps, so that messages arrive.
  void pass(TimeNs span) {
    for (const TimeNs until = now + span; now < until;) {
      now = std::min(now + std::max<TimeNs>(span / 50, base::kSecond), until);
      engine.advance(now);
      (void)cycle->run({}, now);
    }
  }
  controller::Reserve day(int32_t nodes, int32_t days = 1) const {
    controller::Reserve reserve{.num_nodes = nodes, .by = kAda};
    reserve.plan.owner = kAdaOwner;
    reserve.plan.start_ns = now + kDay;
    reserve.plan.end_ns = now + kDay + days * kDay;
    return reserve;
  }
  JobId submit(const job::JobSpec& spec, TimeNs takes = 100 * kDay) {
    const auto answer = ask(controller::Submit{.jobs = {spec}});
    EXPECT_TRUE(answer) << answer.error().text();
    if (!answer) return {};
    engine.fates[answer->first_job] = {.takes_ns = takes};
    return answer->first_job;
  }
  const controller::LiveJob& job(JobId id) const { return *cycle->controller().book().find(id); }
  const controller::LiveReservation& reservation(uint32_t number) const {
    return *cycle->controller().book().find(ReservationId(number - 1));
  }
  std::vector<uint32_t> nodes_of(JobId id) const {
    std::vector<uint32_t> nodes;
    for (const GpuId gpu : job(id).gpus) nodes.push_back(site.cluster.node_of(gpu).value);
    return nodes;
  }

  controller::Site site = make_site();
  MemoryLog log;
  FaultyEngine engine{site.cluster, 1};
  std::unique_ptr<CommitCycle> cycle;
  TimeNs now = 20'000 * kDay;
};

TEST_F(ReservationTest, NamesAreReadAsPeopleWriteThem) {
  EXPECT_EQ(controller::reservation_name(ReservationId(6U)), "R7");
  for (const char* name : {"R7", "r7", "7"})
    EXPECT_EQ(controller::parse_reservation_name(name), ReservationId(6U));
  for (const char* name : {"", "R", "R0", "week", "R-1", "+7", "7 ", "R4294967296", "RR7"}) {
    EXPECT_EQ(controller::parse_reservation_name(name), std::nullopt) << name;
  }
}

TEST_F(ReservationTest, SiteRulesBind) {
  controller::Reserve wrong = day(1);
  wrong.plan.end_ns -= kHour;
  EXPECT_THAT(refusal(wrong), HasSubstr("the length 23h is not a multiple of 1d"));
  EXPECT_THAT(refusal(day(1, 31)), HasSubstr("the length 31d exceeds the maximum, 30d"));
  wrong = day(1);
  wrong.plan.start_ns -= kDay;
  wrong.plan.end_ns -= kDay;
  EXPECT_THAT(refusal(wrong), HasSubstr("at least 1d before they begin"));
  wrong.plan.end_ns = wrong.plan.start_ns;
  EXPECT_THAT(refusal(wrong), HasSubstr("must be after the start"));
  EXPECT_THAT(refusal(day(0)), HasSubstr("num_nodes: must be at least 1"));
  wrong = day(1);
  wrong.plan.owner = kBobOwner;
  EXPECT_THAT(refusal(wrong), HasSubstr("only operators may reserve for another user"));
  wrong.by = kRoot;
  EXPECT_EQ(refusal(wrong), "taken");
  wrong = day(1);
  wrong.plan.users = {"a\nb"};
  EXPECT_THAT(refusal(wrong), HasSubstr("an invalid name"));
  site.reservations = {.nodes_max = 1};
  restart();
  EXPECT_THAT(refusal(day(1)), HasSubstr("only operators may make reservations at this site"));
  controller::Reserve two = day(2);
  two.by = kRoot;
  EXPECT_THAT(refusal(two), HasSubstr("requests 2 nodes; at most 1 can be requested"));
}

TEST_F(ReservationTest, NodesThatCannotBePromisedAreRefused) {
  const JobId endless = submit({.num_gpus = 2});
  job::JobSpec ends_late{.num_gpus = 2};
  ends_late.walltime_limit_ns = 30 * kHour;
  (void)submit(ends_late);
  EXPECT_THAT(
      refusal(day(2)),
      HasSubstr("1 of 3 nodes can be reserved at that time; 2 were requested; n0 runs job 1, "
                "which has no time limit"));
  controller::Reserve named = day(0);
  named.plan.nodes = {NodeId(1U)};
  EXPECT_THAT(refusal(named),
              HasSubstr("node n1 runs job 2, which may run until 2024-10-05 06:00"));
  named.plan.start_ns += kDay;
  named.plan.end_ns += kDay;
  EXPECT_EQ(refusal(named), "taken") << "it is over by then";
  EXPECT_THAT(reservation(1).plan.nodes, ElementsAre(NodeId(1U)));
  named.plan.start_ns += kDay / 2;
  named.plan.end_ns += kDay / 2;
  EXPECT_THAT(refusal(named), HasSubstr("node n1 belongs to reservation R1 from 2024-10-06"));
  ASSERT_TRUE(ask(controller::Drain{.node = NodeId(2U), .from_ns = now + 30 * kHour}));
  EXPECT_THAT(refusal(day(1)), HasSubstr("0 of 3 nodes"));
  ASSERT_TRUE(ask(controller::Resume{NodeId(2U)}));
  controller::Reserve kind = day(1);
  kind.kind = "V100";
  EXPECT_THAT(refusal(kind), HasSubstr("0 of 2 nodes can be reserved"));
  kind.kind = "T4";
  EXPECT_THAT(refusal(kind), HasSubstr("unknown GPU model or resource type T4"));
  kind.kind = "H200";
  EXPECT_EQ(refusal(kind), "taken");
  EXPECT_THAT(reservation(2).plan.nodes, ElementsAre(NodeId(2U)));
  named.plan.nodes = {NodeId(9U)};
  EXPECT_THAT(refusal(named), HasSubstr("no such node"));
  ASSERT_TRUE(ask(controller::Cancel{.job = endless, .by = kRoot}));
}

TEST_F(ReservationTest, OnlyWhoMayUsesIt) {
  controller::Reserve reserve = day(1);
  reserve.plan.users = {"eve"};
  reserve.plan.accounts = {"lab"};
  ASSERT_EQ(refusal(reserve), "taken");
  job::JobSpec spec{.owner = kBobOwner, .reservation = "R1"};
  EXPECT_THAT(refusal(controller::Submit{.jobs = {spec}}),
              HasSubstr("reservation R1 belongs to ada"));
  spec.account = "lab";
  EXPECT_EQ(refusal(controller::Submit{.jobs = {spec}}), "taken");
  spec = {.owner = {.uid = 9, .user = "eve"}, .reservation = "r1"};
  EXPECT_EQ(refusal(controller::Submit{.jobs = {spec}}), "taken");
  EXPECT_EQ(job(JobId(1U)).spec.reservation, "R1") << "as the records name it";
  spec.num_gpus = 3;
  EXPECT_THAT(refusal(controller::Submit{.jobs = {spec}}),
              HasSubstr("is too small: it has 1 node with 2 GPUs"));
  spec.reservation = "week";
  EXPECT_THAT(refusal(controller::Submit{.jobs = {spec}}),
              HasSubstr("there is no reservation week"));
  EXPECT_THAT(
      refusal(controller::CancelReservation{.reservation = ReservationId(0U), .by = {.uid = 8}}),
      HasSubstr("belongs to ada"));
  EXPECT_THAT(refusal(controller::CancelReservation{.reservation = ReservationId(5U), .by = kRoot}),
              HasSubstr("there is no reservation R6"));
}

TEST_F(ReservationTest, BeginsAndEndsByTheClockAlsoOverRestarts) {
  ASSERT_EQ(refusal(day(1)), "taken");
  const JobId mine = submit({.owner = kAdaOwner, .reservation = "R1", .num_gpus = 1});
  const JobId late = submit({.owner = kAdaOwner, .reservation = "R1", .num_gpus = 2});
  job::JobSpec other{.num_gpus = 2};
  other.walltime_limit_ns = 10 * kDay;
  const JobId foreign = submit(other);
  EXPECT_THAT(nodes_of(foreign), Each(1U)) << "the first node is promised from tomorrow on";
  pass(kDay - kHour);
  EXPECT_EQ(job(mine).stage, controller::JobStage::Waiting);
  EXPECT_EQ(reservation(1).state, controller::ReservationState::Requested);
  ASSERT_TRUE(cycle->compact());
  restart();
  pass(2 * kHour);
  EXPECT_EQ(reservation(1).state, controller::ReservationState::Active);
  EXPECT_EQ(job(mine).stage, controller::JobStage::Running);
  EXPECT_THAT(nodes_of(mine), Each(0U));
  restart();
  cycle->resume();
  pass(kHour);
  EXPECT_EQ(job(mine).stage, controller::JobStage::Running) << "a daemon's death is not its end";
  EXPECT_THAT(nodes_of(submit({.num_gpus = 2})), Each(2U));
  ASSERT_TRUE(cycle->compact());
  restart();
  cycle->resume();
  pass(kDay);
  EXPECT_EQ(reservation(1).state, controller::ReservationState::Ended);
  EXPECT_EQ(job(mine).result, controller::JobResult::TimedOut);
  EXPECT_EQ(job(mine).detail, "reservation R1 has ended");
  EXPECT_EQ(job(late).result, controller::JobResult::NeverRuns);
  EXPECT_EQ(job(foreign).stage, controller::JobStage::Running);
  EXPECT_THAT(refusal(controller::Submit{.jobs = {{.owner = kAdaOwner, .reservation = "R1"}}}),
              HasSubstr("reservation R1 has ended"));
}

TEST_F(ReservationTest, ADaemonThatSleptThroughItEndsIt) {
  ASSERT_EQ(refusal(day(1)), "taken");
  const JobId mine = submit({.owner = kAdaOwner, .reservation = "R1"});
  now += 5 * kDay;
  restart();
  (void)cycle->run({}, now);
  EXPECT_EQ(reservation(1).state, controller::ReservationState::Ended);
  EXPECT_EQ(job(mine).result, controller::JobResult::NeverRuns);
}

TEST_F(ReservationTest, CancellingEndsItAtOnce) {
  ASSERT_EQ(refusal(day(1)), "taken");
  const JobId mine = submit({.owner = kAdaOwner, .reservation = "R1"});
  pass(kDay + kHour);
  ASSERT_EQ(job(mine).stage, controller::JobStage::Running);
  const controller::CancelReservation cancel{.reservation = ReservationId(0U), .by = kAda};
  ASSERT_EQ(refusal(cancel), "taken");
  EXPECT_EQ(job(mine).stage, controller::JobStage::Stopping);
  pass(base::kSecond * 100);
  EXPECT_EQ(job(mine).result, controller::JobResult::TimedOut);
  EXPECT_EQ(job(mine).detail, "reservation R1 was cancelled by ada");
  EXPECT_EQ(reservation(1).state, controller::ReservationState::Cancelled);
  EXPECT_THAT(refusal(cancel), HasSubstr("reservation R1 was cancelled by ada"));
  EXPECT_EQ(submit({.num_gpus = 6}), JobId(1U));
  EXPECT_EQ(job(JobId(1U)).gpus.size(), 6U) << "all nodes are everybody's again";
}

TEST_F(ReservationTest, WhoeverStartedTooLateToEndInTimeIsStopped) {
  job::JobSpec spec{.num_gpus = 2};
  spec.walltime_limit_ns = kDay;
  const JobId slow = submit(spec);  // placed but not started yet
  controller::Reserve reserve = day(0);
  reserve.plan.nodes = {NodeId(0U)};
  ASSERT_EQ(refusal(reserve), "taken");
  pass(kDay);
  EXPECT_EQ(job(slow).stage, controller::JobStage::Stopping);
  pass(100 * base::kSecond);
  EXPECT_EQ(job(slow).result, controller::JobResult::TimedOut);
  EXPECT_EQ(job(slow).detail, "reservation R1 begins on its nodes");
}

TEST_F(ReservationTest, TextsOfTheJournalComeBack) {
  controller::Reserve reserve = day(1);
  reserve.plan.users = {"eve", "bob"};
  reserve.plan.accounts = {"lab"};
  reserve.plan.nodes = {NodeId(2U), NodeId(0U)};
  const auto back = controller::parse_input(controller::to_text({.at_ns = 5, .input = reserve}));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(std::get<controller::Reserve>(back->input).plan, reserve.plan);
  EXPECT_EQ(std::get<controller::Reserve>(back->input).by, kAda);
  const auto cancel = controller::parse_input(controller::to_text(
      {.at_ns = 6,
       .input = controller::CancelReservation{.reservation = ReservationId(3U), .by = kAda}}));
  ASSERT_TRUE(cancel) << cancel.error().text();
  EXPECT_EQ(std::get<controller::CancelReservation>(cancel->input).reservation, ReservationId(3U));
  for (const char* text :
       {R"({"at":1,"take":"reserve"})", R"({"at":1,"take":"reserve","nodes":[-1]})",
        R"({"at":1,"take":"reserve","nodes":[0],"users":[7]})",
        R"({"at":1,"take":"cancel_reservation"})"}) {
    EXPECT_FALSE(controller::parse_input(text)) << text;
  }
}

TEST_F(ReservationTest, OlderReadersRefuseSnapshotsWithOpenOnes) {
  EXPECT_THAT(log.safe.snapshot, testing::IsEmpty());
  ASSERT_TRUE(cycle->compact());
  EXPECT_THAT(log.safe.snapshot, HasSubstr(R"("version":1})"));
  ASSERT_EQ(refusal(day(1)), "taken");
  ASSERT_TRUE(cycle->compact());
  EXPECT_THAT(log.safe.snapshot, HasSubstr(R"("version":2})"));
}

}  // namespace
}  // namespace goban::live::loop
