#include "live/engine/kubernetes/lease.hpp"

#include <array>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace goban::live::engine::kubernetes {
namespace {

using base::kSecond;

LeaseTerms terms(const std::string& name, uint64_t epoch = 1) {
  return {.holder = "goban_" + name, .book = name, .home = name, .epoch = epoch};
}

/// The API server: takes a write only of what it has.
class Server {
 public:
  [[nodiscard]] const std::optional<LeaseRecord>& lease() const { return lease_; }
  bool write(LeaseRecord next) {
    if (next.version != (lease_ ? lease_->version : "")) return false;
    next.version = std::to_string(++version_);
    lease_ = std::move(next);
    return true;
  }

 private:
  std::optional<LeaseRecord> lease_;
  int version_ = 0;
};

/// One look and, if it is due, one write.
void step(Leadership& leadership, Server& server, TimeNs beat_ns, TimeNs now_ns) {
  leadership.saw(server.lease(), now_ns);
  const auto next = leadership.next(beat_ns, now_ns);
  if (next && server.write(*next)) leadership.wrote(*server.lease(), now_ns);
}

TEST(KubernetesLease, TheNextOneWaitsItOut) {
  Server server;
  Leadership first(terms("a"));
  Leadership second(terms("b"));
  step(first, server, 1, 1);
  EXPECT_TRUE(first.may_write(1));
  TimeNs now = 0;
  for (; now < 60 * kSecond && !second.may_write(now); now += kSecond) {
    step(second, server, now, now);
    EXPECT_FALSE(first.may_write(now) && second.may_write(now));
  }
  EXPECT_EQ(now, 16 * kSecond);
  EXPECT_FALSE(first.may_write(10 * kSecond + 1)) << "two thirds of the patience";
  EXPECT_FALSE(first.is_lost()) << "it has not looked";
  step(first, server, now, now);
  EXPECT_TRUE(first.is_lost());
  step(first, server, now + 60 * kSecond, now + 60 * kSecond);
  EXPECT_FALSE(first.may_write(now + 60 * kSecond)) << "for good";
}

TEST(KubernetesLease, OnlyACompletedCommitCycleRenews) {
  Server server;
  Leadership first(terms("a"));
  step(first, server, -1, 1);
  EXPECT_FALSE(server.lease()) << "none was completed yet";
  step(first, server, 2, 2);
  for (TimeNs now = kSecond; now <= 30 * kSecond; now += kSecond) step(first, server, now, now);
  EXPECT_TRUE(first.may_write(30 * kSecond));
  for (TimeNs now = 31 * kSecond; now <= 45 * kSecond; now += kSecond) {
    step(first, server, 28 * kSecond, now);  // the journal cannot be written
  }
  EXPECT_FALSE(first.may_write(45 * kSecond));
  step(first, server, 46 * kSecond, 46 * kSecond);
  EXPECT_TRUE(first.may_write(46 * kSecond)) << "nobody took it";
}

TEST(KubernetesLease, ARestartInTheSamePlaceWaitsForNobody) {
  Server server;
  Leadership before(terms("a"));
  step(before, server, 1, 1);
  LeaseTerms again = terms("a", 2);
  again.holder = "goban_a2";
  Leadership silent(again);
  step(silent, server, 2, 2);
  EXPECT_FALSE(silent.may_write(2)) << "the process before may still run";
  again.is_alone = true;
  Leadership after(again);
  step(after, server, 3, 3);
  EXPECT_TRUE(after.may_write(3));
  EXPECT_EQ(after.epoch(), 2);
  EXPECT_EQ(after.first_epoch(), 0) << "its marks are known here";
  LeaseTerms copy = again;
  copy.home = "elsewhere";
  Leadership restored(copy);
  step(restored, server, 4, 4);
  EXPECT_FALSE(restored.may_write(4)) << "a copy of the folder is another place";
}

TEST(KubernetesLease, AnotherBookWritesHigherEpochs) {
  Server server;
  Leadership first(terms("a", 7));
  step(first, server, 1, 1);
  EXPECT_EQ(first.epoch(), 7);
  Leadership second(terms("b", 1));
  step(second, server, 1, 1);
  step(second, server, 20 * kSecond, 20 * kSecond);
  EXPECT_TRUE(second.may_write(20 * kSecond));
  EXPECT_EQ(second.epoch(), 8);
  EXPECT_EQ(second.first_epoch(), 8);
}

TEST(KubernetesLease, AProgramOfOthersIsOustedAndThenWaitedFor) {
  Server server;
  ASSERT_TRUE(server.write({.holder = "kube-scheduler-1", .duration_s = 5}));
  Leadership first(terms("a"));
  step(first, server, 1, 1);
  EXPECT_EQ(server.lease()->holder, "goban_a");
  EXPECT_EQ(server.lease()->duration_s, 60) << "others wait for four take-overs";
  EXPECT_FALSE(first.may_write(1)) << "it may still write";
  step(first, server, 5 * kSecond, 5 * kSecond);
  EXPECT_TRUE(first.may_write(5 * kSecond + 1));
}

TEST(KubernetesLease, ALostAnswerIsFoundAgain) {
  Server server;
  Leadership first(terms("a", 3));
  first.saw(server.lease(), 1);
  ASSERT_TRUE(server.write(*first.next(1, 1)));  // the answer never came
  EXPECT_FALSE(first.may_write(1));
  step(first, server, 4 * kSecond, 4 * kSecond);
  EXPECT_TRUE(first.may_write(4 * kSecond));
  EXPECT_EQ(first.epoch(), 3);
}

/// Three daemons whose clocks differ and run apart, that stop for a while and look at odd times.
TEST(KubernetesLease, NeverTwoAtATime) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](uint32_t one_in) { return random() % one_in == 0; };
    Server server;
    std::array<Leadership, 3> daemons{Leadership(terms("a")), Leadership(terms("b")),
                                      Leadership(terms("c"))};
    std::array<TimeNs, 3> offset_ns{0, 1'000 * kSecond, 5 * kSecond};
    std::array<TimeNs, 3> asleep_ns{};
    int held = 0;
    for (TimeNs now = kSecond; now < 600 * kSecond; now += kSecond / 4) {
      int writers = 0;
      for (size_t i = 0; i < daemons.size(); ++i) {
        // Clocks that are up to 5 % apart; a daemon that was shut out begins anew.
        const TimeNs mine = offset_ns.at(i) + now + now / 20 * static_cast<TimeNs>(i) / 2;
        if (daemons.at(i).is_lost())
          daemons.at(i) = Leadership(terms(std::string(1, static_cast<char>('a' + i))));
        if (chance(200)) asleep_ns.at(i) = now + static_cast<TimeNs>(random() % 40) * kSecond;
        const bool wakes = now >= asleep_ns.at(i);
        if (wakes && chance(3)) step(daemons.at(i), server, mine, mine);
        writers += daemons.at(i).may_write(mine) ? 1 : 0;
      }
      ASSERT_LE(writers, 1) << "seed " << seed << " at " << now / kSecond;
      held += writers;
    }
    EXPECT_GT(held, 1000) << "seed " << seed;
  }
}

