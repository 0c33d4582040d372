// Nodes of reservations: which jobs may start where, and when.
#include <gmock/gmock.h>

#include "core/scheduler/core_image.hpp"
#include "core/scheduler/explain.hpp"
#include "core/scheduler/test_promised_site.hpp"

namespace goban::core::scheduler {
namespace {

using model::ActionKind;
using model::EventKind;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimeNs kHour = 3600 * base::kSecond;
constexpr ReservationId kNone{};
constexpr ReservationId kFirstReservation{0U};
constexpr ReservationId kSecondReservation{1U};

TEST(PromisedNodes, NoNodeIsPromisedTwiceAtATime) {
  PromisedNodes promised(3);
  const NodeId node(1U);
  promised.add({kFirstReservation, 10, 20, {node}});
  EXPECT_EQ(promised.problem({kSecondReservation, 20, 30, {node}}), "")
      << "one begins as the other ends";
  EXPECT_EQ(promised.problem({kSecondReservation, 0, 10, {node}}), "");
  EXPECT_EQ(promised.problem({kSecondReservation, 5, 11, {NodeId(0U), node}}),
            "node 1 belongs to another reservation");
  EXPECT_EQ(promised.problem({kSecondReservation, 5, 5, {NodeId(0U)}}),
            "its end is not after its start");
  EXPECT_EQ(promised.problem({kSecondReservation, 5, 6, {NodeId(3U)}}), "unknown node 3");
  EXPECT_EQ(promised.problem({kSecondReservation, 5, 6, {NodeId(0U), NodeId(0U)}}),
            "node 0 is listed twice");
  EXPECT_EQ(promised.problem({kFirstReservation, 5, 6, {NodeId(0U)}}),
            "the reservation is a duplicate or invalid");
}

TEST(PromisedNodes, OthersMayStayUntilItBeginsAndComeWhenItEnded) {
  PromisedNodes promised(2);
  const NodeId node(1U);
  EXPECT_TRUE(promised.allows(node, kNone, {0, base::kNever}));
  promised.add({kFirstReservation, 10, 20, {node}});
  EXPECT_TRUE(promised.allows(node, kNone, {0, 10}));
  EXPECT_FALSE(promised.allows(node, kNone, {0, 11}));
  EXPECT_FALSE(promised.allows(node, kNone, {0, base::kNever}));
  EXPECT_FALSE(promised.allows(node, kNone, {15, 15})) << "no time left is still a moment";
  EXPECT_TRUE(promised.allows(node, kNone, {20, base::kNever}));
  EXPECT_TRUE(promised.allows(NodeId(0U), kNone, {0, base::kNever}));
  EXPECT_FALSE(promised.allows(node, kFirstReservation, {9, 12}));
  EXPECT_TRUE(promised.allows(node, kFirstReservation, {10, base::kNever}));
  EXPECT_FALSE(promised.allows(node, kFirstReservation, {20, 21}));
  EXPECT_FALSE(promised.allows(NodeId(0U), kFirstReservation, {10, 12}));
  EXPECT_THAT(promised.changes_after(10), ElementsAre(20));
  promised.remove(kFirstReservation);
  EXPECT_TRUE(promised.empty());
  EXPECT_TRUE(promised.allows(node, kNone, {0, base::kNever}));
}

/// Two nodes of two GPUs; node 1 is reserved from hour 2 to hour 4.
struct Site : PromisedSite {
  explicit Site(const char* policy = "easy-backfill")
      : PromisedSite("2x2", 1.5, policy::compose(policy).value()) {}

