// The accountings by hand-computed examples, and conservation of energy on random timelines.
#include "core/knowledge/energy/energy_meter.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck/gtest.h>

namespace goban::core::knowledge {
namespace {

using base::kSecond;
using model::JobId;
using model::NodeId;

/// Idle: host 100 W and two GPUs of 10 W. Asleep: 20 W; entering takes 5 s and 700 J, waking 10 s
/// and 1,500 J.
PowerModel small_node() {
  PowerModel power;
  power.num_gpus = 2;
  power.host_idle_w = 100;
  power.gpu_idle_w = 10;
  power.sleep = {20, 5, 700, 10, 1500};
  power.off = {5, 20, 3000, 100, 9000};
  return power;
}

void expect_conserved(const EnergyAccount& account) {
  const double jobs = std::accumulate(account.job_j.begin(), account.job_j.end(), 0.0);
  for (const EnergyTotals& totals : account.totals) {
    const double parts = jobs + totals.idle_j + totals.rest_j + totals.transition_j;
    EXPECT_NEAR(parts, totals.cluster_j, 1e-9 * std::max(1.0, totals.cluster_j));
    EXPECT_NEAR(totals.job_j, jobs, 1e-9 * std::max(1.0, jobs));
  }
}

TEST(EnergyMeter, OneNodeByHand) {
  const PowerModel power = small_node();
  const std::vector<MeteredNode> nodes = {{&power, 2}};
  EnergyMeter meter(nodes, 2, 0, {.sleeps_in_c = true, .timer_s = 100.0});
  // Idle 0-50; job 0 on one GPU at 60 W 50-150; jobs 0 and 1 share it at 90 W 150-250; idle to
  // 1000.
  const std::vector<GpuResident> alone = {{JobId(0u), 3}};
  const std::vector<GpuResident> both = {{JobId(0u), 3}, {JobId(1u), 1}};
  const std::vector<GpuLoad> first = {{60, alone}};
  const std::vector<GpuLoad> second = {{90, both}};
  meter.set_loads(NodeId(0u), 50 * kSecond, first);
  meter.set_loads(NodeId(0u), 150 * kSecond, second);
  meter.set_loads(NodeId(0u), 250 * kSecond, {});
  const EnergyAccount account = meter.finish(1000 * kSecond);
  // Job 0: (100 + 60) W for 100 s, then 50 host + 5 idle + 80 x 3/4 dynamic; job 1: 50 + 5 + 20.
  EXPECT_DOUBLE_EQ(account.job_j[0], 160 * 100 + 115 * 100);
  EXPECT_DOUBLE_EQ(account.job_j[1], 75 * 100);
  const double active_j = 170 * 100 + 200 * 100;
  EXPECT_DOUBLE_EQ(account.of(EnergyAccounting::ActiveOnly).cluster_j, active_j);
  EXPECT_DOUBLE_EQ(account.of(EnergyAccounting::IdleOn).cluster_j, active_j + 120 * 800);
  // The idle period of 50 s is below the timer. That of 750 s: 100 s idle, 5 s entering, 645 s
  // asleep, no waking.
  const EnergyTotals& d = account.of(EnergyAccounting::EveryoneSleeps);
  EXPECT_DOUBLE_EQ(d.idle_j, 10 * 200 + 120 * 150);
  EXPECT_DOUBLE_EQ(d.rest_j, 20 * 645);
  EXPECT_DOUBLE_EQ(d.transition_j, 700);
  EXPECT_DOUBLE_EQ(d.cluster_j, active_j + 120 * 150 + 20 * 645 + 700);
  EXPECT_EQ(account.of(EnergyAccounting::OnlyEacoSleeps).cluster_j, d.cluster_j);
  EXPECT_DOUBLE_EQ(account.avg_active_nodes, 0.2);
  expect_conserved(account);
}

TEST(EnergyMeter, AGapBeforeAJobPaysTheWake) {
  const PowerModel power = small_node();
  const std::vector<MeteredNode> nodes = {{&power, 2}};
  EnergyMeter meter(nodes, 1, 0, {.timer_s = 20.0});
  const std::vector<GpuResident> residents = {{JobId(0u), 0}};
  const std::vector<GpuLoad> loads = {{10, residents}};
  meter.set_loads(NodeId(0u), 100 * kSecond, loads);
  const EnergyAccount account = meter.finish(100 * kSecond);
  const EnergyTotals& d = account.of(EnergyAccounting::EveryoneSleeps);
  EXPECT_DOUBLE_EQ(d.rest_j, 20 * (100 - 20 - 5 - 10));
  EXPECT_DOUBLE_EQ(d.transition_j, 700 + 1500);
  EXPECT_DOUBLE_EQ(account.of(EnergyAccounting::OnlyEacoSleeps).cluster_j, 120 * 100)
      << "does not sleep";
}

TEST(EnergyMeter, RecordedRestsAreCountedAsTheyAre) {
  const PowerModel power = small_node();
  const std::vector<MeteredNode> nodes = {{&power, 2}, {&power, 2}};
  EnergyMeter meter(nodes, 0, 0, {.recorded_rests = true});
  meter.set_rest(NodeId(0u), 40 * kSecond, PowerState::Off);
  meter.set_loads(NodeId(0u), 540 * kSecond, {});
  const EnergyAccount account = meter.finish(1000 * kSecond);
  const EnergyTotals& d = account.of(EnergyAccounting::EveryoneSleeps);
  EXPECT_DOUBLE_EQ(d.rest_j, 5 * (500 - 120));
  EXPECT_DOUBLE_EQ(d.transition_j, 12'000);
  EXPECT_DOUBLE_EQ(d.idle_j, 120 * (40 + 460 + 1000));
  EXPECT_DOUBLE_EQ(account.of(EnergyAccounting::IdleOn).cluster_j, 120 * 2000);
  EXPECT_EQ(account.of(EnergyAccounting::ActiveOnly).cluster_j, 0);
}

TEST(EnergyMeter, BreakEvenIsWhereRestingCostsTheSame) {
  const PowerModel power = small_node();
  const double span_s = break_even_s(power.sleep, 120);
  EXPECT_DOUBLE_EQ(span_s, (2200.0 - 20 * 15) / 100);
  const RestEnergy rest = rest_energy(power.sleep, span_s, true);
  EXPECT_NEAR(rest.rest_j + rest.transition_j, 120 * span_s, 1e-9);
  EXPECT_EQ(break_even_s({.power_w = 120}, 120), std::numeric_limits<double>::infinity());
}

MeterOptions random_options() {
  MeterOptions options;
  options.sleeps_in_c = *rc::gen::arbitrary<bool>();
  options.recorded_rests = *rc::gen::arbitrary<bool>();
  options.rest = *rc::gen::element(PowerState::Sleep, PowerState::Off);
  if (*rc::gen::arbitrary<bool>()) options.timer_s = *rc::gen::inRange(0, 500);
  return options;
}

/// One random change of a random node; GPUs take one to three of five jobs.
void random_change(EnergyMeter& meter, base::TimeNs now_ns, bool may_rest) {
  const NodeId node(*rc::gen::inRange<uint32_t>(0, 3));
  if (may_rest && *rc::gen::inRange(0, 4) == 0) {
    meter.set_rest(node, now_ns, *rc::gen::element(PowerState::Sleep, PowerState::Off));
    return;
  }
  const auto gpus = *rc::gen::inRange<size_t>(0, 3);
  std::vector<std::vector<GpuResident>> residents(gpus);
  std::vector<GpuLoad> loads;
  for (auto& on_gpu : residents) {
    const auto count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) {
      on_gpu.push_back({JobId(*rc::gen::inRange<uint32_t>(0, 5)), *rc::gen::inRange(0, 100) / 7.0});
    }
    loads.push_back({*rc::gen::inRange(0, 3000) / 9.0, on_gpu});
  }
  meter.set_loads(node, now_ns, loads);
}

RC_GTEST_PROP(EnergyMeterProperty, EnergyIsConservedAndAccountingsAreOrdered, ()) {
  const PowerModel power = small_node();
  const std::vector<MeteredNode> nodes = {{&power, 2}, {&power, 4}, {&power, 2}};
  MeterOptions options = random_options();
  double drawn_j = 0;
  std::vector<base::TimeNs> drawn_until(3, 0);
  options.power_sink = [&](NodeId node, base::TimeNs from, base::TimeNs to, double power_w) {
    RC_ASSERT(from == drawn_until[node.index()]);
    RC_ASSERT(to > from);
    drawn_until[node.index()] = to;
    drawn_j += power_w * base::to_seconds(to - from);
  };
  EnergyMeter meter(nodes, 5, 0, options);
  base::TimeNs now_ns = 0;
  const auto steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    now_ns += *rc::gen::inRange<base::TimeNs>(0, 1'000'000) * 1'000'003;
    random_change(meter, now_ns, options.recorded_rests);
  }
  const EnergyAccount account = meter.finish(now_ns + 7);
  expect_conserved(account);
  RC_ASSERT(!testing::Test::HasFailure());
  const double d = account.of(EnergyAccounting::EveryoneSleeps).cluster_j;
  RC_ASSERT(std::abs(drawn_j - d) <= 1e-6 * std::max(1.0, d));  // spans end at whole nanoseconds
  for (const base::TimeNs until : drawn_until) RC_ASSERT(until == now_ns + 7);
  const double a = account.of(EnergyAccounting::ActiveOnly).cluster_j;
  RC_ASSERT(a <= account.of(EnergyAccounting::IdleOn).cluster_j);
  RC_ASSERT(a <= account.of(EnergyAccounting::EveryoneSleeps).cluster_j);
  if (!options.recorded_rests && !options.timer_s) {
    // The break-even timer costs at most twice the better of idling and sleeping at once.
    RC_ASSERT(account.of(EnergyAccounting::EveryoneSleeps).cluster_j <=
              2 * account.of(EnergyAccounting::IdleOn).cluster_j + 1e-6);
  }
}

}  // namespace
}  // namespace goban::core::knowledge
