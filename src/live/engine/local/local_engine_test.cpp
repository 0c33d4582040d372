// Jobs under real supervisors: how they end, and that no process of them remains.
#include "live/engine/local/local_engine.hpp"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.hpp"
#include "live/engine/local/as_user.hpp"
#include "live/engine/local/supervisor.hpp"
#include "live/engine/local/test_runs.hpp"

namespace goban::live::engine::local {
namespace {

/// With a cgroup where the machine permits one, and without.
class LocalRuns : public testing::TestWithParam<const char*> {
 public:
  LocalRuns() { runs.options.cgroup_root = GetParam(); }
  /// Waits for a file that the job writes; returns its text without the line break.
  std::string wait_for_file(const std::string& name) {
    const std::string path = runs.out(name);
    EXPECT_TRUE(wait_until([&] { return text_of(path).ends_with('\n'); })) << path;
    std::string text = text_of(path);
    if (!text.empty()) text.pop_back();
    return text;
  }
  TestRuns runs{"local_engine"};
};

INSTANTIATE_TEST_SUITE_P(Cgroups, LocalRuns, testing::Values("", "-"), [](const auto& each) {
  return std::string(*each.param == 0 ? "WhereAllowed" : "Without");
});

TEST_P(LocalRuns, ReportsStartAndExitCode) {
  const auto order = runs.job(7, "echo to-out; echo to-err >&2; exit 3\n");
  runs.engine().launch(order);
  const auto reports = runs.wait_for(order.run, ReportKind::Ended);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].kind, ReportKind::Started);
  EXPECT_EQ(reports[1].exit_code, 3);
  EXPECT_EQ(reports[1].signal, 0);
  EXPECT_FALSE(reports[1].out_of_memory);
  EXPECT_GE(reports[1].at_ns, reports[0].at_ns);
  EXPECT_GE(reports[1].usage.cpu_s, 0);
  EXPECT_GT(reports[1].usage.mem_bytes_max, 0);
  EXPECT_EQ(text_of(runs.out("goban-7.out")), "to-out\nto-err\n");
}

TEST_P(LocalRuns, AnEndBySignalIsNoExitCode) {
  const Report report = runs.run(runs.job(1, "kill -USR1 $$\nsleep 60\n"));
  EXPECT_EQ(report.exit_code, -1);
  EXPECT_EQ(report.signal, SIGUSR1);
}

TEST_P(LocalRuns, InterpreterArgumentsAndTextsOfUsersAreTakenAsTheyAre) {
  Payload payload;
  payload.script = "#!/bin/sh -e\nprintf '%s|' \"$@\" \"$WEIRD\"\nfalse\necho not reached\n";
  payload.args = {"a b", "$(touch injected)", "; rm -rf x", "'"};
  payload.env = {{"WEIRD", "`touch injected` \"\n$HOME"}};
  const auto order = runs.job(2, payload);
  EXPECT_EQ(runs.run(order).exit_code, 1);
  EXPECT_EQ(text_of(runs.out("goban-2.out")),
            "a b|$(touch injected)|; rm -rf x|'|`touch injected` \"\n$HOME|");
  EXPECT_FALSE(base::exists(runs.out("injected")));
}

TEST_P(LocalRuns, NothingEscapesTheEndOfItsJob) {
  const auto order = runs.job(3,
                              "setsid sleep 1000 & echo $! > one\n"
                              "(setsid sh -c '(trap \"\" TERM HUP; sleep 1000 & echo $! > two; "
                              "wait) &') &\n"
                              "nohup sleep 1000 >/dev/null 2>&1 & echo $! > three\n"
                              "while [ ! -s one ] || [ ! -s two ] || [ ! -s three ]; do "
                              "sleep 0.01; done\nexit 0\n");
  EXPECT_EQ(runs.run(order).exit_code, 0);
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_FALSE(lives(wait_for_file(name))) << name;
  }
}

TEST_P(LocalRuns, AStopGoesFromSignalOverTermToKill) {
  auto order = runs.job(4,
                        "trap 'echo usr1 >> heard' USR1\ntrap 'echo term >> heard' TERM\n"
                        "(trap '' TERM; sleep 1000 & echo $! > child; wait) &\n"
                        "echo ready > ready\nwhile true; do sleep 0.02; done\n");
  order.spec.stop = {SIGUSR1, base::kSecond, base::kSecond};
  runs.engine().launch(order);
  wait_for_file("ready");
  const std::string child = wait_for_file("child");
  const auto begin = base::steady_ns();
  runs.engine().stop(order.run, StopReason::Preempted);
  runs.engine().stop(order.run, StopReason::Cancelled);  // changes nothing
  const Report report = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_GE(base::steady_ns() - begin, 2 * base::kSecond);
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_FALSE(report.out_of_memory);
  EXPECT_EQ(text_of(runs.out("heard")), "usr1\nterm\n");
  EXPECT_FALSE(lives(child));
}

