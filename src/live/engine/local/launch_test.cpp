// A run starts at most once, whichever process is killed.
#include <csignal>
#include <gtest/gtest.h>
#include <map>
#include <sys/wait.h>

#include "base/random.hpp"
#include "live/engine/local/supervisor.hpp"
#include "live/engine/local/test_runs.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::live::engine::local {
namespace {

/// Launches in a process of its own.
pid_t launch_elsewhere(TestRuns& runs, const LaunchOrder& order) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  LocalEngine(runs.options, runs.gpus).launch(order);
  ::_exit(0);
}

/// About twice the duration of a launch.
constexpr uint64_t kLaunchMax_us = 6000;

/// Launches in a process that is killed within that time.
void launch_and_kill(TestRuns& runs, const LaunchOrder& order, base::Random& random,
                     uint64_t longest_us = kLaunchMax_us) {
  const pid_t launcher = launch_elsewhere(runs, order);
  ::usleep(static_cast<useconds_t>(random.below(longest_us)));
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
}

/// A job that appends a line at each start.
LaunchOrder counted_job(const TestRuns& runs, uint32_t number) {
  return runs.job(number, "echo x >> started-$GOBAN_JOB_ID\n");
}
std::string starts_of(const TestRuns& runs, uint32_t number) {
  return text_of(runs.out("started-" + std::to_string(number)));
}

/// The last report of each run.
std::map<uint32_t, Report> ends_of(TestRuns& runs, size_t count, std::vector<Report> early = {}) {
  std::map<uint32_t, Report> ends;
  EXPECT_TRUE(wait_until([&] {
    for (Report& report : early.empty() ? runs.reports() : std::exchange(early, {})) {
      if (report.kind == ReportKind::Started || report.kind == ReportKind::Progress) continue;
      EXPECT_FALSE(ends.contains(report.run.job.value)) << "two ends";
      ends.emplace(report.run.job.value, std::move(report));
    }
    return ends.size() == count;
  }));
  return ends;
}

TEST(Launch, KilledAtAnyMomentAndRepeatedItStartsOnce) {
  TestRuns runs("kill_launch");
  base::Random random(20261121);
  constexpr uint32_t kRuns = 120;
  std::vector<LaunchOrder> orders;
  for (uint32_t i = 1; i <= kRuns; ++i) {
    orders.push_back(counted_job(runs, i));
    launch_and_kill(runs, orders.back(), random);
    // The new daemon repeats orders that may have been lost; sometimes it is killed, too.
    if (i % 3 == 0) launch_and_kill(runs, orders.back(), random);
    runs.engine().launch(orders.back());
  }
  for (const auto& [job, report] : ends_of(runs, kRuns)) {
    EXPECT_EQ(report.kind, ReportKind::Ended) << job << ' ' << report.detail;
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(starts_of(runs, job + 1), "x\n") << job + 1;
  }
}

