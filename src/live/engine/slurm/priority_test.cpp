// Answers and priorities of Slurm 22.05.8 with slurmdbd, recorded from the fixture: what it
// computed for jobs that nobody held (squeue -O PriorityLong), with PriorityMaxAge long past or
// hardly begun.
#include "live/engine/slurm/priority.hpp"

#include <gtest/gtest.h>

namespace goban::live::engine::slurm {
namespace {

constexpr std::string_view kConfig =
    "PriorityParameters      = (null)\nPriorityCalcPeriod      = 00:01:00\n"
    "PriorityFavorSmall      = Yes\nPriorityFlags           = \n"
    "PriorityMaxAge          = 00:10:00\nPriorityType            = priority/multifactor\n"
    "PriorityWeightAge       = 1000000\nPriorityWeightAssoc     = 100\n"
    "PriorityWeightFairShare = 10000\nPriorityWeightJobSize   = 300\n"
    "PriorityWeightPartition = 500\nPriorityWeightQOS       = 2000\n"
    "PriorityWeightTRES      = gres/gpu=700,cpu=50,mem=1000,node=333\n";
constexpr std::string_view kPartitions =
    "PartitionName=gpu Nodes=n[1-4] PriorityJobFactor=1 PriorityTier=1 TotalCPUs=64 "
    "TRES=cpu=64,mem=20000M,node=4,billing=64,gres/gpu=16,gres/gpu:g0=4\n"
    "PartitionName=left Nodes=n[1-2] PriorityJobFactor=10 PriorityTier=1 TotalCPUs=32 "
    "TRES=cpu=32,mem=10000M,node=2,billing=32,gres/gpu=8,gres/gpu:g0=2\n"
    "PartitionName=right Nodes=n[2-4] PriorityJobFactor=5 PriorityTier=1 TotalCPUs=48 "
    "TRES=cpu=48,mem=15000M,node=3,billing=48,gres/gpu=12,gres/gpu:g0=3\n";
constexpr std::string_view kMembers =
    "ClusterName=lab Account=lab1 UserName=nobody(65534) Partition= Priority=0 ID=5 GrpJobs=N(0)\n"
    "ClusterName=lab Account=lab1 UserName=daemon(1) Partition=left Priority=0 ID=7 GrpJobs=N(0)\n"
    "QOS=normal(1) UsageRaw=0.000000 GrpJobs=N(0) PreemptMode=OFF Priority=0 Account Limits=No\n"
    "QOS=fast(2) UsageRaw=0.000000 GrpJobs=N(0) PreemptMode=OFF Priority=50 Account Limits=No\n";
constexpr std::string_view kShares =
    " root|||\n root|root||1.000000\n lab1|||\n  lab1|daemon|left|0.250000\n"
    "  lab1|nobody||0.500000\n lab2|||\n  lab2|daemon||0.000000\n";

std::vector<NodeRow> four_nodes() {
  std::vector<NodeRow> out(4);
  for (NodeRow& node : out) node.node.cores = 16;
  return out;
}

struct PriorityTest : testing::Test {
  static constexpr base::TimeNs kNow_ns = 1'795'436'211 * base::kSecond;
  JobRow row{.job = 1, .partition = "gpu", .num_nodes = 1, .cpus = 1};
  JobWords words{.job = 1, .user = "daemon", .tres_per_node = "gres:gpu:1"};

