#include "live/engine/slurm/setup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/engine/slurm/job_submit.hpp"
#include "live/engine/slurm/release_all.hpp"
#include "live/engine/slurm/watchdog.hpp"

namespace goban::live::engine::slurm {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string kConf =
    "# our cluster\nSlurmUser = slurm\nNodeName=n[1-4] Gres=gpu:a100:4,nic:1 State=UNKNOWN\n"
    "PartitionName=gpu Nodes=ALL Default=YES\nPartitionName=cpu Nodes=ALL\n";

TEST(SlurmSetup, AddsOneLineAndOneFile) {
  const auto plan = plan_setup({.conf = kConf}, {"gpu"}, 64030);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->files.conf, kConf + "JobSubmitPlugins=lua  # goban: added\n");
  EXPECT_THAT(*plan->files.lua, HasSubstr("PARTITIONS = {[\"gpu\"] = true}"));
  EXPECT_THAT(*plan->files.lua, HasSubstr("GPU_TYPES = {[\"a100\"] = true}"));
  EXPECT_THAT(*plan->files.lua, HasSubstr("GPUS_PER_NODE = 4"));
  EXPECT_THAT(*plan->files.lua, HasSubstr("SLURM_UID = 64030"));
  EXPECT_EQ(slurm_user(kConf), "slurm");
  const auto again = plan_setup(plan->files, {"gpu"}, 64030);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->files.conf, plan->files.conf) << "a second time changes nothing";
  EXPECT_EQ(undo_setup(plan->files).conf, kConf);
  EXPECT_FALSE(undo_setup(plan->files).lua);
}

TEST(SlurmSetup, AgentsNeedATaskProlog) {
  auto plan = plan_setup({.conf = kConf}, {"gpu"}, 0);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan_agents(*plan, "/etc/slurm", "/run/goban"));
  EXPECT_THAT(plan->files.conf,
              HasSubstr("\nTaskProlog=/etc/slurm/goban_task_prolog.sh  # goban: added\n"));
  ASSERT_TRUE(plan->files.prolog);
  EXPECT_THAT(*plan->files.prolog, HasSubstr("socket=/run/goban/agent-$SLURMD_NODENAME.sock\n"));
  auto again = plan_setup(plan->files, {"gpu"}, 0);
  ASSERT_TRUE(again);
  ASSERT_TRUE(plan_agents(*again, "/etc/slurm", "/run/goban"));
  EXPECT_EQ(again->files.conf, plan->files.conf) << "a second time changes nothing";
  again = plan_setup(plan->files, {"gpu"}, 0);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->files.conf, plan->files.conf) << "a later setup keeps it";
  EXPECT_EQ(again->files.prolog, plan->files.prolog);
  EXPECT_EQ(undo_setup(plan->files).conf, kConf);
  EXPECT_FALSE(undo_setup(plan->files).prolog);
  auto other = plan_setup({.conf = "TaskProlog=/etc/ours.sh\n" + kConf}, {"gpu"}, 0);
  ASSERT_TRUE(other);
  const auto refused = plan_agents(*other, "/etc/slurm", "/run/goban");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("/etc/ours.sh"));
  EXPECT_FALSE(plan_agents(*plan, "/etc/slurm", "/run/a b;x"));
  EXPECT_FALSE(plan_agents(*plan, "/etc/slurm", "run"));
}

TEST(SlurmSetup, KeepsThePluginsOfTheSite) {
  const std::string conf = "JobSubmitPlugins=require_timelimit,all_partitions # ours\n" + kConf;
  const auto plan = plan_setup({.conf = conf}, {}, 0);
  ASSERT_TRUE(plan);
  EXPECT_THAT(
      plan->files.conf,
      HasSubstr("\nJobSubmitPlugins=require_timelimit,all_partitions,lua  # goban: added\n"));
  EXPECT_EQ(undo_setup(plan->files).conf, conf);
  SlurmFiles later = plan->files;
  later.conf += "MaxJobCount=5\n";
  EXPECT_EQ(undo_setup(later).conf, conf + "MaxJobCount=5\n") << "later changes are kept";
  const std::string has = "JobSubmitPlugins=lua\n" + kConf;
  EXPECT_EQ(plan_setup({.conf = has}, {}, 0)->files.conf, has);
}

TEST(SlurmSetup, IndexTypesAreRecognised) {
  const auto plan = plan_setup(
      {.conf = "NodeName=n1 Gres=gpu:g0:1,gpu:g1:1,shard:8\nPartitionName=gpu Nodes=ALL\n"}, {}, 0);
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->rules.index_types, Contains("g1"));
  EXPECT_TRUE(plan->rules.gpu_types.empty());
  EXPECT_THAT(plan->reasons.back(), HasSubstr("exactly"));
}