TEST(Launch, KilledAtAnyMomentAndResumedItRanOnceOrIsLostForGood) {
  TestRuns runs("kill_resume");
  base::Random random(4711);
  std::vector<Report> early;
  constexpr uint32_t kRuns = 100;
  std::vector<LaunchOrder> orders;
  for (uint32_t i = 1; i <= kRuns; ++i) {
    orders.push_back(counted_job(runs, i));
    // A supervisor needs some time to take the order. On a slow machine all random times may be too
    // short, so some cases wait as long as needed, and some do not wait.
    if (i % 4 == 0) {
      ::waitpid(launch_elsewhere(runs, orders.back()), nullptr, 0);
      wait_until([&] { return runs.folder(orders.back()).stage() >= RunStage::Running; });
    } else if (i % 4 == 1) {
      launch_and_kill(runs, orders.back(), random, 1);
    } else {
      launch_and_kill(runs, orders.back(), random);
      ::usleep(static_cast<useconds_t>(random.below(40'000)));
    }
    runs.engine().resume(orders.back());
    for (const Report& report : runs.reports()) early.push_back(report);
  }
  const auto ends = ends_of(runs, kRuns, std::move(early));
  int lost = 0;
  for (const auto& [job, report] : ends) {
    const bool ran = report.kind == ReportKind::Ended;
    EXPECT_TRUE(ran || (report.kind == ReportKind::Lost && report.detail == "unknown"))
        << report.detail;
    lost += ran ? 0 : 1;
    EXPECT_EQ(starts_of(runs, job + 1), ran ? "x\n" : "") << job + 1;
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, static_cast<int>(kRuns));
  // A lost run is not started by a late repetition of its order.
  for (const auto& order : orders) {
    if (ends.at(order.run.job.value).kind == ReportKind::Lost) runs.engine().launch(order);
  }
  for (const auto& [job, report] : ends_of(runs, static_cast<size_t>(lost))) {
    EXPECT_EQ(report.kind, ReportKind::Lost);
    EXPECT_EQ(starts_of(runs, job + 1), "");
  }
}

// A daemon is frozen just before it launches. Another one takes over, runs the job and forgets it.
// Then the first one continues.
TEST(Launch, ADaemonThatWasTakenOverStartsNothing) {
  TestRuns runs("shut_out");
  const std::string journal = runs.state() + "/journal";
  std::filesystem::create_directories(journal);
  runs.options.epoch = journal::raise_epoch(journal::system_files(), journal, 1).value();
  LocalEngine old(runs.options, runs.gpus);
  const auto placed = counted_job(runs, 1);
  const auto late = counted_job(runs, 2);
  // Its supervisor is started explicitly below: the order of the first run exists and is not taken.
  RunOrder order;
  order.run = placed.run;
  order.epoch = runs.options.epoch;
  order.spec = placed.spec;
  order.payload = payload_path(runs.state(), placed.spec);
  ASSERT_TRUE(runs.folder(placed).place_order(order).value());

  runs.options.epoch = journal::raise_epoch(journal::system_files(), journal, 1).value();
  EXPECT_FALSE(runs.folder(placed).take()) << "the order of a daemon that was taken over";
  EXPECT_EQ(runs.run(late).kind, ReportKind::Ended);
  runs.engine().forget(late.run.job, {});
  old.launch(late);
  EXPECT_TRUE(old.take_events().empty());
  EXPECT_EQ(runs.folder(late).stage(), RunStage::Absent);
  EXPECT_EQ(starts_of(runs, 2), "x\n");
  // The new daemon orders the first run again, which takes effect.
  EXPECT_EQ(runs.run(placed).kind, ReportKind::Ended);
  EXPECT_EQ(starts_of(runs, 1), "x\n");
}

TEST(Launch, TwoAtOnceStartItOnce) {
  TestRuns runs("two_at_once");
  constexpr uint32_t kRuns = 20;
  for (uint32_t i = 1; i <= kRuns; ++i) {
    const auto order = counted_job(runs, i);
    const pid_t first = launch_elsewhere(runs, order);
    const pid_t second = launch_elsewhere(runs, order);
    ::waitpid(first, nullptr, 0);
    ::waitpid(second, nullptr, 0);
    runs.engine().launch(order);  // a third launch
  }
  for (const auto& [job, report] : ends_of(runs, kRuns)) {
    EXPECT_EQ(report.kind, ReportKind::Ended) << report.detail;
    EXPECT_EQ(starts_of(runs, job + 1), "x\n");
  }
}

TEST(Launch, AJobAndItsStopOutliveTheDaemon) {
  TestRuns runs("outlive");
  auto order = runs.job(1, "trap '' TERM; echo up > up; while true; do sleep 0.05; done\n");
  order.spec.stop.grace_ns = base::kSecond / 4;
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    LocalEngine engine(runs.options, runs.gpus);
    engine.launch(order);
    wait_until([&] { return !text_of(runs.out("up")).empty(); });
    engine.stop(order.run, StopReason::TimedOut);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(daemon, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  // Only the supervisor is running.
  ASSERT_TRUE(wait_until([&] { return runs.folder(order).stage() == RunStage::Over; }));
  runs.engine().resume(order);
  const auto reports = runs.wait_for(order.run, ReportKind::Ended);
  EXPECT_EQ(reports.front().kind, ReportKind::Started);
  EXPECT_EQ(reports.back().signal, SIGKILL);
  // A repeated order gives the same result.
  runs.restart();
  runs.engine().resume(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().signal, SIGKILL);
}

TEST(Launch, ALimitHoldsWithoutTheDaemonAndTheSignalComesBefore) {
  TestRuns runs("limit");
  auto order = runs.job(1,
                        "trap 'date +%s%N > usr' USR1; trap 'date +%s%N > term; exit 9' TERM\n"
                        "date +%s%N > up; while true; do sleep 0.02; done\n");
  order.spec.stop = {.signal = SIGUSR1, .lead_ns = base::kSecond, .grace_ns = base::kSecond};
  order.limit_ns = 2 * base::kSecond;
  const pid_t daemon = launch_elsewhere(runs, order);
  ::waitpid(daemon, nullptr, 0);
  ASSERT_TRUE(wait_until([&] { return runs.folder(order).stage() == RunStage::Over; }));
  const auto time_of = [&](const char* name) {
    return base::to_seconds(std::strtoll(text_of(runs.out(name)).c_str(), nullptr, 10));
  };
  // The shell wrote the first time a little after its start.
  EXPECT_GT(time_of("usr") - time_of("up"), 0.5);
  EXPECT_GT(time_of("term") - time_of("usr"), 0.5);
  EXPECT_GT(time_of("term") - time_of("up"), 1.5);
  runs.engine().resume(order);
  const auto reports = runs.wait_for(order.run, ReportKind::Ended);
  EXPECT_TRUE(reports.front().limited);
  EXPECT_TRUE(reports.back().limited);
  EXPECT_EQ(reports.back().exit_code, 9);
  EXPECT_GE(reports.back().ran_ns, 2 * base::kSecond);
}

TEST(Launch, AJobThatEndsInTheTimeBeforeItsLimitEndedByItself) {
  TestRuns runs("lead");
  auto order = runs.job(1, "trap 'exit 0' USR1\nsleep 100 &\nwhile true; do sleep 0.02; done\n");
  order.spec.stop = {.signal = SIGUSR1, .lead_ns = 100 * base::kSecond};
  order.limit_ns = 101 * base::kSecond;
  const Report report = runs.run(order);
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_FALSE(report.limited);
}

TEST(Launch, ASignalBeforeTheLimitWaitsForTheJobsHandler) {
  // A run that had been interrupted may have less time left than its signal's.
  TestRuns runs("early");
  auto order = runs.job(1, "sleep 0.5; trap 'exit 7' USR1\nwhile true; do sleep 0.02; done\n");
  order.spec.stop = {.signal = SIGUSR1, .lead_ns = 100 * base::kSecond};
  order.limit_ns = 10 * base::kSecond;
  EXPECT_EQ(runs.run(order).exit_code, 7);
}

TEST(Launch, AJobHasTheUmaskOfItsSubmission) {
  TestRuns runs("umask");
  auto order = runs.job(1, "umask\ntouch made\n");
  order.spec.umask = 0027;
  EXPECT_EQ(runs.run(order).exit_code, 0);
  EXPECT_EQ(text_of(runs.out("goban-1.out")), "0027\n");
  using std::filesystem::perms;
  for (const char* name : {"made", "goban-1.out"}) {
    EXPECT_EQ(std::filesystem::status(runs.out(name)).permissions(),
              perms::owner_read | perms::owner_write | perms::group_read)
        << name;
  }
}

TEST(Launch, AStopCanBeHurried) {
  TestRuns runs("hurry");
  auto order = runs.job(1,
                        "trap 'echo term > term' TERM; trap 'echo usr > usr' USR1\n"
                        "echo up > up; while true; do sleep 0.02; done\n");
  order.spec.stop = {
      .signal = SIGUSR1, .lead_ns = 3600 * base::kSecond, .grace_ns = 3600 * base::kSecond};
  runs.engine().launch(order);
  const auto appears = [&](const char* name) {
    return wait_until([&] { return !text_of(runs.out(name)).empty(); });
  };
  ASSERT_TRUE(appears("up"));
  runs.engine().stop(order.run, StopReason::Cancelled);
  ASSERT_TRUE(appears("usr"));
  EXPECT_EQ(text_of(runs.out("term")), "");
  for (int i = 0; i < 3; ++i) runs.engine().hurry(order.run, StopUrgency::Terminate);
  ASSERT_TRUE(appears("term"));
  // Another daemon hears of it only now.
  runs.restart();
  runs.engine().resume(order);
  runs.engine().stop(order.run, StopReason::Cancelled);
  runs.engine().hurry(order.run, StopUrgency::Kill);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().signal, SIGKILL);
}

TEST(Launch, ASupervisorThatCannotStartIsReported) {
  TestRuns runs("no_supervisor");
  runs.options.supervisor = {"/no/such/program"};
  const auto order = runs.job(1, "true\n");
  runs.engine().launch(order);
  EXPECT_NE(runs.wait_for(order.run, ReportKind::Unable).back().detail.find("/no/such/program"),
            std::string::npos);
  runs.options.supervisor = {"/bin/false"};
  runs.restart();
  const auto second = runs.job(2, "true\n");
  runs.engine().launch(second);
  EXPECT_EQ(runs.wait_for(second.run, ReportKind::Unable).back().kind, ReportKind::Unable);
  EXPECT_FALSE(base::exists(runs.folder(second).path())) << "space may be scarce";
  // An order that cannot be written, as on a full disk, starts nothing.
  runs.options.supervisor = {GOBAN_BINARY_DIR "/bin/goban", "supervise"};
  runs.restart();
  const auto third = counted_job(runs, 3);
  std::ofstream(runs.state() + "/jobs/3") << "in the way";
  runs.engine().launch(third);
  EXPECT_EQ(runs.wait_for(third.run, ReportKind::Unable).back().kind, ReportKind::Unable);
  EXPECT_EQ(starts_of(runs, 3), "");
}

/// A supervisor under limits of this shell, which stand for a machine that is full.
std::vector<std::string> limited_supervisor(const std::string& limits) {
  return {"/bin/sh", "-c", limits + "; exec \"$0\" supervise \"$1\"",
          GOBAN_BINARY_DIR "/bin/goban"};
}

#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(undefined_behavior_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

TEST(Launch, AMachineThatIsFullIsNotTheJobsFault) {
  TestRuns runs("full_machine");
  uint32_t number = 0;
  // No block for the status; no file for the sockets; none for the payload.
  std::vector<const char*> all_limits = {"ulimit -f 0", "ulimit -n 8", "ulimit -n 5"};
  if (kSanitized) all_limits.resize(1);  // its checks open files, and fail without
  for (const char* limits : all_limits) {
    runs.options.supervisor = limited_supervisor(limits);
    runs.restart();
    const auto order = counted_job(runs, ++number);
    runs.engine().launch(order);
    const Report report = runs.wait_for(order.run, ReportKind::Unable).back();
    EXPECT_EQ(report.kind, ReportKind::Unable) << limits << ": " << report.detail;
    EXPECT_EQ(starts_of(runs, number), "") << limits;
    EXPECT_FALSE(base::exists(runs.folder(order).path())) << limits;
  }
  // What the job brings about is its own failure.
  runs.options.supervisor = {GOBAN_BINARY_DIR "/bin/goban", "supervise"};
  runs.restart();
  auto order = counted_job(runs, ++number);
  order.spec.work_folder = "/no/such/folder";
  runs.engine().launch(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Refused).back().kind, ReportKind::Refused);
}

TEST(Launch, AnOrderThatASupervisorTookIsNotWithdrawn) {
  TestRuns runs("withdraw");
  const auto order = runs.job(1, "sleep 0.3\n");
  EXPECT_TRUE(runs.folder(order).withdraw()) << "there is none";
  runs.engine().launch(order);
  ASSERT_TRUE(wait_until([&] { return runs.folder(order).stage() == RunStage::Running; }));
  EXPECT_FALSE(runs.folder(order).withdraw());
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().exit_code, 0);
  EXPECT_FALSE(runs.folder(order).withdraw());
}

TEST(Launch, UnknownRunsAreLost) {
  TestRuns runs("unknown");
  const auto order = runs.job(1, "true\n");
  runs.engine().resume(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Lost).back().detail, "unknown");
  // The run had not even a folder; a late repetition of its order is fenced nevertheless.
  runs.engine().launch(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Lost).back().kind, ReportKind::Lost);
}

