// Reads and writes of cgroup files, on a folder that imitates a cgroup, as few test machines
// delegate their memory controller. Runs in real cgroups: local_engine_test.
#include "live/machine/cgroup.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/engine/local/test_runs.hpp"

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

TEST_F(CgroupFiles, WhatIsNoCgroupIsNotUsed) {
  EXPECT_FALSE(machine::Cgroup::make("-", "run"));
  EXPECT_FALSE(machine::Cgroup::make(root, "run")) << "it has no cgroup.procs";
  EXPECT_FALSE(machine::Cgroup::make(root + "/no/such", "run"));
}

}  // namespace
}  // namespace goban::live::engine::local
