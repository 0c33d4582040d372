// Cores of jobs without GPUs.
#include "live/engine/local/core_claims.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>

#include "live/engine/local/test_runs.hpp"

namespace goban::live::engine::local {
namespace {

size_t cores_here() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  return static_cast<size_t>(CPU_COUNT(&allowed));
}

LaunchOrder job_on_cores(const TestRuns& runs, uint32_t number, const std::string& script) {
  auto order = runs.job(number, script);
  order.spec.cores = 1;
  order.spec.instances = 1;
  return order;
}

TEST(CoreClaims, EachCoreIsClaimedOnceAndComesBack) {
  if (cores_here() < 2) GTEST_SKIP() << "one core here";
  const TestRuns runs("core_claims");
  const std::string folder = runs.state() + "/cores";
  CoreClaims first = claim_cores(folder, 1);
  const CoreClaims second = claim_cores(folder, 1);
  ASSERT_EQ(first.cpus.size(), 1U);
  ASSERT_EQ(second.cpus.size(), 1U);
  EXPECT_NE(first.cpus, second.cpus);
  const std::vector<int32_t> was = first.cpus;
  first = {};
  EXPECT_EQ(claim_cores(folder, 1).cpus, was);
}

TEST(CoreClaims, WhatCannotBeHadLimitsNothing) {
  const TestRuns runs("core_claims_all");
  EXPECT_TRUE(claim_cores(runs.state() + "/cores", 0).cpus.empty());
  EXPECT_TRUE(claim_cores(runs.state() + "/cores", cores_here()).cpus.empty());
  EXPECT_TRUE(claim_cores(runs.state() + "/no/such/folder", 1).cpus.empty());
}

TEST(CoreClaims, JobsWithoutGpusKeepToTheirCores) {
  if (cores_here() < 2) GTEST_SKIP() << "one core here";
  TestRuns runs("core_jobs");
  const std::string script = "nproc; taskset -cp $$ | sed 's/.*: //'; read wait < ../go || true\n";
  const auto write_out = [](LaunchOrder order) {
    order.spec.stdout_path = "%j.out";
    return order;
  };
  const auto one = write_out(job_on_cores(runs, 1, script));
  const auto two = write_out(job_on_cores(runs, 2, script));
  ASSERT_EQ(::mkfifo((runs.state() + "/go").c_str(), 0600), 0);
  for (const auto& order : {one, two}) runs.engine().launch(order);
  const auto lines = [&](const char* name) { return text_of(runs.out(name)); };
  const auto whole = [&](const char* name) {
    const std::string text = lines(name);
    return std::count(text.begin(), text.end(), '\n') == 2;
  };
  EXPECT_TRUE(wait_until([&] { return whole("1.out") && whole("2.out"); }));
  EXPECT_EQ(lines("1.out").substr(0, 2), "1\n");
  EXPECT_NE(lines("1.out"), lines("2.out")) << "both on one core";
  runs.engine().stop(one.run, StopReason::Cancelled);
  EXPECT_EQ(runs.wait_for(one.run, ReportKind::Ended).back().kind, ReportKind::Ended);
  runs.engine().stop(two.run, StopReason::Cancelled);
  EXPECT_EQ(runs.wait_for(two.run, ReportKind::Ended).back().kind, ReportKind::Ended);
}

}  // namespace
}  // namespace goban::live::engine::local
