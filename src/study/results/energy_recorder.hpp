// Watches a simulated run and meters its energy: who was on which GPU, how active, at what power.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/simulated/simulation.hpp"
#include "policy/knowledge.hpp"
#include "profile/energy/energy_meter.hpp"
#include "report/time_bins.hpp"

namespace goban::report {

/// Feeds an EnergyMeter. A GPU with jobs draws set_power() of their applications, or, if nothing is
/// known of these, by the utilisations that the jobs declare; a power cap takes its
/// energy_factor / time_factor of that. A job's activity is its utilisation alone (100 % if nobody
/// knows it) x its predicted speed. Jobs without GPUs draw nothing. Nodes that failed count as
/// idle. Cost of an action: the GPUs of the nodes that the job holds GPUs on.
class EnergyRecorder final : public engine::Observer {
 public:
  /// `knowledge` needs power models. `orders_rests`: the policy puts nodes to rest itself, and
  /// counts as EaCO in accounting C. `history`, `cluster` and `next` (may be null; gets every call
  /// first) outlive the recorder.
  EnergyRecorder(const model::JobHistory& history, const model::Cluster& cluster,
                 std::shared_ptr<const policy::SiteKnowledge> knowledge, bool orders_rests,
                 engine::Observer* next);

  void decided(const scheduler::Decision& decision, const scheduler::Core& core) override;
  void acted(TimeNs now, const model::Action& action, const scheduler::Core& core) override;
  void awake(TimeNs now, model::NodeId node) override;
  void job_ended(TimeNs now, model::JobId job, engine::JobEnd end) override;
  void ended(TimeNs now) override;

  /// Of a run that ended. Jobs of the history by JobId; behind them all fillers together.
  [[nodiscard]] const profile::EnergyAccount& account() const { return account_; }
  /// Watts of the cluster over time under D; one row.
  [[nodiscard]] const TimeBins& power() const { return power_; }
  void widen(TimeNs width_ns) { power_.widen(width_ns); }
  [[nodiscard]] TimeNs begin_ns() const { return begin_ns_; }

 private:
  /// Jobs on a GPU, as positions in running_.
  struct OnGpu {
    std::array<uint32_t, profile::kSetMax> jobs{};
    uint8_t count = 0;
    int8_t cap = -1;
    friend bool operator==(const OnGpu&, const OnGpu&) = default;
  };
  struct Running {
    model::JobId meter_job;  ///< fillers share one
    profile::AppId app;
    double util_pct = -1;  ///< as declared
    std::vector<model::GpuId> gpus;
  };

  void start(model::JobId job, const scheduler::Core& core);
  void stop(model::JobId job);
  void touch(model::NodeId node);
  /// Tells the meter what changed before `now`.
  void advance(TimeNs now);
  void flush();
  void flush_node(model::NodeId id);
  [[nodiscard]] double load_of(const OnGpu& on, size_t gpu_model,
                               std::vector<profile::GpuResident>& residents) const;

  const model::JobHistory& history_;
  const model::Cluster& cluster_;
  std::shared_ptr<const policy::SiteKnowledge> knowledge_;
  profile::ColocationPredictor predictor_;
  engine::Observer* next_;
  TimeBins power_;
  profile::EnergyMeter meter_;
  profile::EnergyAccount account_;
  TimeNs begin_ns_;
  std::vector<OnGpu> gpus_;
  std::vector<Running> running_;
  std::vector<uint32_t> free_slots_;
  std::unordered_map<model::JobId, uint32_t> slot_of_;
  std::vector<model::NodeId> touched_;
  std::vector<bool> is_touched_;
  TimeNs touched_at_ns_ = 0;
  std::vector<bool> rests_;
  std::vector<profile::GpuLoad> loads_;                       ///< scratch
  std::vector<std::vector<profile::GpuResident>> residents_;  ///< scratch, by GPU of a node
};

}  // namespace goban::report