TEST_P(LocalRuns, AfterAStopTheTrainingMayFinishThoughItsShellIsGone) {
  // SIGTERM kills the shell at once; its child writes a checkpoint first.
  auto order = runs.job(5,
                        "sh -c 'trap \"sleep 0.3; echo saved > saved; exit 0\" TERM; "
                        "echo up > up; while true; do sleep 0.02; done' &\nwait\n");
  runs.engine().launch(order);
  wait_for_file("up");
  runs.engine().stop(order.run, StopReason::Preempted);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().signal, SIGTERM);
  EXPECT_EQ(text_of(runs.out("saved")), "saved\n");
}

TEST_P(LocalRuns, ACheckpointSignalKillsNobodyWhoDoesNotCatchIt) {
  auto order = runs.job(6,
                        "sh -c 'trap \"echo caught > caught; exit 0\" USR1; echo up > up; "
                        "while true; do sleep 0.02; done' | cat\nexit 5\n");
  order.spec.stop = {SIGUSR1, 10 * base::kSecond, 10 * base::kSecond};
  runs.engine().launch(order);
  wait_for_file("up");
  runs.engine().stop(order.run, StopReason::Preempted);
  // The pipe's shell and `cat` continued, so the script ran to its end.
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().exit_code, 5);
  EXPECT_EQ(text_of(runs.out("caught")), "caught\n");
}

TEST_P(LocalRuns, TheOneThatTakesTooMuchMemoryIsKilledAndTheResidentLives) {
  for (int32_t i = 0; i < 2; ++i) {
    base::gpus::LocalGpu& gpu = runs.gpus.emplace_back();
    gpu.index = i;
    gpu.is_virtual = true;
    gpu.cpus = {0};
  }
  auto resident = runs.job(1, "echo up > up\nwhile [ ! -e done ]; do sleep 0.02; done\n");
  resident.gpus = {core::model::GpuId(0U)};
  resident.spec.training.gpu_mem_bytes = int64_t{64} << 20;
  // 96 MiB in a variable of the shell.
  const std::string hog =
      "x=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
      "i=0; while [ $i -lt 21 ]; do x=$x$x; i=$((i+1)); done\nsleep 60\n";
  auto neighbour = runs.job(2, hog);
  neighbour.gpus = resident.gpus;
  neighbour.shares = true;
  neighbour.spec.training.gpu_mem_bytes = int64_t{64} << 20;
  runs.engine().launch(resident);
  wait_for_file("up");
  const Report report = runs.run(neighbour);
  EXPECT_TRUE(report.out_of_memory);
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_NE(report.detail.find("virtual GPUs"), std::string::npos) << report.detail;
  // The same for host memory.
  auto greedy = runs.job(3, hog);
  greedy.spec.mem_bytes = int64_t{48} << 20;
  EXPECT_TRUE(runs.run(greedy).out_of_memory);
  EXPECT_EQ(runs.folder(resident).stage(), RunStage::Running);
  std::ofstream(runs.out("done")) << "x";
  const Report end = runs.wait_for(resident.run, ReportKind::Ended).back();
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_FALSE(end.out_of_memory);
}

TEST_P(LocalRuns, AResidentIsHeldToItsWordWhenANeighbourComes) {
  base::gpus::LocalGpu& gpu = runs.gpus.emplace_back();
  gpu.is_virtual = true;
  gpu.cpus = {0};
  auto resident =
      runs.job(1,
               "x=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
               "i=0; while [ $i -lt 20 ]; do x=$x$x; i=$((i+1)); done\necho up > up\nsleep 60\n");
  resident.gpus = {core::model::GpuId(0U)};
  resident.spec.training.gpu_mem_bytes = int64_t{32} << 20;
  runs.engine().launch(resident);
  wait_for_file("up");  // alone it may use more than it declared
  auto neighbour = runs.job(2, "sleep 60\n");
  neighbour.gpus = resident.gpus;
  neighbour.shares = true;
  neighbour.spec.training.gpu_mem_bytes = int64_t{32} << 20;
  runs.engine().launch(neighbour);
  EXPECT_TRUE(runs.wait_for(resident.run, ReportKind::Ended).back().out_of_memory);
  EXPECT_TRUE(wait_until([&] { return runs.folder(neighbour).stage() == RunStage::Running; }));
  runs.engine().stop(neighbour.run, StopReason::Cancelled);
  EXPECT_EQ(runs.wait_for(neighbour.run, ReportKind::Ended).back().signal, SIGTERM);
}

