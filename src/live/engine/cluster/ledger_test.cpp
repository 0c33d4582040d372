#include "live/engine/cluster/ledger.hpp"

#include <gtest/gtest.h>
#include <set>

#include "base/random.hpp"

namespace goban::live::engine::cluster {
namespace {

constexpr TimeNs kSecond = base::kSecond;

LaunchOrder order_of(uint32_t job, uint32_t run) {
  return {.run = {JobId{job}, run},
          .engine_id = std::to_string(job),
          .parts = {{.node = "n1", .gpus = {0}}}};
}

/// A ledger, one job "1" of a cluster that a test sets, and a clock.
struct OneJob {
  Ledger ledger{};
  JobStand job{.stand = Stand::Held};
  TimeNs now_ns = kSecond;

  std::vector<Report> look() {
    const TimeNs asked_ns = now_ns += kSecond;
    return ledger.look({{"1", job}}, asked_ns, now_ns += kSecond / 10);
  }
  std::vector<ReportKind> answers() {
    std::vector<ReportKind> kinds;
    for (const Report& report : look()) kinds.push_back(report.kind);
    return kinds;
  }
  /// The acts that are wanted now; they are carried out.
  std::vector<Act> act(const std::string& problem = "") {
    std::vector<Act> acts;
    for (const Task& task : ledger.take_tasks(now_ns)) {
      acts.push_back(task.act);
      ledger.done(task, problem, now_ns);
    }
    return acts;
  }
  void runs(uint32_t run) {
    job = {.stand = Stand::Running,
           .run = {JobId{1U}, run},
           .parts = {{.node = "n1", .gpus = {0}}},
           .start_ns = now_ns};
  }
};

using Acts = std::vector<Act>;
using Kinds = std::vector<ReportKind>;

TEST(Ledger, AStartIsAnsweredWhenTheClusterShowsIt) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{Act::Start});
  EXPECT_EQ(one.act(), Acts{}) << "once";
  one.job.stand = Stand::Released;
  EXPECT_TRUE(one.look().empty());
  one.runs(1);
  one.job.parts = {{.node = "n2", .gpus = {3}}};
  const auto reports = one.look();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].kind, ReportKind::Started);
  EXPECT_EQ(reports[0].parts, one.job.parts) << "not what was ordered";
  EXPECT_TRUE(one.look().empty()) << "said once";
  one.ledger.launch(order_of(1, 1));
  EXPECT_EQ(one.look().size(), 1U) << "a repeated order is answered again";
  EXPECT_EQ(one.act(), Acts{}) << "and starts nothing";
  one.job = {.stand = Stand::Ended,
             .run = {JobId{1U}, 1},
             .start_ns = kSecond,
             .end_ns = 3 * kSecond,
             .ran = true,
             .exit_code = 3,
             .cancelled = true};
  const auto end = one.look();
  ASSERT_EQ(end.size(), 1U);
  EXPECT_EQ(end[0].kind, ReportKind::Ended);
  EXPECT_EQ(end[0].exit_code, 3);
  EXPECT_TRUE(end[0].cancelled);
  EXPECT_EQ(end[0].ran_ns, 2 * kSecond);
  EXPECT_EQ(one.ledger.size(), 0U);
}

TEST(Ledger, AnOrderIsOpenUntilTheClusterShowsIt) {
  OneJob one;
  EXPECT_FALSE(one.ledger.has_open());
  one.ledger.launch(order_of(1, 1));
  EXPECT_TRUE(one.ledger.has_open());
  (void)one.act();
  one.job.stand = Stand::Released;
  (void)one.look();
  EXPECT_TRUE(one.ledger.has_open());
  one.runs(1);
  (void)one.look();
  EXPECT_FALSE(one.ledger.has_open()) << "it runs, and nobody wants anything of it";
  one.ledger.stop({JobId{1U}, 1}, StopReason::Preempted);
  EXPECT_TRUE(one.ledger.has_open());
}

