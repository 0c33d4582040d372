#include "core/knowledge/energy/energy_meter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

constexpr std::array kAccountings = {EnergyAccounting::ActiveOnly, EnergyAccounting::IdleOn,
                                     EnergyAccounting::OnlyEacoSleeps,
                                     EnergyAccounting::EveryoneSleeps};

bool ordered_rest(PowerState state) {
  return state == PowerState::Sleep || state == PowerState::Off;
}

}  // namespace

void EnergyMeter::Sum::add(double value) {
  const double next = sum_ + value;
  lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
  sum_ = next;
}

EnergyMeter::EnergyMeter(std::span<const MeteredNode> nodes, size_t num_jobs, base::TimeNs begin_ns,
                         MeterOptions options)
    : options_(std::move(options)), job_j_(num_jobs), begin_ns_(begin_ns) {
  nodes_.reserve(nodes.size());
  for (const MeteredNode& node : nodes) {
    GOBAN_CHECK(node.power != nullptr);
    NodeMeter& meter = nodes_.emplace_back();
    meter.node = node;
    meter.since_ns = begin_ns;
    meter.gap_begin_ns = begin_ns;
  }
}

bool EnergyMeter::rests(EnergyAccounting accounting) const {
  return accounting == EnergyAccounting::EveryoneSleeps ||
         (accounting == EnergyAccounting::OnlyEacoSleeps && options_.sleeps_in_c);
}

void EnergyMeter::add_idle(EnergyAccounting accounting, double joules) {
  Sums& sums = sums_[static_cast<size_t>(accounting)];
  sums.idle.add(joules);
  sums.cluster.add(joules);
}

void EnergyMeter::add_rest(EnergyAccounting accounting, const RestEnergy& energy) {
  Sums& sums = sums_[static_cast<size_t>(accounting)];
  sums.rest.add(energy.rest_j);
  sums.transition.add(energy.transition_j);
  sums.cluster.add(energy.rest_j + energy.transition_j);
}

void EnergyMeter::close_busy(NodeMeter& meter, double span_s) {
  for (Sums& sums : sums_) {
    sums.cluster.add(meter.power_w * span_s);
    sums.idle.add(meter.idle_power_w * span_s);
  }
  for (const Share& share : meter.shares) job_j_[share.job.index()] += share.power_w * span_s;
  active_s_.add(span_s);
}

double EnergyMeter::timer_s(const NodeMeter& meter, double span_s) const {
  if (options_.recorded_rests) return span_s;
  const PowerModel& power = *meter.node.power;
  return options_.timer_s.value_or(
      break_even_s(power.rest(options_.rest), power.node_idle_w(meter.node.num_gpus)));
}

void EnergyMeter::draw_busy(const NodeMeter& meter, base::TimeNs now_ns) const {
  const auto node = static_cast<uint32_t>(&meter - nodes_.data());
  options_.power_sink(model::NodeId(node), meter.since_ns, now_ns, meter.power_w);
}

void EnergyMeter::draw_gap(const NodeMeter& meter, base::TimeNs now_ns, bool woken) const {
  const model::NodeId node(static_cast<uint32_t>(&meter - nodes_.data()));
  const PowerModel& power = *meter.node.power;
  const bool ordered = ordered_rest(meter.state);
  base::TimeNs at_ns = ordered ? meter.since_ns : meter.gap_begin_ns;
  const auto draw = [&](base::TimeNs to_ns, double power_w) {
    if (to_ns > at_ns) options_.power_sink(node, at_ns, to_ns, power_w);
    at_ns = std::max(at_ns, to_ns);
  };
  if (!ordered) {
    const double span_s = base::to_seconds(now_ns - at_ns);
    const double idle_s = std::min(span_s, timer_s(meter, span_s));
    const base::TimeNs rest_ns = idle_s < span_s ? at_ns + base::from_seconds(idle_s) : now_ns;
    draw(rest_ns, power.node_idle_w(meter.node.num_gpus));
    if (rest_ns >= now_ns) return;
  }
  const RestState& rest = power.rest(ordered ? meter.state : options_.rest);
  const double span_s = base::to_seconds(now_ns - at_ns);
  const double wake_s = woken ? rest.wake_s : 0;
  if (span_s < rest.enter_s + wake_s) {  // the transitions are charged anyway
    const RestEnergy energy = rest_energy(rest, span_s, woken);
    draw(now_ns, (energy.rest_j + energy.transition_j) / span_s);
    return;
  }
  if (rest.enter_s > 0) draw(at_ns + base::from_seconds(rest.enter_s), rest.enter_j / rest.enter_s);
  draw(now_ns - base::from_seconds(wake_s), rest.power_w);
  if (wake_s > 0) draw(now_ns, rest.wake_j / wake_s);
}