TEST(KubernetesLease, TextAndBack) {
  const LeaseRecord lease{.holder = "goban_a",
                          .duration_s = 60,
                          .transitions = 3,
                          .version = "77",
                          .book = "b",
                          .home = "h",
                          .epoch = 9,
                          .first_epoch = 8};
  const auto body = nlohmann::json::parse(lease_body("ns/name", lease, 1'700'000'000'123'456'789));
  EXPECT_EQ(body["spec"]["renewTime"], "2023-11-14T22:13:20.123456Z");
  EXPECT_EQ(body["metadata"]["namespace"], "ns");
  EXPECT_EQ(body["metadata"]["name"], "name");
  const auto again = read_lease(body);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->holder, lease.holder);
  EXPECT_EQ(again->duration_s, 60);
  EXPECT_EQ(again->transitions, 3);
  EXPECT_EQ(again->version, "77");
  EXPECT_EQ(again->book, "b");
  EXPECT_EQ(again->home, "h");
  EXPECT_EQ(again->epoch, 9);
  EXPECT_EQ(again->first_epoch, 8);
  EXPECT_FALSE(read_lease(nlohmann::json::parse(R"({"kind": "Status"})")));
  const auto odd = read_lease(nlohmann::json::parse(
      R"({"metadata": {"resourceVersion": "1", "annotations": {"goban.dev/epoch": "-4"}},
          "spec": {"leaseDurationSeconds": -9, "leaseTransitions": "x", "holderIdentity": 7}})"));
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->epoch, 0);
  EXPECT_EQ(odd->duration_s, 0);
  EXPECT_EQ(odd->holder, "");
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