TEST(Ledger, AJobThatStartsInCyclesIsWaitedForLonger) {
  const auto act_after = [](TimeNs cycle_ns, TimeNs wait_ns) {
    OneJob one;
    one.ledger.launch(order_of(1, 1));
    (void)one.act();
    one.job.stand = Stand::Released;
    one.job.cycle_ns = cycle_ns;
    (void)one.look();
    one.now_ns += wait_ns;
    EXPECT_TRUE(one.look().empty());
    return one.act();
  };
  EXPECT_EQ(act_after(0, 30 * kSecond), Acts{Act::TakeBack});
  EXPECT_EQ(act_after(30 * kSecond, 100 * kSecond), Acts{});
  EXPECT_EQ(act_after(30 * kSecond, 120 * kSecond), Acts{Act::TakeBack});
}

TEST(Ledger, WhatWasAskedBeforeAnOrderSaysNothingAboutIt) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  const TimeNs asked_ns = one.now_ns;
  one.now_ns += kSecond;
  EXPECT_EQ(one.act(), Acts{Act::Start});
  // Held, as it was before the order: not a refusal.
  EXPECT_TRUE(one.ledger.look({{"1", one.job}}, asked_ns, one.now_ns).empty());
  const auto after = one.look();
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].kind, ReportKind::Declined);
}

TEST(Ledger, AJobThatDoesNotStartIsTakenBackAndDeclined) {
  for (const bool starts_after_all : {false, true}) {
    OneJob one;
    one.ledger.launch(order_of(1, 1));
    EXPECT_EQ(one.act(), Acts{Act::Start});
    one.job = {.stand = Stand::Released, .hopeless = true, .reason = "BadConstraints"};
    one.job.nodes_closed = true;
    while (one.act() != Acts{Act::TakeBack}) {
      ASSERT_TRUE(one.look().empty());
      ASSERT_LT(one.now_ns, 10 * kSecond);
    }
    one.job = {.stand = Stand::Held};
    if (starts_after_all) one.runs(1);
    const auto reports = one.look();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].kind, starts_after_all ? ReportKind::Started : ReportKind::Declined);
    EXPECT_EQ(reports[0].detail.find("BadConstraints") == std::string::npos, starts_after_all);
    if (starts_after_all) continue;
    const std::vector<NodePart> nodes = {{.node = order_of(1, 1).parts.at(0).node}};
    EXPECT_EQ(reports[0].parts, nodes) << "nothing else is tried on the GPUs beside these";
  }
}

TEST(Ledger, AnOrderThatTheClusterRefusesIsDeclined) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  EXPECT_EQ(one.act("Requested node configuration is not available"), Acts{Act::Start});
  const auto reports = one.look();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].kind, ReportKind::Declined);
  EXPECT_EQ(one.act(), Acts{});
}

TEST(Ledger, AStopRequeuesOrCancels) {
  for (const StopReason reason : {StopReason::Preempted, StopReason::Cancelled}) {
    OneJob one;
    one.ledger.launch(order_of(1, 1));
    one.act();
    one.runs(1);
    EXPECT_EQ(one.look().size(), 1U);
    one.ledger.stop({JobId{1U}, 1}, reason);
    EXPECT_EQ(one.act(), Acts{reason == StopReason::Preempted ? Act::Requeue : Act::Cancel});
    EXPECT_TRUE(one.look().empty()) << "it still runs";
    one.job.stand = reason == StopReason::Preempted ? Stand::Held : Stand::Ended;
    one.job.ran = true;
    one.job.signal = 15;
    const auto reports = one.look();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].kind, ReportKind::Ended);
    EXPECT_EQ(reports[0].signal, 15);
    EXPECT_EQ(one.ledger.size(), 0U);
  }
  OneJob one;
  one.ledger.stop({JobId{1U}, 7}, StopReason::Preempted);
  ASSERT_EQ(one.look().at(0).kind, ReportKind::Lost) << "of an unknown run";
}

TEST(Ledger, OnlyTheNodesThatAreClosedAreLeftOut) {
  OneJob one;
  LaunchOrder order = order_of(1, 1);
  order.parts = {{.node = "n1", .gpus = {0}}, {.node = "n2", .gpus = {0}}};
  one.ledger.launch(order);
  one.act();
  one.job = {.stand = Stand::Released, .hopeless = true};
  one.job.nodes_closed = true;
  one.job.closed_nodes = {"n2", "n7"};
  while (one.act() != Acts{Act::TakeBack}) ASSERT_TRUE(one.look().empty());
  one.job = {.stand = Stand::Held};
  EXPECT_EQ(one.look().at(0).parts, (std::vector<NodePart>{{.node = "n2"}}));
}

