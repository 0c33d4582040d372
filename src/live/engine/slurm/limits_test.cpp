#include "live/engine/slurm/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::live::engine::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// As Slurm 22.05 printed it, without the words that nobody reads.
constexpr const char* kAssocMgr =
    "Current Association Manager state\nAssociation Records\n"
    "ClusterName=lab Account=root UserName= Partition= ID=1 ParentAccount= Lft=1 GrpJobs=N(2) "
    "GrpTRES=cpu=N(2),gres/gpu=N(2) GrpTRESMins=cpu=N(0),gres/gpu=N(0) MaxJobs= MaxWallPJ= "
    "MaxTRESPJ= MaxTRESPN=\n"
    "ClusterName=lab Account=lab1 UserName= Partition= ID=3 ParentAccount=root(1) GrpJobs=N(2) "
    "GrpTRES=cpu=N(2),gres/gpu=3(2) GrpTRESMins=cpu=N(0),gres/gpu=N(0) MaxJobs=2(2) MaxTRESPJ=\n"
    "ClusterName=lab Account=lab1 UserName=ann(7) Partition= ID=4 ParentAccount= GrpJobs=N(2) "
    "GrpTRES=cpu=N(2),gres/gpu=N(2) GrpTRESMins=cpu=N(0) MaxJobs=2(2) MaxTRESPJ=gres/gpu=2 "
    "MaxTRESPN= \n"
    "QOS Records\n"
    "QOS=normal(1) UsageRaw=0.0 GrpJobs=N(1) GrpTRES=cpu=N(1),gres/gpu=N(1) MaxWallPJ= MaxTRESPJ= "
    "PreemptMode=OFF Account Limits= lab1={MaxJobsPA=N(1) MaxTRESPA=cpu=N(1),gres/gpu=N(1)} User "
    "Limits= 7={MaxJobsPU=N(1) MaxTRESPU=cpu=N(1),gres/gpu=N(1)}\n"
    "QOS=small(2) UsageRaw=0.0 GrpJobs=N(1) GrpTRES=cpu=N(1),gres/gpu=N(1) MaxWallPJ=10 MaxTRESPJ= "
    "Account Limits= lab1={MaxJobsPA=N(1) MaxTRESPA=cpu=N(1)} User Limits= 7={MaxJobsPU=9(1) "
    "MaxJobsAccruePU=N(0) MaxTRESPU=cpu=N(1),gres/gpu=1(1)}\n";

struct LimitsTest : testing::Test {
  Limits limits = parse_limits(kAssocMgr, "");
  std::vector<JobRow> rows;
  std::vector<LimitedJob> jobs;

  void add(int64_t gpus, bool holds, const std::string& qos = "normal", uint32_t uid = 7) {
    rows.reserve(100);
    JobRow& row = rows.emplace_back();
    row.job = static_cast<int64_t>(rows.size());
    row.account = "lab1";
    row.qos = qos;
    row.uid = uid;
    row.cpus = 1;
    row.num_nodes = 1;
    row.partition = "gpu";
    jobs.push_back({.row = &row, .gpus = gpus, .holds = holds});
  }
};

TEST_F(LimitsTest, AsManyAsMayRunTogetherAreEligible) {
  add(2, true);
  add(1, false);
  add(1, false);
  EXPECT_THAT(limits_reached(limits, jobs),
              ElementsAre(Pair("3", "limit GrpTRES gres/gpu=3 of account lab1 is reached")));
}

TEST_F(LimitsTest, OfAUserAndOfAJob) {
  add(0, true);
  add(3, false);
  add(0, false);
  add(0, false);
  add(0, false, "normal", 8);
  EXPECT_THAT(
      limits_reached(limits, jobs),
      ElementsAre(
          Pair("2", "limit MaxPerJob TRES gres/gpu=2 of user ann in account lab1 is exceeded"),
          Pair("4", "limit MaxPerUser Jobs=2 of user ann in account lab1 is reached")));
}

TEST_F(LimitsTest, EachComponentOfAHeterogeneousJobIsAJob) {
  const auto add_het = [&](int32_t components) {
    add(2 * components, false);
    rows.back().components = components;
  };
  add_het(1);
  add_het(3);
  rows.back().account = "lab2";  // without limits
  EXPECT_THAT(limits_reached(limits, jobs), IsEmpty());
  jobs.clear();
  add(0, true);
  add_het(2);
  jobs.back().gpus = 2;  // MaxTRESPerJob gres/gpu=2
  EXPECT_THAT(
      limits_reached(limits, jobs),
      ElementsAre(Pair("4", "limit MaxPerUser Jobs=2 of user ann in account lab1 is reached")));
}

TEST_F(LimitsTest, AQosGoesBeforeItsAssociation) {
  for (int i = 0; i < 4; ++i) add(0, true, "small");  // MaxJobsPU=9, not MaxJobs=2
  add(0, false, "small");
  add(1, false, "small");
  add(1, false, "small");
  add(0, false, "small");
  rows.back().limit_ns = 11 * 60 * base::kSecond;
  EXPECT_THAT(limits_reached(limits, jobs),
              ElementsAre(Pair("7", "limit MaxPerUser TRES gres/gpu=1 of QOS small is reached"),
                          Pair("8", "limit MaxWall=10min of QOS small is exceeded")));
}

TEST_F(LimitsTest, OfAPartitionAndMinutesThatAreUsedUp) {
  limits = parse_limits(
      std::string(kAssocMgr) + "QOS=p(3) GrpTRESMins=cpu=N(9),gres/gpu=60(60) Account Limits=\n",
      "PartitionName=gpu AllowGroups=ALL QoS=p\nPartitionName=x QoS=N/A\n");
  add(1, false);
  add(1, false);
  rows.back().partition = "x";
  EXPECT_THAT(limits_reached(limits, jobs),
              ElementsAre(Pair("1", "limit GrpTRESMins gres/gpu=60 of QOS p is used up")));
}

TEST_F(LimitsTest, NothingIsConcludedFromWhatIsNotUnderstood) {
  add(9, false);
  for (const char* text : {"", "QOS=normal(1)", "ClusterName=\nQOS=\n", "GrpJobs=0(0)",
                           "QOS=normal(1) GrpJobs=x(1) GrpTRES=gres/gpu,=,cpu=(", "\x1f{=}"}) {
    EXPECT_THAT(limits_reached(parse_limits(text, text), jobs), IsEmpty()) << text;
  }
  EXPECT_TRUE(enforces_limits("A = b\nAccountingStorageEnforce = associations,limits,qos\n"));
  EXPECT_FALSE(enforces_limits("AccountingStorageEnforce = none\nX = limits\n"));
}

}  // namespace
}  // namespace goban::live::engine::slurm
