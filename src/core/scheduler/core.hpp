// The decision core (docs/decisions/0002-core.md): events in, actions out. No clock, no thread, no
// I/O, no hidden randomness: the same events at the same times give the same actions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "core/model/event.hpp"
#include "core/policy/migration/migration.hpp"
#include "core/policy/policy_set.hpp"
#include "core/scheduler/decision.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

using model::Action;
using model::Event;

/// The changes of one decision. Owned by the core; valid until the next call.
struct Decision {
  TimeNs at_ns = 0;
  std::vector<Action> actions;    ///< stops first, then starts in launch order
  std::vector<JobId> placed;      ///< in launch order, including jobs that keep their GPUs
  std::vector<JobId> terminated;  ///< jobs that lost their GPUs (see PolicySet::list_released)
};

/// The decision core. Apply every event in time order, then call decide().
class Core {
 public:
  /// `speed` and what it and `context` point to must outlive the core. `seed` is for random
  /// policies.
  Core(const policy::SpeedModel& speed, policy::PolicySet policies,
       const policy::RunContext& context, uint64_t seed);

  /// All state that later decisions depend on, without configuration (core_image.hpp).
  [[nodiscard]] CoreImage image() const;
  /// Continues from an image, in a core that has seen no event yet. With the same configuration it
  /// decides like the core that the image is of. The cluster must be the same. Under other policies
  /// jobs keep what they hold, and the queue is sorted again. Errors: BadData if the image does not
  /// fit the cluster or the policies; the core is then unchanged.
  [[nodiscard]] base::Status restore(const CoreImage& image);

  Core(const Core&) = delete;  // the state refers to the policies
  Core& operator=(const Core&) = delete;

  /// Applies an event to the state. Returns the actions that the event itself requires, such as
  /// abandoning the jobs of a lost node; the span is valid until the next call.
  std::span<const Action> apply(const Event& event);

  /// Decides which jobs run where from now on, and assumes that the actions are carried out.
  const Decision& decide(TimeNs now);

  /// Applies a recorded decision instead of deciding: for journals of releases that decided
  /// differently. `allocations`: those of the Start actions, in order. Errors: BadData with the
  /// action that is not a legal step; the core is then unusable.
  [[nodiscard]] base::Status redo(TimeNs now, std::span<const Action> actions,
                                  std::span<const Allocation> allocations);
  /// The result of the last decide() or redo().
  [[nodiscard]] const Decision& last_decision() const { return decision_; }

  /// Time at which the core must decide again without an event; kNever = none.
  [[nodiscard]] TimeNs wake_ns() const;
  /// True if, without an event, deciding again before wake_ns() changes nothing.
  [[nodiscard]] bool settled() const;

  [[nodiscard]] const policy::PolicySet& policies() const { return policies_; }
  [[nodiscard]] size_t num_waiting() const {
    return state_.queue().size() + state_.num_waiting_in_reservations() + state_.num_set_aside();
  }
  [[nodiscard]] size_t num_running() const { return state_.running().size(); }
  [[nodiscard]] const State& state() const { return state_; }
  /// Which jobs share which GPUs; null if sharing is off and there is no site knowledge.
  [[nodiscard]] const Tenants* tenants() const {
    return state_.has_tenants() ? &state_.tenants() : nullptr;
  }
  /// State accumulated by sharing; null if GPUs are not shared.
  [[nodiscard]] const policy::SharingMemory* sharing_memory() const {
    return books_ ? &books_->memory() : nullptr;
  }
  /// Running jobs whose neighbours or power limits, and thus possibly their speed, changed since
  /// the last call, ascending. May contain jobs that no longer exist.
  [[nodiscard]] std::vector<JobId> take_disturbed();
  /// Failures of co-located jobs since the last call, in order of the events.
  [[nodiscard]] std::vector<model::Breakage> take_broken();
  /// Number of placements undone so far.
  [[nodiscard]] int64_t num_undone() const { return books_ ? books_->num_undone() : 0; }
  /// The allocation of a running job.
  [[nodiscard]] const Allocation& allocation(JobId job) const {
    return state_.allocation(state_.slot_of(job));
  }

 private:
  /// The order of running jobs may change with time alone.
  [[nodiscard]] bool drifting() const;
  void stop_jobs_on(model::NodeId node, model::ActionKind kind, TimeNs now);
  /// Clears the nodes of reservations in effect of other jobs, and wakes them.
  void keep_promises(TimeNs now);
  void end_job(const Event& event);
  void break_job(const Event& event);
  void find_job(const Event& event);
  void restore_node(model::NodeId node, TimeNs now);
  /// Undoes placements that the policy no longer accepts.
  void review_sharing(TimeNs now);
  void begin_review(TimeNs now);
  void select(TimeNs now);
  /// Some policy decides about running jobs anew.
  [[nodiscard]] bool decides_anew() const;
  /// The sizes of elastic jobs are to be chosen.
  [[nodiscard]] bool sizes_jobs() const;
  /// Moves jobs off nodes, as the migration policy decides.
  void migrate(TimeNs now);
  /// True if a migration is due; then sets the next time.
  [[nodiscard]] bool migration_is_due(TimeNs now);
  void carry_out(const policy::Evacuation& evacuation, TimeNs now);
  void conclude(const DecisionBoard& board);
  /// Puts idle nodes to sleep, or wakes nodes for waiting jobs.
  void decide_power(TimeNs now);
  void wake_for_waiting(const NodePower::Excepted& excepted);
  /// Steps of decide() before the selection.
  void begin_decision(TimeNs now);
  // Steps of redo() (core_redo.cpp): the problem of an action; empty if it was applied.
  [[nodiscard]] std::string redo_stop(const Action& action, TimeNs now);
  [[nodiscard]] std::string redo_start(const Action& action, const Allocation& allocation,
                                       TimeNs now);
  [[nodiscard]] std::string redo_node(const Action& action);
  /// A recorded start gives an elastic job its size.
  void resize_for(Slot slot, const Allocation& allocation, TimeNs now);
  [[nodiscard]] std::string redo_cap(const Action& action);
  void follow_neighbours();
  [[nodiscard]] bool holds_same_gpus(Slot slot, std::span<const GpuId> before);

  policy::PolicySet policies_;
  State state_;
  std::optional<SharingBooks> books_;  ///< if sharing or migration is on
  std::vector<JobId> disturbed_;
  TimeNs next_review_ns_ = base::kNever;
  TimeNs next_migration_ns_ = base::kNever;  ///< kNever: before the first decision, or no migration
  uint64_t seed_;
  Decision decision_;
  std::vector<Action> forced_;
  enum class Fate : uint8_t { Untouched, Stays, Preempted };
  std::vector<Fate> fate_;          ///< scratch of conclude, by slot
  std::vector<uint64_t> gpu_mark_;  ///< scratch of holds_same_gpus, by GPU
  uint64_t mark_ = 0;
};

}  // namespace goban::core::scheduler