TEST(Ledger, ARefusalThatWasOverBeforeTheFirstLookLeavesItsNodesOut) {
  for (const uint32_t refused : {1U, 2U}) {
    OneJob one;
    one.ledger.launch(order_of(1, 2));
    one.act();
    one.job = {.stand = Stand::Held, .run = {JobId{1U}, refused}, .reason = "out of memory"};
    one.job.nodes_closed = true;
    const auto reports = one.look();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].kind, ReportKind::Declined);
    EXPECT_EQ(reports[0].detail, refused == 2 ? "out of memory" : "it is held at the cluster");
    EXPECT_EQ(reports[0].parts.empty(), refused != 2) << "another run's";
  }
}

TEST(Ledger, AnOrderThatAnEarlierDaemonCarriedOutIsNotSentAgain) {
  for (const Stand stand : {Stand::Running, Stand::Ended, Stand::Released, Stand::Held}) {
    OneJob one;
    one.job = {.stand = stand, .run = {JobId{1U}, 1}, .ran = true, .exit_code = 0};
    EXPECT_TRUE(one.look().empty());
    one.ledger.launch(order_of(1, 1));
    EXPECT_EQ(one.act(), stand == Stand::Held ? Acts{Act::Start} : Acts{});
    if (stand == Stand::Held) continue;
    const auto reports = one.look();
    if (stand == Stand::Released) {
      EXPECT_TRUE(reports.empty()) << "it has the time that each start has";
      continue;
    }
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].kind, stand == Stand::Running ? ReportKind::Started : ReportKind::Ended);
  }
}

TEST(Ledger, ATaskThatIsPutOffIsTakenAgain) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  one.act();
  one.runs(1);
  EXPECT_EQ(one.look().size(), 1U);
  EXPECT_EQ(one.ledger.id_of({JobId{1U}, 1}), "1");
  EXPECT_EQ(one.ledger.id_of({}), "");
  one.ledger.stop({JobId{1U}, 1}, StopReason::Preempted);
  const auto tasks = one.ledger.take_tasks(one.now_ns);
  ASSERT_EQ(tasks.size(), 1U);
  one.ledger.put_off(tasks[0], one.now_ns + 60 * kSecond);
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{});
  one.now_ns += 60 * kSecond;
  EXPECT_EQ(one.act(), Acts{Act::Requeue});
  one.ledger.stop({JobId{1U}, 1}, StopReason::Cancelled);
  EXPECT_EQ(one.act(), Acts{Act::Cancel}) << "a cancel does not wait for it";
}

TEST(Ledger, AJobOfAFailedNodeIsTakenBackAtOnce) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  one.act();
  one.runs(1);
  EXPECT_EQ(one.look().size(), 1U);
  one.job.stand = Stand::Released;  // requeued by the cluster, not held
  const auto reports = one.look();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].kind, ReportKind::Lost);
  EXPECT_EQ(one.act(), Acts{Act::TakeBack});
  one.job.stand = Stand::Held;
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.ledger.size(), 0U);
}

TEST(Ledger, AStartOfAnEarlierDaemonIsAwaitedNotRepeated) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  one.job = {.stand = Stand::Released, .run = {JobId{1U}, 1}};
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{}) << "it has its nodes";
  one.now_ns += 20 * kSecond;
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{});
  one.runs(1);
  EXPECT_EQ(one.answers(), Kinds{ReportKind::Started});
}

TEST(Ledger, AStartOfAnEarlierDaemonThatDoesNotComeIsTakenBack) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  one.job = {.stand = Stand::Released, .run = {JobId{1U}, 1}, .reason = "Resources"};
  EXPECT_TRUE(one.look().empty());
  one.now_ns += 40 * kSecond;
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{Act::TakeBack});
  one.job = {.stand = Stand::Held};
  EXPECT_EQ(one.answers(), Kinds{ReportKind::Declined});
}

