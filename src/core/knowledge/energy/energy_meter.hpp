// Joules of a cluster over a timeline of node states, by job and under four accountings.
//
// Rule of the shares. While a node is active (a GPU of it runs a job):
//   - the idle power of its host is split equally among the residencies (job, GPU) on it;
//   - the idle power of a GPU is split equally among the jobs on that GPU;
//   - what a GPU draws above idle is split by activity (equally if nobody has any);
//   - GPUs without a job belong to nobody: they count as idle.
// So job energies + idle + rest + transitions = cluster energy, under each accounting.
//
// Accountings (EaCO spec 6); they differ only in nodes that run nothing:
//   A  they count nothing                    C  as D for a policy that sleeps (EaCO), else as B
//   B  they idle, whoever schedules          D  they may rest, whoever schedules: the headline
// Under D a node rests after `timer_s` of idleness, and is awake again when its next job begins:
// the joules of waking are charged, its delay is not. A policy that puts nodes to rest itself pays
// the delay in its timeline; with `recorded_rests` D counts those rests and adds none.
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

/// A job on a GPU and how active it is there, such as its utilisation x its speed; not negative.
struct GpuResident {
  model::JobId job;
  double activity = 0;
};

/// A GPU with jobs: what it draws in all, and who is on it (at least one).
struct GpuLoad {
  double power_w = 0;
  std::span<const GpuResident> residents;
};

/// A node as the meter sees it; the model must outlive the meter.
struct MeteredNode {
  const PowerModel* power = nullptr;
  uint32_t num_gpus = 0;
};

/// Gets what a node drew from `from` to `to` under accounting D, each span once it is over. Spans
/// of one node follow each other without gaps; nodes are not in step.
using PowerSink =
    std::function<void(model::NodeId node, base::TimeNs from, base::TimeNs to, double power_w)>;

struct MeterOptions {
  /// The policy counts as EaCO in accounting C.
  bool sleeps_in_c = false;
  /// The timeline holds the rests that the policy ordered.
  bool recorded_rests = false;
  /// Where nodes rest by timer: Sleep or Off.
  PowerState rest = PowerState::Sleep;
  /// Idle seconds before a node rests; absent: the break-even time of the node.
  std::optional<double> timer_s{};
  PowerSink power_sink{};  ///< may be empty
};

struct EnergyTotals {
  double job_j = 0;         ///< of all jobs
  double idle_j = 0;        ///< of idle nodes, and of idle GPUs in active nodes
  double rest_j = 0;        ///< asleep or off
  double transition_j = 0;  ///< falling asleep and waking
  double cluster_j = 0;     ///< integrated by itself, not summed from the parts
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

/// Integrates power between changes. Times of one node must not decrease. Cost of a change: the
/// residencies on its node.
class EnergyMeter {
 public:
  /// All nodes idle from `begin_ns` on.
  EnergyMeter(std::span<const MeteredNode> nodes, size_t num_jobs, base::TimeNs begin_ns,
              MeterOptions options);

  /// From `now_ns` on the node runs `loads`, one entry a GPU with jobs; empty = it idles.
  void set_loads(model::NodeId node, base::TimeNs now_ns, std::span<const GpuLoad> loads);
  /// From `now_ns` on the node is on its way to `state` (Sleep or Off) or there. Any later change
  /// ends the rest; the wake lies before it.
  void set_rest(model::NodeId node, base::TimeNs now_ns, PowerState state);
  /// Watts the cluster draws now, with all nodes on that are not put to rest.
  [[nodiscard]] double power_w() const;
  /// The result up to `end_ns`; nothing may be set after it.
  [[nodiscard]] EnergyAccount finish(base::TimeNs end_ns);

 private:
  /// Sum with a correction for what rounding lost (Neumaier).
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
    base::TimeNs gap_begin_ns = 0;        ///< since when it runs nothing
    double power_w = 0;                   ///< while busy
    double idle_power_w = 0;              ///< of it, nobody's
    std::vector<Share> shares;
  };
  void close(NodeMeter& meter, base::TimeNs now_ns, bool woken);
  void close_busy(NodeMeter& meter, double span_s);
  void close_gap(const NodeMeter& meter, double span_s, bool woken);
  /// Tells the sink of a span in which the node was busy, or of one without jobs.
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
