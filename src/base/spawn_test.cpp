#include "base/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/test_folder.hpp"

namespace goban::base {
namespace {

using testing::EndsWith;

/// Runs a shell line; returns what it prints.
std::string printed(const std::string& line, SpawnOptions options) {
  const TestFolder folder("spawn");
  const Descriptor out(
      ::open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  options.out = out.get();
  options.err = out.get();
  const pid_t pid = spawn({"sh", "-c", line}, options);
  EXPECT_GT(pid, 0);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return TestFolder::read(folder / "out");
}

TEST(Spawn, OutputAndErrorsGoToTheirFilesAndNothingIsThereToRead) {
  EXPECT_EQ(printed("cat; echo out; echo err >&2", {}), "out\nerr\n");
}

TEST(Spawn, AnEnvironmentReplacesThatOfThisProcess) {
  ::setenv("GOBAN_SPAWN_TEST", "here", 1);
  EXPECT_EQ(printed("echo ${GOBAN_SPAWN_TEST-none}", {}), "here\n");
  EXPECT_EQ(printed("echo ${GOBAN_SPAWN_TEST-none} $X", {.environment = {{"X=1"}}}), "none 1\n");
  ::unsetenv("GOBAN_SPAWN_TEST");
}

TEST(Spawn, GroupAndSessionAreThoseAskedFor) {
  // Process id, process group and session of the shell.
  const std::string line = "cut -d' ' -f1,5,6 /proc/$$/stat";
  const auto of = [&](SpawnGroup group) {
    pid_t pid = 0;
    pid_t pgid = 0;
    pid_t sid = 0;
    EXPECT_EQ(std::sscanf(printed(line, {.group = group}).c_str(), "%d %d %d", &pid, &pgid, &sid),
              3);
    return std::array{pgid == pid, sid == pid, pgid == ::getpgrp(), sid == ::getsid(0)};
  };
  EXPECT_EQ(of(SpawnGroup::Same), (std::array{false, false, true, true}));
  EXPECT_EQ(of(SpawnGroup::Own), (std::array{true, false, false, true}));
  EXPECT_EQ(of(SpawnGroup::OwnSession), (std::array{true, true, false, false}));
}

TEST(Spawn, ASessionOfItsOwnIgnoresNoSignal) {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  const std::string line = "grep SigIgn /proc/$$/status";
  // The last digit is that of the first four signals, of which SIGHUP is the first.
  EXPECT_THAT(printed(line, {}), EndsWith("1\n"));
  EXPECT_THAT(printed(line, {.group = SpawnGroup::OwnSession}), EndsWith("0\n"));
  ::signal(SIGHUP, before);
}

TEST(Spawn, TheStatusIsThatOfTheChild) {
  const int exited = wait_for(spawn({"sh", "-c", "exit 3"}));
  EXPECT_TRUE(WIFEXITED(exited));
  EXPECT_EQ(WEXITSTATUS(exited), 3);
  const int killed = wait_for(spawn({"sh", "-c", "kill -TERM $$"}));
  EXPECT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(WTERMSIG(killed), SIGTERM);
}

TEST(Spawn, AProgramThatIsMissingIsZeroWithErrno) {
  EXPECT_EQ(spawn({"/no/such/program"}), 0);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace goban::base