TEST(Ledger, WhatNoNodeIsTheReasonForBlamesNone) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  (void)one.act();
  one.job = {
      .stand = Stand::Released, .run = {JobId{1U}, 1}, .hopeless = true, .is_blameless = true};
  EXPECT_TRUE(one.look().empty());
  one.now_ns += base::kMinute;
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{Act::TakeBack});
  one.job = {.stand = Stand::Held};
  const auto reports = one.look();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].kind, ReportKind::Declined);
  EXPECT_EQ(reports[0].parts, std::vector<NodePart>{NodePart{}});
}

TEST(Ledger, AStartIsNotGivenUpWhileItsNodeIsSilent) {
  OneJob one;
  one.ledger.launch(order_of(1, 1));
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{Act::Start});
  one.job = {.stand = Stand::Released, .run = {JobId{1U}, 1}, .on_silent_node = true};
  for (int minute = 0; minute < 30; ++minute) {
    one.now_ns += base::kMinute;
    EXPECT_TRUE(one.look().empty());
    EXPECT_EQ(one.act(), Acts{});
  }
  one.job.on_silent_node = false;
  one.now_ns += 20 * kSecond;
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{}) << "from now on";
  one.now_ns += 20 * kSecond;
  EXPECT_TRUE(one.look().empty());
  EXPECT_EQ(one.act(), Acts{Act::TakeBack});
}

TEST(Ledger, RunsAreTakenUpAfterARestart) {
  OneJob one;
  one.runs(4);
  one.ledger.resume(order_of(1, 4));
  EXPECT_EQ(one.look().at(0).kind, ReportKind::Started);
  EXPECT_EQ(one.act(), Acts{});
  one.ledger = Ledger{};
  one.job.run = {};  // started by somebody else: adopted
  one.ledger.resume(order_of(1, 1));
  EXPECT_EQ(one.look().at(0).kind, ReportKind::Started);
  EXPECT_EQ(one.act(), Acts{Act::Mark});
  one.ledger = Ledger{};
  one.runs(3);
  one.ledger.resume(order_of(1, 2));
  EXPECT_EQ(one.look().at(0).kind, ReportKind::Lost) << "another run";
  one.job = {.stand = Stand::Held};
  one.ledger.resume(order_of(1, 2));
  EXPECT_EQ(one.look().at(0).kind, ReportKind::Lost) << "it had not been started";
  EXPECT_EQ(one.act(), Acts{});
}

/// A cluster of jobs that start, end and fail, where tasks fail or have effects late, and an
/// administrator who holds, releases, requeues and cancels.
class Cluster {
 public:
  explicit Cluster(uint64_t seed) : random_(seed) {}

  void step() {
    now_ns_ += kSecond;
    const std::string id = std::to_string(1 + random_.below(3));
    if (random_.below(4) == 0 && open_[id].run == 0 && jobs_[id].stand == Stand::Held &&
        !gone_[id]) {
      open_[id] = {++runs_[id]};
      ledger_.launch(order_of(static_cast<uint32_t>(std::stoul(id)), runs_[id]));
    }
    if (random_.below(6) == 0 && open_[id].run != 0) {
      const bool cancels = random_.below(8) == 0;
      gone_[id] = gone_[id] || cancels;
      ledger_.stop({JobId{static_cast<uint32_t>(std::stoul(id))}, open_[id].run},
                   cancels ? StopReason::Cancelled : StopReason::Preempted);
    }
    std::map<std::string, JobStand> asked = jobs_;
    const TimeNs asked_ns = now_ns_;
    now_ns_ += kSecond / 10;
    if (random_.below(2) == 0) move(std::to_string(1 + random_.below(3)));
    carry_out();
    for (const Report& report : ledger_.look(asked, asked_ns, now_ns_)) take(report);
  }

  /// Nothing else happens: every order is answered, and no job runs or starts without us.
  void settle() {
    for (int i = 0; i < 200; ++i) {
      now_ns_ += kSecond;
      for (auto& [id, job] : jobs_) {
        if (job.stand == Stand::Running || job.stand == Stand::Released) end(job);
      }
      carry_out();
      now_ns_ += kSecond;
      for (const Report& report : ledger_.look(jobs_, now_ns_, now_ns_)) take(report);
    }
    EXPECT_EQ(ledger_.size(), 0U);
    for (const auto& [id, open] : open_) EXPECT_EQ(open.run, 0U) << "unanswered: " << id;
  }

