// Reads and writes of cgroup files, on a folder that imitates a cgroup, as few test machines
// delegate their memory controller. Runs in real cgroups: local_engine_test.
#include "live/machine/cgroup.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "live/engine/local/test_runs.hpp"
#include "live/machine/device_fence.hpp"

namespace goban::live::engine::local {
namespace {

class CgroupFiles : public testing::Test {
 public:
  CgroupFiles() {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root + "/run");
  }
  ~CgroupFiles() override { std::filesystem::remove_all(root); }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(root + "/run/" + name) << text;
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    return text_of(root + "/run/" + name);
  }
  const std::string root =
      std::filesystem::temp_directory_path() / ("goban_cgroup_" + std::to_string(::getpid()));
};

TEST_F(CgroupFiles, ALimitHoldsForTheRunAsAWholeAndWithoutSwap) {
  put("cgroup.procs", "");
  const auto cgroup = machine::Cgroup::make(root, "run");
  ASSERT_TRUE(cgroup);
  EXPECT_FALSE(cgroup->limit_memory(1 << 20)) << "no memory controller: somebody has to watch";
  for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group"}) put(name, "");
  EXPECT_TRUE(cgroup->limit_memory(1 << 20));
  EXPECT_EQ(get("memory.max"), "1048576");
  EXPECT_EQ(get("memory.swap.max"), "0");
  EXPECT_EQ(get("memory.oom.group"), "1");
}

TEST_F(CgroupFiles, CoresHoldForTheRunAsAWhole) {
  const auto cgroup = machine::Cgroup::at(root + "/run");
  EXPECT_FALSE(cgroup.limit_cores({0, 2})) << "no cpuset controller";
  put("cpuset.cpus", "");
  EXPECT_TRUE(cgroup.limit_cores({0, 2}));
  EXPECT_EQ(get("cpuset.cpus"), "0,2");
}

TEST_F(CgroupFiles, DevicesAreDeniedByTheControllerOfVersionOne) {
  put("devices.deny", "");
  ASSERT_TRUE(machine::deny_devices(machine::Cgroup::at(root + "/run"), {{195, 3}}));
  EXPECT_EQ(get("devices.deny"), "c 195:3 rwm");
}

TEST_F(CgroupFiles, FiguresAreReadAndAbsentOnesAreNotKnown) {
  const machine::Cgroup cgroup = machine::Cgroup::at(root + "/run");
  EXPECT_EQ(cgroup.cpu_s(), -1);
  EXPECT_EQ(cgroup.memory_bytes_max(), -1);
  EXPECT_EQ(cgroup.memory_kills(), 0);
  EXPECT_TRUE(cgroup.processes().empty());
  put("cpu.stat", "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n");
  put("memory.peak", "734003200\n");
  put("memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n");
  put("cgroup.procs", "17\n4711\n");
  EXPECT_DOUBLE_EQ(cgroup.cpu_s(), 2.5);
  EXPECT_EQ(cgroup.memory_bytes_max(), 734003200);
  EXPECT_EQ(cgroup.memory_kills(), 3);
  EXPECT_EQ(cgroup.processes(), (std::vector<pid_t>{17, 4711}));
}

TEST_F(CgroupFiles, WhereTheKernelCannotKillAGroupEachProcessIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  put("cgroup.procs", std::to_string(child) + "\n");
  machine::Cgroup::at(root + "/run").kill();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

/// A tree as systemd makes it for a unit, in the machine's hierarchy of version 2.
class UnitCgroups : public testing::Test {
 public:
  void SetUp() override {
    const std::string top = machine::find_cgroup_root();
    if (::geteuid() != 0 || top.empty()) GTEST_SKIP() << "needs root and cgroups of version 2";
    slice = std::filesystem::path(top).parent_path() /
            ("goban_test_" + std::to_string(::getpid()) + ".slice");
    std::error_code error;
    std::filesystem::create_directories(unit(), error);
    if (error) GTEST_SKIP() << "cannot create cgroups: " << error.message();
  }
  void TearDown() override {
    if (slice.empty()) return;
    wait_until([&] {
      std::error_code none;
      for (const std::string& each : {jobs() + "/unit", jobs(), unit(), slice}) {
        std::filesystem::remove(each, none);
      }
      return !std::filesystem::exists(slice);
    });
  }
  [[nodiscard]] std::string unit() const { return slice + "/goban.service"; }
  [[nodiscard]] std::string jobs() const { return slice + "/goban-jobs.service"; }
  static void delegate(const std::string& cgroup) {
    ASSERT_EQ(::setxattr(cgroup.c_str(), "trusted.delegate", "1", 1, 0), 0);
  }
  /// What a process of the unit finds.
  [[nodiscard]] std::string found() const {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      std::ofstream(unit() + "/cgroup.procs") << ::getpid() << std::flush;
      static_cast<void>(base::write_all(ends[1], machine::find_cgroup_root()));
      ::_exit(0);
    }
    ::close(ends[1]);
    const base::Descriptor reading(ends[0]);
    std::string text;
    EXPECT_TRUE(base::read_all(reading.get(), text));
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return text;
  }
  std::string slice{};
};

TEST_F(UnitCgroups, WhatIsDelegatedIsUsedAndNothingElse) {
  EXPECT_EQ(found(), std::filesystem::path(slice).parent_path() / "goban") << "not delegated";
  delegate(unit());
  EXPECT_EQ(found(), unit() + "/goban");
  EXPECT_LE(text_of(unit() + "/cgroup.subtree_control").size(), 1U)
      << "with controllers systemd could not start it again";
  std::filesystem::create_directory(jobs());
  EXPECT_EQ(found(), unit() + "/goban") << "of somebody else";
}

TEST_F(UnitCgroups, TheUnitForJobsIsClearedForItsControllers) {
  std::filesystem::create_directory(jobs());
  delegate(jobs());
  const pid_t holder = ::fork();
  if (holder == 0) {
    ::pause();
    ::_exit(0);
  }
  std::ofstream(jobs() + "/cgroup.procs") << holder << std::flush;
  EXPECT_EQ(found(), jobs());
  EXPECT_TRUE(machine::Cgroup::at(jobs()).processes().empty());
  EXPECT_EQ(machine::Cgroup::at(jobs() + "/unit").processes(), std::vector<pid_t>{holder});
  EXPECT_EQ(found(), jobs()) << "once more";
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
}

TEST_F(CgroupFiles, WhatIsNoCgroupIsNotUsed) {
  EXPECT_FALSE(machine::Cgroup::make("-", "run"));
  EXPECT_FALSE(machine::Cgroup::make(root, "run")) << "it has no cgroup.procs";
  EXPECT_FALSE(machine::Cgroup::make(root + "/no/such", "run"));
}

TEST_F(CgroupFiles, FreezingIsSaidToTheKernel) {
  const machine::Cgroup cgroup = machine::Cgroup::at(root + "/run");
  EXPECT_FALSE(cgroup.freeze(true)) << "an old kernel: somebody has to send signals";
  put("cgroup.freeze", "");
  EXPECT_TRUE(cgroup.freeze(true));
  EXPECT_EQ(get("cgroup.freeze"), "1");
  EXPECT_TRUE(cgroup.freeze(false));
  EXPECT_EQ(get("cgroup.freeze"), "0");
}

}  // namespace
}  // namespace goban::live::engine::local