  PriorityTest() {
    row.account = "lab2";
    row.qos = "normal";
    row.submit_ns = row.eligible_ns = kNow_ns;
  }
  /// Without what age gives to a job that waits since kNow_ns.
  [[nodiscard]] int32_t priority(std::string_view config = kConfig) const {
    const auto rules = parse_priority(config, kPartitions, kMembers, kShares, four_nodes());
    JobRow empty{.job = 2, .submit_ns = kNow_ns, .eligible_ns = kNow_ns};
    const auto no_size = rules.favor_small ? 300 : 0;
    return priority_of(rules, row, words, kNow_ns) -
           (priority_of(rules, empty, {.job = 2}, kNow_ns) - no_size);
  }
};

TEST_F(PriorityTest, AsSlurmComputedIt) {
  row.partition = "left";
  row.num_nodes = row.cpus = 2;
  words.tres_per_node = "gres:gpu:2";
  EXPECT_NEAR(priority(), 2406, 2) << "memory that is not requested is all of a node's";
  row.partition = "right";
  row.num_nodes = 1;
  row.cpus = 3;
  row.mem_bytes = int64_t{1000} << 20;
  words.tres_per_node = "gres:gpu:1";
  EXPECT_NEAR(priority(), 744, 2);
  row.partition = "left,right";
  EXPECT_NEAR(priority(), 1114, 2) << "the better of two partitions";
  row.qos = "fast";
  EXPECT_NEAR(priority(), 3114, 2);
  row.nice = 100;
  EXPECT_NEAR(priority(), 3014, 2);
}

TEST_F(PriorityTest, LargeJobsFirstIsTheDefault) {
  std::string config(kConfig);
  config.replace(config.find("= Yes"), 5, "= No");
  config.replace(config.find("mem=1000,node=333"), 17, "mem=0,node=0");
  words.tres_per_node = "gres:gpu:4";
  EXPECT_NEAR(priority(config), 266, 2) << "recorded: 265 with size 40, partition 50, TRES 176";
}

TEST_F(PriorityTest, SharesAreThoseOfTheAssociation) {
  const int32_t none = priority();
  words.user = "nobody";
  row.account = "lab1";
  EXPECT_EQ(priority() - none, 5000);
  words.user = "daemon";
  EXPECT_EQ(priority(), none) << "it has an association for partition left only";
  row.partition = "left";
  const int32_t left = priority();
  row.account = "lab2";
  EXPECT_EQ(left - priority(), 2500);
}

TEST_F(PriorityTest, AgeCountsUntilItsMaximumAndChangesNothingElse) {
  const auto rules = parse_priority(kConfig, kPartitions, kMembers, kShares, four_nodes());
  const auto waited = [&](int64_t seconds, int64_t later = 0) {
    row.submit_ns = row.eligible_ns = kNow_ns - seconds * base::kSecond;
    return priority_of(rules, row, words, kNow_ns + later * base::kSecond);
  };
  EXPECT_EQ(waited(300) - waited(0), 500'000);
  EXPECT_EQ(waited(700), waited(5000)) << "more than ten minutes count as ten";
  EXPECT_EQ(waited(0), waited(0, 59)) << "the same as long as the order is";
  row.eligible_ns = kNow_ns;
  row.submit_ns = kNow_ns - 300 * base::kSecond;
  const int32_t not_eligible = priority_of(rules, row, words, kNow_ns);
  EXPECT_EQ(not_eligible, waited(0));
}

TEST_F(PriorityTest, WithoutMultifactorThereIsNone) {
  const std::string_view basic = "PriorityType            = priority/basic\n";
  EXPECT_FALSE(is_multifactor(basic));
  const auto rules = parse_priority(basic, kPartitions, kMembers, kShares, four_nodes());
  EXPECT_EQ(priority_of(rules, row, words, kNow_ns), 0);
}

TEST_F(PriorityTest, WhatIsNotUnderstoodCountsAsNothing) {
  const std::string config =
      "PriorityType = priority/multifactor\nPriorityWeightAge = x\nPriorityWeightTRES = cpu=,=3,\n"
      "PriorityMaxAge = never\n";
  const auto rules =
      parse_priority(config, "PartitionName=gpu TRES=cpu=,mem=x\n", "QOS=\n", "||\n", {});
  EXPECT_EQ(priority_of(rules, row, words, kNow_ns), 0);
}

}  // namespace
}  // namespace goban::live::engine::slurm