  int started = 0, answered = 0;

 private:
  struct Open {
    uint32_t run = 0;  ///< 0 = none
    bool started = false;
  };

  static void end(JobStand& job) {
    job.ran = job.stand == Stand::Running;
    job.stand = Stand::Ended;
    job.end_ns = job.start_ns + kSecond;
  }

  /// Something that the cluster, a user or an administrator does.
  void move(const std::string& id) {
    JobStand& job = jobs_[id];
    switch (random_.below(7)) {
      case 0:
      case 1:
        if (job.stand == Stand::Released) {
          job.stand = Stand::Running;
          job.start_ns = now_ns_;
          EXPECT_TRUE(open_[id].run != 0 && job.run.run == open_[id].run)
              << id << ": run " << job.run.run << " started, expected " << open_[id].run;
        }
        break;
      case 2:
        if (job.stand == Stand::Running) job.stand = Stand::Held;  // requeuehold
        break;
      case 3:
        if (job.stand == Stand::Released) job.stand = Stand::Held;
        break;
      case 4:
        job.hopeless = random_.below(2) == 0;
        break;
      case 5:
        if (job.stand != Stand::Ended && random_.below(10) == 0) end(job);
        break;
      default:
        if (job.stand == Stand::Ended && ledger_.run_of(id) == RunId{}) {
          job = {.stand = Stand::Held};  // a new job of the same name
          gone_[id] = false;
        }
    }
  }

  void carry_out() {
    for (const Task& task : ledger_.take_tasks(now_ns_)) {
      now_ns_ += 1;
      if (random_.below(8) == 0) {
        ledger_.done(task, "refused", now_ns_);
        continue;
      }
      JobStand& job = jobs_[task.id];
      if (job.stand != Stand::Ended) {
        switch (task.act) {
          case Act::Start:
            if (job.stand == Stand::Running) break;
            job.run = task.order.run;
            job.stand = Stand::Released;
            break;
          case Act::TakeBack:
            if (job.stand == Stand::Released) job.stand = Stand::Held;
            break;
          case Act::Requeue:
            job.stand = Stand::Held;
            break;
          case Act::Cancel:
            end(job);
            break;
          case Act::Mark:
            job.run = task.order.run;
        }
      }
      ledger_.done(task, "", now_ns_, random_.below(10) == 0);
    }
  }

  void take(const Report& report) {
    const std::string id = std::to_string(report.run.job.value);
    Open& open = open_[id];
    ASSERT_EQ(report.run.run, open.run) << "an answer for a run that is not open";
    if (report.kind == ReportKind::Started) {
      EXPECT_FALSE(open.started);
      open.started = true;
      ++started;
      return;
    }
    EXPECT_TRUE(report.kind == ReportKind::Ended || report.kind == ReportKind::Lost ||
                (report.kind == ReportKind::Declined && !open.started));
    // What ended does not run, nor does it start again.
    EXPECT_NE(jobs_[id].stand, Stand::Running) << id;
    ++answered;
    open = {};
  }

  base::Random random_;
  Ledger ledger_{};
  TimeNs now_ns_ = kSecond;
  std::map<std::string, JobStand> jobs_{
      {"1", {.stand = Stand::Held}}, {"2", {.stand = Stand::Held}}, {"3", {.stand = Stand::Held}}};
  std::map<std::string, uint32_t> runs_{};
  std::map<std::string, Open> open_{};
  std::map<std::string, bool> gone_{};
};

TEST(Ledger, EveryOrderIsAnsweredOnceWhateverTheClusterDoes) {
  int started = 0;
  int answered = 0;
  for (uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Cluster cluster(seed);
    for (int i = 0; i < 500 && !HasFailure(); ++i) cluster.step();
    cluster.settle();
    started += cluster.started;
    answered += cluster.answered;
  }
  EXPECT_GT(started, 500);
  EXPECT_GT(answered, started);
}

}  // namespace
}  // namespace goban::live::engine::cluster