// Accounts for a span without jobs: a sleep that the policy decided, or a complete idle period.
void EnergyMeter::close_gap(const NodeMeter& meter, double span_s, bool woken) {
  const PowerModel& power = *meter.node.power;
  const double idle_w = power.node_idle_w(meter.node.num_gpus);
  const bool ordered = ordered_rest(meter.state);
  const RestState& rest = power.rest(ordered ? meter.state : options_.rest);
  const double idle_s = std::min(span_s, timer_s(meter, span_s));
  for (const EnergyAccounting accounting : kAccountings) {
    if (accounting == EnergyAccounting::ActiveOnly) continue;
    if (!rests(accounting)) {
      add_idle(accounting, idle_w * span_s);
    } else if (ordered) {
      add_rest(accounting, rest_energy(rest, span_s, woken));
    } else {
      add_idle(accounting, idle_w * idle_s);
      if (span_s > idle_s) add_rest(accounting, rest_energy(rest, span_s - idle_s, woken));
    }
  }
}

void EnergyMeter::close(NodeMeter& meter, base::TimeNs now_ns, bool woken) {
  const base::TimeNs since_ns =
      meter.state == PowerState::Idle ? meter.gap_begin_ns : meter.since_ns;
  GOBAN_CHECK(now_ns >= since_ns, "a node's time went back");
  const double span_s = base::to_seconds(now_ns - since_ns);
  if (span_s <= 0) return;
  if (meter.state == PowerState::Busy) {
    close_busy(meter, span_s);
    if (options_.power_sink) draw_busy(meter, now_ns);
  } else {
    close_gap(meter, span_s, woken);
    if (options_.power_sink) draw_gap(meter, now_ns, woken);
  }
}

void EnergyMeter::set_loads(model::NodeId node, base::TimeNs now_ns,
                            std::span<const GpuLoad> loads) {
  NodeMeter& meter = nodes_[node.index()];
  const bool was_idle = meter.state == PowerState::Idle;
  if (loads.empty() && was_idle) return;
  close(meter, now_ns, true);
  meter.since_ns = now_ns;
  meter.shares.clear();
  if (loads.empty()) {
    meter.state = PowerState::Idle;
    meter.gap_begin_ns = now_ns;
    return;
  }
  meter.state = PowerState::Busy;
  const PowerModel& power = *meter.node.power;
  GOBAN_CHECK(loads.size() <= meter.node.num_gpus);
  size_t residencies = 0;
  for (const GpuLoad& load : loads) residencies += load.residents.size();
  const auto idle_gpus = static_cast<double>(meter.node.num_gpus - loads.size());
  meter.idle_power_w = idle_gpus * power.gpu_idle_w;
  meter.power_w = power.host_idle_w + meter.idle_power_w;
  const double host_share_w = power.host_idle_w / static_cast<double>(residencies);
  for (const GpuLoad& load : loads) {
    GOBAN_CHECK(!load.residents.empty() && load.power_w >= 0);
    meter.power_w += load.power_w;
    const double idle_w = std::min(load.power_w, power.gpu_idle_w);
    const auto count = static_cast<double>(load.residents.size());
    double activity = 0;
    for (const GpuResident& resident : load.residents) activity += resident.activity;
    for (const GpuResident& resident : load.residents) {
      const double part = activity > 0 ? resident.activity / activity : 1 / count;
      meter.shares.push_back(
          {resident.job, host_share_w + idle_w / count + (load.power_w - idle_w) * part});
    }
  }
}

void EnergyMeter::set_rest(model::NodeId node, base::TimeNs now_ns, PowerState state) {
  GOBAN_CHECK(state == PowerState::Sleep || state == PowerState::Off);
  GOBAN_CHECK(options_.recorded_rests, "a sleep in a timeline without recorded sleeps");
  NodeMeter& meter = nodes_[node.index()];
  close(meter, now_ns, true);
  meter.since_ns = now_ns;
  meter.state = state;
  meter.shares.clear();
}

EnergyAccount EnergyMeter::finish(base::TimeNs end_ns) {
  for (NodeMeter& meter : nodes_) close(meter, end_ns, false);
  EnergyAccount account;
  Sum jobs;
  for (const double joules : job_j_) jobs.add(joules);
  for (size_t i = 0; i < kNumAccountings; ++i) {
    const Sums& sums = sums_[i];
    account.totals[i] = {jobs.value(), sums.idle.value(), sums.rest.value(),
                         sums.transition.value(), sums.cluster.value()};
  }
  const double span_s = base::to_seconds(end_ns - begin_ns_);
  account.avg_active_nodes = span_s > 0 ? active_s_.value() / span_s : 0;
  account.job_j = std::move(job_j_);
  return account;
}

}  // namespace goban::core::knowledge
