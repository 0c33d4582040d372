// Energy of a cluster over a timeline of node states, by job and under four accountings.
//
// Attribution. While a node is active (one of its GPUs runs a job):
//   - the idle power of its host is split equally among the residencies (job, GPU) on it;
//   - the idle power of a GPU is split equally among the jobs on that GPU;
//   - the power of a GPU above idle is split by activity (equally if all activities are 0);
//   - GPUs without a job are attributed to no job: they count as idle.
// So job energies + idle + sleep + transitions = cluster energy, under each accounting.
//
// Accountings (docs/energy.md, accountings) differ only in nodes without jobs:
//   A  they consume nothing                  C  as D for a policy that sleeps (EaCO), otherwise as
//   B B  they idle, under every policy         D  they may sleep, under every policy: the headline
// Under D a node sleeps after `timer_s` of idleness and is awake again when its next job starts:
// the energy of waking is charged, its delay is not. A policy with its own sleep decisions has the
// delay in its timeline; with `recorded_rests`, D counts these sleeps and adds none.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/knowledge/energy/power_model.hpp"
#include "core/model/ids.hpp"

namespace goban::core::knowledge {

enum class EnergyAccounting : uint8_t { ActiveOnly, IdleOn, OnlyEacoSleeps, EveryoneSleeps };
inline constexpr size_t kNumAccountings = 4;
inline constexpr std::array<std::string_view, kNumAccountings> kAccountingLetters = {"A", "B", "C",
                                                                                     "D"};
inline constexpr auto kHeadline = EnergyAccounting::EveryoneSleeps;

/// A job on a GPU and its activity there, such as utilisation x speed; not negative.
struct GpuResident {
  model::JobId job;
  double activity = 0;
};

/// A GPU with at least one job: its total power and its jobs.
struct GpuLoad {
  double power_w = 0;
  std::span<const GpuResident> residents;
};

/// A node; the power model must outlive the meter.
struct MeteredNode {
  const PowerModel* power = nullptr;
  uint32_t num_gpus = 0;
};

/// Receives the power of a node from `from` to `to` under accounting D, when the span has ended.
/// Spans of one node are contiguous; spans of different nodes are not synchronised.
using PowerSink =
    std::function<void(model::NodeId node, base::TimeNs from, base::TimeNs to, double power_w)>;

struct MeterOptions {
  /// The policy sleeps in accounting C.
  bool sleeps_in_c = false;
  /// The timeline contains the sleeps that the policy decided.
  bool recorded_rests = false;
  /// The state that nodes enter by timer: Sleep or Off.
  PowerState rest = PowerState::Sleep;
  /// Idle seconds before a node sleeps; unset: the break-even time of the node.
  std::optional<double> timer_s{};
  PowerSink power_sink{};  ///< may be empty
};

struct EnergyTotals {
  double job_j = 0;         ///< of all jobs
  double idle_j = 0;        ///< of idle nodes, and of idle GPUs in active nodes
  double rest_j = 0;        ///< asleep or off
  double transition_j = 0;  ///< entering sleep and waking
  double cluster_j = 0;     ///< integrated separately, not the sum of the parts
  [[nodiscard]] double cluster_kwh() const { return cluster_j / 3.6e6; }
};

struct EnergyAccount {
  std::array<EnergyTotals, kNumAccountings> totals;  ///< by EnergyAccounting
  std::vector<double> job_j;                         ///< by JobId; equal under all accountings
  double avg_active_nodes = 0;
  [[nodiscard]] const EnergyTotals& of(EnergyAccounting accounting) const {
    return totals[static_cast<size_t>(accounting)];
  }
};

/// Integrates power between changes. Times of one node must not decrease. A change costs
/// O(residencies on its node).
class EnergyMeter {
 public:
  /// All nodes are idle from `begin_ns` on.
  EnergyMeter(std::span<const MeteredNode> nodes, size_t num_jobs, base::TimeNs begin_ns,
              MeterOptions options);

  /// From `now_ns` on the node runs `loads`, one entry per GPU with jobs; empty = idle.
  void set_loads(model::NodeId node, base::TimeNs now_ns, std::span<const GpuLoad> loads);
  /// From `now_ns` on the node enters, then is in, `state` (Sleep or Off). The next change ends it;
  /// waking ends at that time.
  void set_rest(model::NodeId node, base::TimeNs now_ns, PowerState state);
  /// The result up to `end_ns`. No changes may follow.
  [[nodiscard]] EnergyAccount finish(base::TimeNs end_ns);

 private:
  /// Compensated sum (Neumaier).
  class Sum {
   public:
    void add(double value);
    [[nodiscard]] double value() const { return sum_ + lost_; }

   private:
    double sum_ = 0;
    double lost_ = 0;
  };
  struct Sums {
    Sum idle, rest, transition, cluster;
  };
  struct Share {
    model::JobId job;
    double power_w = 0;
  };
  struct NodeMeter {
    MeteredNode node;
    PowerState state = PowerState::Idle;  ///< Busy, Idle, Sleep or Off
    base::TimeNs since_ns = 0;            ///< of the state or the loads
    base::TimeNs gap_begin_ns = 0;        ///< start of the current time without jobs
    double power_w = 0;                   ///< while busy
    double idle_power_w = 0;              ///< the part of it attributed to no job
    std::vector<Share> shares;
  };
  void close(NodeMeter& meter, base::TimeNs now_ns, bool woken);
  void close_busy(NodeMeter& meter, double span_s);
  void close_gap(const NodeMeter& meter, double span_s, bool woken);
  /// Report a span with jobs, or without, to the sink.
  void draw_busy(const NodeMeter& meter, base::TimeNs now_ns) const;
  void draw_gap(const NodeMeter& meter, base::TimeNs now_ns, bool woken) const;
  [[nodiscard]] double timer_s(const NodeMeter& meter, double span_s) const;
  void add_idle(EnergyAccounting accounting, double joules);
  void add_rest(EnergyAccounting accounting, const RestEnergy& energy);
  [[nodiscard]] bool rests(EnergyAccounting accounting) const;

  MeterOptions options_;
  std::vector<NodeMeter> nodes_;
  std::vector<double> job_j_;
  std::array<Sums, kNumAccountings> sums_;
  Sum active_s_;
  base::TimeNs begin_ns_;
};

}  // namespace goban::core::knowledge