  WaitReason why(JobId job) { return why_waiting(core, job, now, 1); }
};

TEST(Reservations, OthersRunThereOnlyUntilItBegins) {
  Site site;
  site.promise(kFirstReservation, 2 * kHour, 4 * kHour, {NodeId(1U)});
  const JobId endless = site.submit(2, 0);
  const JobId too_long = site.submit(1, 3 * kHour);
  const JobId fits = site.submit(2, 2 * kHour);
  EXPECT_THAT(site.decide(0), ElementsAre(endless, fits));
  EXPECT_THAT(site.nodes_of(endless), Each(0U));
  EXPECT_THAT(site.nodes_of(fits), Each(1U));
  const JobId other = site.submit(1, kHour);
  site.now = kHour / 2;
  site.end(fits);
  EXPECT_THAT(site.decide(kHour / 2), ElementsAre(other)) << "it is over by then";
  const WaitReason why = site.why(too_long);
  EXPECT_EQ(why.cause, WaitCause::Promised);
  EXPECT_EQ(why.reservation, kFirstReservation);
  EXPECT_EQ(why.reservation_ns, 2 * kHour);
}

TEST(Reservations, ItsJobsRunInItAndNowhereElse) {
  Site site;
  site.promise(kFirstReservation, 2 * kHour, 4 * kHour, {NodeId(1U)});
  const JobId mine = site.submit(1, 0, kFirstReservation);
  const JobId large = site.submit(2, kHour, kFirstReservation);
  EXPECT_THAT(site.decide(0), IsEmpty()) << "although all GPUs are free";
  EXPECT_EQ(site.core.wake_ns(), 2 * kHour);
  EXPECT_EQ(site.why(mine).cause, WaitCause::NotBegun);
  EXPECT_EQ(site.why(mine).reservation_ns, 2 * kHour);
  EXPECT_THAT(site.decide(2 * kHour), ElementsAre(mine));
  EXPECT_THAT(site.nodes_of(mine), ElementsAre(1U));
  EXPECT_EQ(site.core.wake_ns(), 4 * kHour);
  EXPECT_EQ(site.why(large).cause, WaitCause::NoFreeGpus);
  EXPECT_EQ(site.why(large).free_gpus, 1);
  // Jobs of the reservation do not get the free node outside; other jobs do not get its free GPU.
  const JobId foreign = site.submit(3, 0);
  EXPECT_THAT(site.decide(3 * kHour), IsEmpty());
  EXPECT_EQ(site.why(foreign).cause, WaitCause::Promised);
  site.now = 4 * kHour;
  site.end(mine);
  (void)site.core.apply(
      {.kind = EventKind::PromiseOver, .at_ns = site.now, .reservation = kFirstReservation});
  EXPECT_THAT(site.decide(4 * kHour), ElementsAre(foreign));
}

TEST(Reservations, AWaitingJobOfOneStandsInNobodysWay) {
  Site site("fifo");
  site.promise(kFirstReservation, 2 * kHour, 4 * kHour, {NodeId(1U)});
  (void)site.submit(2, 0, kFirstReservation);
  (void)site.submit(2, 0, kFirstReservation);
  const JobId other = site.submit(2, 0);
  EXPECT_THAT(site.decide(0), ElementsAre(other)) << "fifo lets nobody overtake";
  const JobId behind = site.submit(1, 0);
  EXPECT_EQ(site.decide(2 * kHour).size(), 1U) << "the first of the reservation";
  EXPECT_EQ(site.core.num_waiting(), 2U);
  site.now = 3 * kHour;
  site.end(other);
  EXPECT_THAT(site.decide(3 * kHour), ElementsAre(behind));
}

TEST(Reservations, WhoeverIsStillThereHasToLeave) {
  Site site;
  const JobId endless = site.submit(4, 0);
  (void)site.decide(0);
  site.promise(kFirstReservation, 2 * kHour, 4 * kHour, {NodeId(1U)});
  const JobId mine = site.submit(2, 0, kFirstReservation);
  EXPECT_THAT(site.decide(kHour), IsEmpty());
  const Decision& decision = (site.now = 2 * kHour, site.core.decide(site.now));
  ASSERT_EQ(decision.actions.size(), 2U);
  EXPECT_EQ(decision.actions[0].kind, ActionKind::Preempt);
  EXPECT_EQ(decision.actions[0].job, endless);
  EXPECT_THAT(decision.placed, ElementsAre(mine));
  EXPECT_EQ(site.why(endless).cause, WaitCause::NoFreeGpus);
}

TEST(Reservations, BackfillCountsOnNodesThatComeBack) {
  Site site;
  site.promise(kFirstReservation, 0, 4 * kHour, {NodeId(1U)});
  const JobId running = site.submit(1, 10 * kHour);
  const JobId head = site.submit(3, kHour);  // its backfill reservation: node 1 from hour 4 on
  const JobId short_one = site.submit(1, 3 * kHour);
  EXPECT_THAT(site.decide(0), ElementsAre(running, short_one));
  const JobId long_one = site.submit(1, 5 * kHour);
  site.now = kHour;
  site.end(short_one);
  EXPECT_THAT(site.decide(kHour), IsEmpty()) << "it would delay the head beyond hour 4";
  EXPECT_EQ(site.why(long_one).cause, WaitCause::Reservation);
  site.now = 4 * kHour;
  (void)site.core.apply(
      {.kind = EventKind::PromiseOver, .at_ns = site.now, .reservation = kFirstReservation});
  EXPECT_EQ(site.decide(4 * kHour).front(), head);
}

TEST(Reservations, ItsEndLimitsItsJobs) {
  Site site;
  site.promise(kFirstReservation, 0, 4 * kHour, {NodeId(1U)});
  const JobId endless = site.submit(1, 0, kFirstReservation);
  const JobId long_one = site.submit(1, 9 * kHour, kFirstReservation);
  EXPECT_EQ(site.decide(kHour).size(), 2U);
  const State& state = site.core.state();
  for (const JobId job : {endless, long_one}) {
    EXPECT_EQ(state.job(state.slot_of(job)).predicted_end_ns, 4 * kHour);
  }
}

TEST(Reservations, DrainedNodesOfOneTakeWhatEndsInTime) {
  Site site;
  site.promise(kFirstReservation, 0, 8 * kHour, {NodeId(1U)});
  (void)site.core.apply(
      {.kind = EventKind::NodeDrained, .node = NodeId(1U), .until_ns = 2 * kHour});
  (void)site.submit(1, 0, kFirstReservation);
  const JobId fits = site.submit(1, kHour, kFirstReservation);
  EXPECT_THAT(site.decide(0), ElementsAre(fits));
}

TEST(Reservations, AnImageWithImpossiblePromisesIsRefused) {
  Site site;
  site.promise(kFirstReservation, 0, 8 * kHour, {NodeId(1U)});
  CoreImage image = site.core.image();
  ASSERT_EQ(image.promises.size(), 1U);
  EXPECT_TRUE(Site().core.restore(image));
  image.promises.push_back({kSecondReservation, kHour, 2 * kHour, {NodeId(1U)}});
  const auto refused = Site().core.restore(image);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("node 1 belongs to another reservation"));
}

}  // namespace
}  // namespace goban::core::scheduler