TEST(Launch, ASuspendedJobStandsStillAndItsLimitPauses) {
  TestRuns runs("suspend");
  runs.options.cgroup_root = "-";  // by signals, one process at a time
  auto order = runs.job(1, "sleep 1000 & echo $! > child; echo $$ > up\nwait\n");
  order.limit_ns = 3 * base::kSecond;
  runs.engine().launch(order);
  const auto state_of = [&](const char* name) {
    std::string pid = text_of(runs.out(name));
    if (!pid.empty()) pid.pop_back();
    const std::string stat = text_of("/proc/" + pid + "/stat");
    const size_t at = stat.rfind(')');
    return at == std::string::npos ? ' ' : stat[at + 2];
  };
  const auto all_are = [&](bool stopped) {
    return wait_until([&] {
      return !text_of(runs.out("up")).empty() && (state_of("up") == 'T') == stopped &&
             (state_of("child") == 'T') == stopped;
    });
  };
  ASSERT_TRUE(all_are(false));
  runs.engine().suspend(order.run, true);
  ASSERT_TRUE(all_are(true));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  EXPECT_EQ(runs.folder(order).stage(), RunStage::Running) << "beyond its limit";
  // Another daemon says the same again.
  runs.restart();
  runs.engine().resume(order);
  runs.engine().suspend(order.run, true);
  EXPECT_TRUE(all_are(true));
  runs.engine().suspend(order.run, false);
  EXPECT_TRUE(all_are(false));
  const Report end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_TRUE(end.limited);
  EXPECT_GE(end.ran_ns, 3 * base::kSecond);
}

TEST(Launch, AStopLetsASuspendedJobGoOnFirst) {
  TestRuns runs("suspend_stop");
  auto order = runs.job(1,
                        "trap 'echo term > term; exit 3' TERM\n"
                        "echo up > up; while true; do sleep 0.02; done\n");
  runs.engine().launch(order);
  ASSERT_TRUE(wait_until([&] { return !text_of(runs.out("up")).empty(); }));
  runs.engine().suspend(order.run, true);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  runs.engine().stop(order.run, StopReason::Cancelled);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().exit_code, 3);
  EXPECT_EQ(text_of(runs.out("term")), "term\n");
}

}  // namespace
}  // namespace goban::live::engine::local
