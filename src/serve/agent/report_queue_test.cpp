#include "serve/agent/report_queue.hpp"

#include <gtest/gtest.h>

#include "serve/agent/sample_means.hpp"

namespace goban::serve::agent {
namespace {

using base::kSecond;
using site::series::Metric;
using site::series::State;
using site::telemetry::AgentSample;

std::vector<AgentSample> samples(size_t count) { return std::vector<AgentSample>(count); }

TEST(ReportQueue, AReportIsRepeatedUntilItIsDelivered) {
  ReportQueue queue("w", 100);
  queue.add(10 * kSecond, samples(2));
  const auto first = queue.next(12 * kSecond);
  EXPECT_EQ(first.agent, "w");
  ASSERT_EQ(first.samples.size(), 2U);
  EXPECT_DOUBLE_EQ(first.samples[0].age_s, 2);
  queue.add(70 * kSecond, samples(1));
  const auto again = queue.next(100 * kSecond);
  EXPECT_EQ(again.sequence, first.sequence) << "so that the daemon knows it";
  ASSERT_EQ(again.samples.size(), 2U) << "what came later is in the next one";
  EXPECT_DOUBLE_EQ(again.samples[0].age_s, 90) << "ages are those of the sending";
  EXPECT_TRUE(queue.has_more());
  queue.delivered();
  const auto next = queue.next(100 * kSecond);
  EXPECT_EQ(next.sequence, first.sequence + 1);
  ASSERT_EQ(next.samples.size(), 1U);
  EXPECT_DOUBLE_EQ(next.samples[0].age_s, 30);
  queue.delivered();
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_FALSE(queue.has_more());
}

TEST(ReportQueue, TheOldestAreDroppedAndCounted) {
  ReportQueue queue("w", 3);
  queue.add(1 * kSecond, samples(3));
  (void)queue.next(2 * kSecond);
  queue.add(3 * kSecond, samples(2));
  EXPECT_EQ(queue.size(), 3U);
  const auto again = queue.next(4 * kSecond);
  EXPECT_EQ(again.dropped, 2);
  ASSERT_EQ(again.samples.size(), 1U);
  EXPECT_DOUBLE_EQ(again.samples[0].age_s, 3);
  queue.delivered();
  EXPECT_EQ(queue.next(4 * kSecond).samples.size(), 2U);
}

TEST(ReportQueue, WhatTheDaemonWouldRefuseAsTooOldIsDropped) {
  ReportQueue queue("w", 100);
  constexpr base::TimeNs kWeek = 7 * base::kDay;
  queue.add(0, samples(2));
  queue.add(kWeek, samples(1));
  EXPECT_EQ(queue.next(kWeek).samples.size(), 3U);
  const auto report = queue.next(kWeek + kSecond);
  ASSERT_EQ(report.samples.size(), 1U) << "the others would hold it up for ever";
  EXPECT_EQ(report.dropped, 2);
  EXPECT_LE(report.samples[0].age_s, site::telemetry::kAgentAgeMax_s);
}

TEST(ReportQueue, ADayOfOutageNeedsSeveralReports) {
  ReportQueue queue("w", 20'000);
  queue.add(kSecond, samples(10'000));
  size_t sent = 0;
  do {
    const auto report = queue.next(2 * kSecond);
    EXPECT_LE(report.samples.size(), site::telemetry::kAgentSamplesMax);
    sent += report.samples.size();
    queue.delivered();
  } while (queue.has_more());
  EXPECT_EQ(sent, 10'000U);
}

TEST(BackOff, DoublesToAMinuteAndIsSpread) {
  BackOff pauses;
  EXPECT_EQ(pauses.failed(1), kSecond);
  EXPECT_EQ(pauses.failed(1), 2 * kSecond);
  EXPECT_EQ(pauses.failed(0), 2 * kSecond) << "half of four";
  for (int i = 0; i < 10; ++i) (void)pauses.failed(1);
  EXPECT_EQ(pauses.failed(1), 60 * kSecond);
  pauses.succeeded();
  EXPECT_EQ(pauses.failed(1), kSecond);
}

site::telemetry::Sampling sampling(double util_pct, double mem_mib, uint64_t processes) {
  site::telemetry::Sampling out;
  auto& gpu = out.gpus.emplace_back();
  gpu.index = "0";
  gpu.readings = {{Metric::GpuUtilization, {State::Value, util_pct}},
                  {Metric::GpuMemoryUsed, {State::Value, mem_mib}},
                  {Metric::GpuPower, {State::NotAvailable, 0}}};
  gpu.processes = processes;
  return out;
}

TEST(SampleMeans, SharesAreMeansAndAmountsArePeaks) {
  SampleMeans means;
  means.add(sampling(20, 500, 1));
  means.add(sampling(60, 300, 0));
  const auto taken = means.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].gpu, "0");
  std::map<Metric, site::series::Reading> by_metric(taken[0].readings.begin(),
                                                    taken[0].readings.end());
  EXPECT_DOUBLE_EQ(by_metric.at(Metric::GpuUtilization).value, 40);
  EXPECT_DOUBLE_EQ(by_metric.at(Metric::GpuMemoryUsed).value, 500);
  EXPECT_DOUBLE_EQ(by_metric.at(Metric::GpuProcesses).value, 1);
  EXPECT_EQ(by_metric.at(Metric::GpuPower).state, State::NotAvailable);
  EXPECT_TRUE(means.take().empty()) << "it began anew";
}

TEST(VirtualSampling, UtilisationIsTheCpuTimeOfTheJobsThatHoldAGpu) {
  ScannedJobs jobs;
  ScannedJob& job = jobs[{"42", 1000}];
  job.job = {.id = "42", .uid = 1000, .gpus = {1, 2}};
  job.use = {.cpu_s = 3, .mem_bytes = 4 << 20};
  const auto sampled = virtual_sampling("n1", 3, jobs, 2);
  ASSERT_EQ(sampled.gpus.size(), 3U);
  EXPECT_DOUBLE_EQ(sampled.gpus[0].readings[0].second.value, 0);
  EXPECT_DOUBLE_EQ(sampled.gpus[1].readings[0].second.value, 75);
  EXPECT_DOUBLE_EQ(sampled.gpus[2].readings[1].second.value, 2);
  EXPECT_EQ(sampled.gpus[1].processes, 1U);
  EXPECT_EQ(sampled.gpus[1].uuid, "GPU-virtual-n1-1");
}

}  // namespace
}  // namespace goban::serve::agent
