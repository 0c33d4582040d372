// The core's state of GPU sharing: the policies' view, provisional placements with their
// observations, and groups due for review.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/policy/sharing/sharing.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

using model::Action;
using model::GroupId;

/// Used together with State by policies that share. It is informed of events, and then determines
/// undos and power limits.
class SharingBooks final : public policy::SharingView {
 public:
  /// `state`, `policies` and what `context` points to must outlive the object.
  SharingBooks(const State& state, const policy::PolicySet& policies,
               const policy::RunContext& context, uint64_t seed);

  // The view of policies.
  TimeNs now() const override { return now_; }
  const Tenants& tenants() const override { return state_.tenants(); }
  const policy::SharingMemory& memory() const override { return memory_; }
  const policy::SiteKnowledge& knowledge() const override { return *knowledge_; }
  const JobState& job(JobId id) const override { return state_.job(state_.slot_of(id)); }
  double work_left_s(const JobState& job) const override;
  double work_total_s(const JobState& job) const override;
  double alone_slowdown(const JobState& job, std::span<const GpuId> gpus) const override;
  double alone_slowdown(const JobState& job) const override;
  double alone_slowdown_max(const JobState& job) const override;
  int64_t demand_gpus() const override { return state_.demand_gpus(); }
  bool someone_waits() const override { return !state_.queue().empty(); }
  int32_t free_gpus() const override { return state_.resources().free_gpus(); }
  uint64_t seed(JobId job) const override;

  void set_now(TimeNs now) { now_ = now; }

  /// A shared place for a waiting job; false and an empty `out` if there is none.
  [[nodiscard]] bool choose(const JobState& job, Allocation& out) const;

  /// The job was started on GPUs that other jobs hold. If the policy observes, its groups are
  /// locked and an observation begins.
  void begin(JobId joined, Tenants& tenants);
  /// Appends the Observe actions of observations that began since the last call.
  void announce(std::vector<Action>& actions);
  /// The engine measured a job. Ignored unless the job is under observation.
  void observed(JobId job, double slowdown);
  /// Records the resource use that a job or its profile declares.
  void submitted(const JobState& job);
  /// Records the use of a running job that ends and never had neighbours.
  void measured_alone(const JobState& job, const model::AloneUse& use);
  /// The job was started: its GPUs may get a power limit.
  void started(JobId job);
  /// The neighbours of these jobs changed.
  void neighbours_changed(std::span<const JobId> jobs);
  /// The job failed with `neighbours`. It will be started again, without neighbours.
  void broke(const JobState& job, std::span<const JobId> neighbours, bool out_of_memory);
  /// Failures of co-located jobs since the last call.
  [[nodiscard]] std::vector<model::Breakage> take_broken() { return std::exchange(broken_, {}); }
  /// The job is finished; its state is dropped.
  void ended(const JobState& job) { memory_.forget(job.job); }

  /// The running job has a service target that it can still meet.
  [[nodiscard]] bool can_keep_promise(const JobState& job) const;

  /// Ends observations that are complete, void or late; adds measurements to the co-location
  /// history. Their groups become due for review.
  void settle(Tenants& tenants);
  /// A job that must leave a group, and its neighbours there, ascending.
  struct Leaver {
    JobId job;
    std::vector<JobId> beside;
  };
  /// The next job whose placement is undone; nullopt: none. Call again after it was stopped.
  [[nodiscard]] std::optional<Leaver> next_to_leave();
  /// The job was stopped.
  void undone(const Leaver& leaver);
  /// Jobs with which a running job shares GPUs, ascending.
  [[nodiscard]] std::vector<JobId> partners(JobId job) const;
  /// Chooses the power limits of new and changed groups, and of all groups when the first job
  /// starts to wait or the last one stops waiting. Appends the Cap actions.
  void choose_caps(Tenants& tenants, std::vector<Action>& actions);
  /// For redo(): records a power limit of the recorded decision; reviewed() then marks all groups
  /// as reviewed.
  void capped(GpuId gpu, int8_t cap) { caps_[gpu.index()] = cap; }
  void reviewed(Tenants& tenants);
  /// Makes all shared groups due for review, because predictions change with time.
  void review_all();

  /// Earliest end of an observation; kNever if there is none.
  [[nodiscard]] TimeNs next_deadline_ns() const;
  [[nodiscard]] int64_t num_undone() const { return num_undone_; }

  /// The observation of a provisional placement: the jobs of its group are measured.
  struct Observation {
    GroupId group{};
    std::vector<JobId> jobs{};        ///< of the group, at the start of the observation
    std::vector<double> slowdowns{};  ///< by position in `jobs`; 0 = not yet measured
    TimeNs until_ns = base::kNever;
    bool announced = false;
  };
  /// The state as plain values, without configuration.
  struct Image {
    TimeNs now_ns = 0;
    policy::SharingMemory::Image memory{};
    std::vector<Observation> observations{};
    std::vector<model::Breakage> broken{};
    std::vector<GroupId> due{};
    std::vector<GroupId> due_observed{};
    std::vector<GroupId> uncapped{};
    bool waited = false;
    std::vector<int8_t> caps{};  ///< by GPU
    int64_t num_undone = 0;
  };
  [[nodiscard]] Image image() const;
  /// Restores an image of the same cluster, before any event.
  void restore(const Image& image);

 private:
  [[nodiscard]] bool stands(const Observation& observation) const;
  [[nodiscard]] bool complete(const Observation& observation) const;
  void learn(const Observation& observation);
  void uncap_all();
  /// The job has neighbours in other groups as well.
  [[nodiscard]] bool shares_elsewhere(JobId job, GroupId group) const;

  const State& state_;
  const policy::Sharing& sharing_;
  const model::ReportedProgress* progress_;
  std::shared_ptr<const policy::SiteKnowledge> knowledge_;
  policy::SharingMemory memory_;
  uint64_t seed_;
  TimeNs now_ = 0;
  std::vector<Observation> observations_;
  std::vector<model::Breakage> broken_;
  std::set<GroupId> due_;           ///< for review
  std::set<GroupId> due_observed_;  ///< for review after an observation
  std::set<GroupId> uncapped_;      ///< for new power limits
  bool waited_ = false;             ///< jobs waited when limits were last chosen
  std::vector<int8_t> caps_;        ///< by GPU: the limits last requested of the engine
  int64_t num_undone_ = 0;
};

}  // namespace goban::core::scheduler
