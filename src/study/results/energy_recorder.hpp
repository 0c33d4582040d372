// Observes a simulated run and meters its energy: which jobs ran on which GPUs, at what power.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/knowledge/energy/energy_meter.hpp"
#include "core/model/job_history.hpp"
#include "core/policy/knowledge.hpp"
#include "study/results/hourly_energy.hpp"
#include "study/results/time_bins.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Feeds an EnergyMeter. A GPU with jobs draws set_power() of their applications, or, if these are
/// unknown, power by the utilisations that the jobs declare; under a power limit it draws
/// energy_factor / time_factor of that. A job's activity is its utilisation alone (100 % if
/// unknown) x its predicted speed. Jobs without GPUs draw nothing. Failed nodes count as idle. Cost
/// of an action: the GPUs of the nodes on which the job holds GPUs.
class EnergyRecorder final : public simulator::Observer {
 public:
  /// `knowledge` must have power models. `orders_rests`: the policy puts nodes to sleep itself, and
  /// counts as EaCO in accounting C. `history`, `cluster` and `next` must outlive the recorder.
  /// `next` may be null; it receives every call first.
  EnergyRecorder(const core::model::JobHistory& history, const core::model::Cluster& cluster,
                 std::shared_ptr<const core::policy::SiteKnowledge> knowledge, bool orders_rests,
                 simulator::Observer* next);

  /// Before the run: also records the energy by hour of the calendar under accounting D, where time
  /// 0 of the run is the Unix time `zero_unix_ns`.
  void record_hours(TimeNs zero_unix_ns) { hours_.emplace(begin_ns_, zero_unix_ns); }

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void awake(TimeNs now, core::model::NodeId node) override;
  void job_ended(TimeNs now, core::model::JobId job, simulator::JobEnd end) override;
  void ended(TimeNs now) override;

  /// Of a finished run. Jobs of the history by JobId, then one entry for all fillers.
  [[nodiscard]] const core::knowledge::EnergyAccount& account() const { return account_; }
  /// Power of the cluster over time in watts, under accounting D; one row.
  [[nodiscard]] const TimeBins& power() const { return power_; }
  void widen(TimeNs width_ns) { power_.widen(width_ns); }
  [[nodiscard]] TimeNs begin_ns() const { return begin_ns_; }
  /// None unless record_hours() was called.
  [[nodiscard]] const std::optional<HourlyEnergy>& hours() const { return hours_; }

 private:
  /// Jobs on a GPU, as positions in running_.
  struct OnGpu {
    std::array<uint32_t, core::knowledge::kSetMax> jobs{};
    uint8_t count = 0;
    int8_t cap = -1;
    friend bool operator==(const OnGpu&, const OnGpu&) = default;
  };
  struct Running {
    core::model::JobId meter_job;  ///< all fillers share one
    core::knowledge::AppId app;
    double util_pct = -1;  ///< as declared
    std::vector<core::model::GpuId> gpus;
  };

  void start(core::model::JobId job, const core::scheduler::Core& core);
  void stop(core::model::JobId job);
  void touch(core::model::NodeId node);
  /// Passes all changes before `now` to the meter.
  void advance(TimeNs now);
  void flush();
  void flush_node(core::model::NodeId id);
  [[nodiscard]] double load_of(const OnGpu& on, size_t gpu_model,
                               std::vector<core::knowledge::GpuResident>& residents) const;

  const core::model::JobHistory& history_;
  const core::model::Cluster& cluster_;
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge_;
  core::knowledge::ColocationPredictor predictor_;
  simulator::Observer* next_;
  TimeBins power_;
  std::optional<HourlyEnergy> hours_;
  core::knowledge::EnergyMeter meter_;
  core::knowledge::EnergyAccount account_;
  TimeNs begin_ns_;
  std::vector<OnGpu> gpus_;
  std::vector<Running> running_;
  std::vector<uint32_t> free_slots_;
  std::unordered_map<core::model::JobId, uint32_t> slot_of_;
  std::vector<core::model::NodeId> touched_;
  std::vector<bool> is_touched_;
  TimeNs touched_at_ns_ = 0;
  std::vector<bool> rests_;
  std::vector<core::knowledge::GpuLoad> loads_;                       ///< scratch
  std::vector<std::vector<core::knowledge::GpuResident>> residents_;  ///< scratch, by GPU of a node
};

}  // namespace goban::study::results