TEST(SlurmSetup, RefusesWhatItWouldBreak) {
  EXPECT_THAT(plan_setup({.conf = kConf}, {"gpus"}, 0).error().text(),
              HasSubstr("it has: gpu, cpu"));
  EXPECT_THAT(
      plan_setup({.conf = kConf, .lua = "function slurm_job_submit() end"}, {}, 0).error().text(),
      HasSubstr("job_submit.lua of this site"));
  EXPECT_THAT(plan_setup({.conf = "\nInclude nodes.conf\n" + kConf}, {}, 0).error().text(),
              HasSubstr("slurm.conf:2: the configuration is in several files"));
  EXPECT_THAT(plan_setup({.conf = "MinJobAge=2\n" + kConf}, {}, 0)->warnings,
              Contains(HasSubstr("MinJobAge=2")));
}

TEST(ReleaseAll, GivesJobsBackWithoutTheirNodes) {
  const auto scripts = [](const char* mark, int64_t priority = 0) {
    JobRow row{.job = 8, .state = "PENDING", .partition = "gpu", .num_nodes = 2};
    row.batch = true;
    row.mark = mark;
    row.priority = priority;
    Released released;
    std::string out;
    for (const std::string& each : release_scripts({&row, 1}, {"gpu"}, released)) out += each;
    EXPECT_EQ(released.jobs + released.kept_held, 1U);
    return out;
  };
  EXPECT_EQ(scripts(""), "release 8\n");
  EXPECT_EQ(scripts("goban:held"), "");
  EXPECT_EQ(scripts("goban:1.2.3"),
            "update jobid=8 ReqNodeList= AdminComment=goban:none StartTime=now\nrelease 8\n");
  EXPECT_EQ(scripts("goban:1.2.3:nodes"),
            "update jobid=8 AdminComment=goban:none StartTime=now\nrelease 8\n")
      << "its user's nodes";
  EXPECT_EQ(scripts("goban:1.2.3", 7),
            "update jobid=8 ReqNodeList= AdminComment=goban:none StartTime=now\nrelease 8\n")
      << "placed and released, it waits for that node";
}

TEST(ReleaseAll, WhatSlurmSchedulesStaysAsItIs) {
  JobRow row{.job = 8, .state = "PENDING", .partition = "gpu", .num_nodes = 2};
  row.priority = 7;
  Released released;
  EXPECT_TRUE(release_scripts({&row, 1}, {"gpu"}, released).empty());
  EXPECT_EQ(released.jobs + released.kept_held, 0U);
}

TEST(ReleaseAll, TheLeaderOfAHeterogeneousJobExcludesNoNodesAnyMore) {
  std::vector<JobRow> rows(2);
  for (int64_t job = 8; job < 10; ++job) {
    rows[static_cast<size_t>(job - 8)] = {.job = job, .het_job = 8, .state = "PENDING"};
    rows[static_cast<size_t>(job - 8)].partition = "gpu";
    rows[static_cast<size_t>(job - 8)].mark = "goban:1.2.3";
  }
  Released released;
  const auto scripts = release_scripts(rows, {"gpu"}, released);
  const std::vector<std::string> expected = {
      "update jobid=8 ExcNodeList= AdminComment=goban:none StartTime=now\n",
      "update jobid=9 ReqNodeList= AdminComment=goban:none StartTime=now\n", "release 8,9\n"};
  EXPECT_EQ(scripts, expected);
}

TEST(Heartbeat, IsLateWhenNothingChangesForTooLong) {
  Heartbeat heartbeat(60 * base::kSecond);
  EXPECT_FALSE(heartbeat.is_late("1", 0));
  EXPECT_FALSE(heartbeat.is_late("1", 60 * base::kSecond));
  EXPECT_TRUE(heartbeat.is_late("1", 61 * base::kSecond));
  EXPECT_FALSE(heartbeat.is_late("2", 62 * base::kSecond)) << "the daemon is back";
  EXPECT_FALSE(heartbeat.is_late("", 63 * base::kSecond)) << "its file was removed";
  EXPECT_TRUE(heartbeat.is_late("", 124 * base::kSecond));
}

TEST(SlurmSetup, TheFileSaysWhatIsManaged) {
  const auto managed = [](const std::vector<std::string>& partitions) {
    return managed_partitions(job_submit_lua({.partitions = partitions}));
  };
  const std::vector<std::string> two = {"gpu", "long-1"};
  EXPECT_EQ(managed(two), std::optional(two));
  EXPECT_EQ(managed({}), std::optional(std::vector<std::string>{})) << "all of them";
  EXPECT_FALSE(managed_partitions("local PARTITIONS = {[\"gpu\"] = true}"));
}

}  // namespace
}  // namespace goban::live::engine::slurm