TEST_P(LocalRuns, ASupervisorThatIsKilledLeavesNothing) {
  const auto order = runs.job(1,
                              "setsid sleep 1000 & echo $! > away\n"
                              "echo $$ > main\nwait\n");
  runs.engine().launch(order);
  const std::string main = wait_for_file("main");
  const std::string away = wait_for_file("away");
  const RunFolder folder = runs.folder(order);
  ASSERT_TRUE(wait_until([&] { return base::exists(folder.file("running")); }));
  const auto note = parse_note(text_of(folder.file("running")), "running");
  ASSERT_TRUE(note);
  ::kill(static_cast<pid_t>(note->supervisor_pid), SIGKILL);
  const Report report = runs.wait_for(order.run, ReportKind::Lost).back();
  EXPECT_NE(report.detail.find("supervisor exited without a status"), std::string::npos)
      << report.detail;
  EXPECT_FALSE(lives(main));
  EXPECT_FALSE(lives(away));
  // And it is not started again.
  runs.restart();
  runs.engine().launch(order);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Lost).back().kind, ReportKind::Lost);
}

TEST_P(LocalRuns, WhatCannotStartIsRefusedWithTheReason) {
  auto nowhere = runs.job(1, "true\n");
  nowhere.spec.work_folder = runs.out("missing");
  runs.engine().launch(nowhere);
  Report report = runs.wait_for(nowhere.run, ReportKind::Refused).back();
  EXPECT_NE(report.detail.find("missing"), std::string::npos) << report.detail;

  auto unknown = runs.job(2, "#!/no/such/shell\n");
  runs.engine().launch(unknown);
  report = runs.wait_for(unknown.run, ReportKind::Refused).back();
  EXPECT_NE(report.detail.find("/no/such/shell"), std::string::npos) << report.detail;

  auto unwritable = runs.job(3, "true\n");
  unwritable.spec.stdout_path = "no-folder/%j";
  runs.engine().launch(unwritable);
  report = runs.wait_for(unwritable.run, ReportKind::Refused).back();
  EXPECT_NE(report.detail.find("no-folder/3"), std::string::npos) << report.detail;
}

TEST(LocalEngine, InputIsReadFromAFileAndAFifoDelaysNoStart) {
  TestRuns runs("input");
  std::ofstream(runs.out("in.1")) << "hello\n";
  auto order = runs.job(1, "cat\n");
  order.spec.stdin_path = "in.%j";
  EXPECT_EQ(runs.run(order).exit_code, 0);
  EXPECT_EQ(text_of(runs.out("goban-1.out")), "hello\n");
  // Nobody ever writes to it.
  ASSERT_EQ(::mkfifo(runs.out("in.2").c_str(), 0600), 0);
  auto waits = runs.job(2, "cat; echo end\n");
  waits.spec.stdin_path = "in.%j";
  EXPECT_EQ(runs.run(waits).exit_code, 0);
  EXPECT_EQ(text_of(runs.out("goban-2.out")), "end\n");
}

