// The sharing of GPUs as the core carries it out: what policies see, places that are provisional
// until everyone on them was measured, and groups that have to be looked at again.
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

/// Beside the state, for policies that share. Feed it what happens, then ask for verdicts.
class SharingBooks final : public policy::SharingView {
 public:
  /// `state` and `policies` and what `context` points to outlive the books.
  SharingBooks(const State& state, const policy::PolicySet& policies,
               const policy::RunContext& context, uint64_t seed);

  // What policies see.
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

  /// The job was started on GPUs that others hold. If the policy observes, its groups are locked
  /// and an observation begins.
  void begin(JobId joined, Tenants& tenants);
  /// Appends what has to be measured for observations that began since the last call.
  void announce(std::vector<Action>& actions);
  /// The engine measured a job. Ignored unless it is awaited.
  void observed(JobId job, double slowdown);
  /// What the submitter of a job, or its profile, says that it takes of a GPU.
  void submitted(const JobState& job);
  /// The running job is done and never had neighbours.
  void measured_alone(const JobState& job, const model::AloneUse& use);
  /// The job was started: its GPUs may get a power limit.
  void started(JobId job);
  /// These jobs have other neighbours than before, or lost them.
  void neighbours_changed(std::span<const JobId> jobs);
  /// The job broke beside `neighbours` and will be started again: alone.
  void broke(const JobState& job, std::span<const JobId> neighbours, bool out_of_memory);
  /// What broke beside others since the last call.
  [[nodiscard]] std::vector<model::Breakage> take_broken() { return std::exchange(broken_, {}); }
  /// The job is gone: what was remembered of it is not needed any more.
  void ended(const JobState& job) { memory_.forget(job.job); }

  /// The running job has been promised something that it can still keep.
  [[nodiscard]] bool can_keep_promise(const JobState& job) const;

  /// Ends observations that are complete, void or late; what was measured goes into H. Groups come
  /// up for review.
  void settle(Tenants& tenants);
  /// A job that has to leave a group, and those beside it there, ascending.
  struct Leaver {
    JobId job;
    std::vector<JobId> beside;
  };
  /// The next one: its place is taken back. None: all is well. Ask again after it was stopped.
  [[nodiscard]] std::optional<Leaver> next_to_leave();
  /// It was stopped.
  void undone(const Leaver& leaver);
  /// Whom a running job shares GPUs with, ascending.
  [[nodiscard]] std::vector<JobId> partners(JobId job) const;
  /// Chooses power limits anew where groups are new or changed, and for all when jobs begin to wait
  /// or nobody waits any more; appends what is to be done.
  void choose_caps(Tenants& tenants, std::vector<Action>& actions);
  /// Somebody else chose this power limit; then, that all groups were reviewed and limits chosen.
  void capped(GpuId gpu, int8_t cap) { caps_[gpu.index()] = cap; }
  void reviewed(Tenants& tenants);
  /// All shared groups come up for review, as time alone may have changed what is expected of them.
  void review_all();

  /// End of the earliest observation; kNever if none is on.
  [[nodiscard]] TimeNs next_deadline_ns() const;
  [[nodiscard]] bool observing() const { return !observations_.empty(); }
  [[nodiscard]] int64_t num_undone() const { return num_undone_; }

  /// A shared place on trial: the members of its group are measured.
  struct Observation {
    GroupId group{};
    std::vector<JobId> jobs{};        ///< the group's, as they were at the beginning
    std::vector<double> slowdowns{};  ///< by position in `jobs`; 0 = not yet measured
    TimeNs until_ns = base::kNever;
    bool announced = false;
  };
  /// All of it but the configuration, as plain values.
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
  /// Takes over an image of the same cluster; nothing has happened yet.
  void restore(const Image& image);

 private:
  [[nodiscard]] bool stands(const Observation& observation) const;
  [[nodiscard]] bool complete(const Observation& observation) const;
  void learn(const Observation& observation);
  void uncap_all();
  /// The job has neighbours on other GPUs, too.
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
  std::set<GroupId> due_observed_;  ///< likewise, after an observation
  std::set<GroupId> uncapped_;      ///< for new power limits
  bool waited_ = false;             ///< somebody, when limits were chosen last
  std::vector<int8_t> caps_;        ///< by GPU: the power limits that were asked for
  int64_t num_undone_ = 0;
};

}  // namespace goban::core::scheduler