TEST(LocalEngine, AFullDiskDelaysTheStatusAndLosesNothing) {
  TestRuns runs("full_disk");
  const auto order = runs.job(1, "echo up > up; while [ ! -e go ]; do sleep 0.02; done; exit 4\n");
  runs.engine().launch(order);
  ASSERT_TRUE(wait_until([&] { return base::exists(runs.folder(order).file("running")); }));
  const auto note = parse_note(text_of(runs.folder(order).file("running")), "running");
  const auto supervisor = static_cast<pid_t>(note->supervisor_pid);
  const rlimit none{0, RLIM_INFINITY};
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(supervisor, RLIMIT_FSIZE, &none, nullptr), 0);
  std::ofstream(runs.out("go")) << "x";
  ASSERT_TRUE(wait_until([&] {
    return !text_of(runs.folder(order).file("supervisor.log")).empty() ||
           !lives(std::to_string(note->pid));
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(runs.folder(order).stage(), RunStage::Running);  // its GPUs are not given to other jobs
  ASSERT_EQ(::prlimit(supervisor, RLIMIT_FSIZE, &all, nullptr), 0);
  EXPECT_EQ(runs.wait_for(order.run, ReportKind::Ended).back().exit_code, 4);
}

TEST(LocalEngine, AJobRunsWithTheRightsOfItsUserAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  TestRuns runs("other_user");
  // Other users may reach the output folder only.
  std::filesystem::permissions(runs.state(), std::filesystem::perms(0711));
  const std::string secret = runs.state() + "/secret";
  std::ofstream(secret) << "secret\n";
  ::chmod(secret.c_str(), 0600);
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(runs.out("").c_str(), kNobody, kNobody), 0);
  auto order = runs.job(1, "id -u; id -g; id -G; cat '" + secret +
                               "' || echo denied\n"
                               "ls -d " +
                               runs.state() +
                               "/jobs/1/* || echo hidden\n"
                               "[ -S \"$GOBAN_PROGRESS_SOCKET\" ] && echo socket\n");
  order.spec.owner = {kNobody, kNobody, "nobody"};
  order.spec.stdout_path = "log";
  order.spec.stderr_path = "/dev/null";
  EXPECT_EQ(runs.run(order).exit_code, 0);
  EXPECT_EQ(text_of(runs.out("log")), "65534\n65534\n65534\ndenied\nhidden\nsocket\n");
  struct stat facts{};
  ASSERT_EQ(::stat(runs.out("log").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, kNobody);
  // An output path that only root could write is refused.
  auto shadow = runs.job(2, "echo overwritten\n");
  shadow.spec.owner = order.spec.owner;
  shadow.spec.stdout_path = secret;
  runs.engine().launch(shadow);
  EXPECT_EQ(runs.wait_for(shadow.run, ReportKind::Refused).back().kind, ReportKind::Refused);
  EXPECT_EQ(text_of(secret), "secret\n");
}

TEST(LocalEngine, PayloadAndOrderAreForTheDaemonAlone) {
  TestRuns runs("private");
  const auto order = runs.job(1, Payload{"sleep 60\n", {}, {{"TOKEN", "token-of-the-job"}}, {}});
  runs.engine().launch(order);
  ASSERT_EQ(runs.wait_for(order.run, ReportKind::Started).back().kind, ReportKind::Started);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(runs.state() + "/jobs")) {
    if (entry.is_symlink()) continue;
    struct stat facts{};
    ASSERT_EQ(::stat(entry.path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 077U, 0U) << entry.path();
    if (entry.is_regular_file() && entry.path().filename() != "payload.json") {
      EXPECT_EQ(text_of(entry.path()).find("token-of-the-job"), std::string::npos) << entry.path();
    }
  }
  runs.engine().stop(order.run, StopReason::Cancelled);
  runs.wait_for(order.run, ReportKind::Ended);
  runs.engine().forget(order.run.job, order.spec.payload);
  EXPECT_FALSE(base::exists(runs.state() + "/jobs/1"));
  EXPECT_FALSE(base::exists(runs.state() + "/payloads/p1"));
}

TEST(LocalEngine, PayloadsStayWhileABackUpCopiesThem) {
  TestRuns runs("backup");
  const auto first = runs.job(1, "true\n");
  const auto second = runs.job(2, "true\n");
  EXPECT_EQ(runs.run(first).kind, ReportKind::Ended);
  {
    const base::Descriptor copying(
        ::open((runs.state() + "/payloads").c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(::flock(copying.get(), LOCK_EX), 0);
    runs.engine().forget(first.run.job, first.spec.payload);
    EXPECT_TRUE(base::exists(runs.state() + "/payloads/p1/payload.json"));
  }
  EXPECT_EQ(runs.run(second).kind, ReportKind::Ended);
  runs.engine().forget(second.run.job, second.spec.payload);
  EXPECT_FALSE(base::exists(runs.state() + "/payloads/p1"));
  EXPECT_FALSE(base::exists(runs.state() + "/payloads/p2"));
}

TEST(LocalEngine, TenThousandIdlePollsAreCheap) {
  TestRuns runs("idle");
  const auto order = runs.job(1, "sleep 60\n");
  runs.engine().launch(order);
  runs.wait_for(order.run, ReportKind::Started);
  const auto begin = base::steady_ns();
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(runs.engine().take_events().empty());
  EXPECT_LT(base::steady_ns() - begin, 2 * base::kSecond);
  runs.engine().stop(order.run, StopReason::Cancelled);
  runs.wait_for(order.run, ReportKind::Ended);
}

}  // namespace
}  // namespace goban::live::engine::local
