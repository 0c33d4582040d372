// The decision core (DESIGN 4): events in, actions out. No clock, no thread, no I/O, no hidden
// randomness: the same events at the same times give the same actions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "core/model/action.hpp"
#include "core/model/event.hpp"
#include "core/policy/migration/migration.hpp"
#include "core/policy/policy_set.hpp"
#include "core/scheduler/decision.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

using model::Action;
using model::Event;

/// What one decision changed. Spans of the core: valid until the next call.
struct Decision {
  TimeNs at_ns = 0;
  std::vector<Action> actions;    ///< first what stops, then what starts, in launch order
  std::vector<JobId> placed;      ///< jobs placed in launch order, also those that only stay
  std::vector<JobId> terminated;  ///< jobs that lost their GPUs (see PolicySet::list_released)
};

/// The scheduler's mind. Feed it every event in time order, then ask it to decide.
class Core {
 public:
  /// `speed` and what it and `context` point to outlive the core. `seed` feeds policies that draw.
  Core(const policy::SpeedModel& speed, policy::PolicySet policies,
       const policy::RunContext& context, uint64_t seed);

  /// All that later decisions depend on and that is not configuration (core_image.hpp).
  [[nodiscard]] CoreImage image() const;
  /// Goes on from an image, in a core that has seen no event yet. With the same configuration it
  /// decides as the core that the image is of. The cluster has to be the same; jobs keep what they
  /// hold under other policies, and the queue is sorted anew. Errors: BadData if the image does not
  /// fit the cluster or the policies; the core is as it was then.
  [[nodiscard]] base::Status restore(const CoreImage& image);

  Core(const Core&) = delete;  // the state refers to the policies beside it
  Core& operator=(const Core&) = delete;

  /// Takes an event into the state. Returns what the event itself forces, such as abandoning the
  /// jobs of a lost node; the span is valid until the next call.
  std::span<const Action> apply(const Event& event);

  /// Decides who runs where from now on and assumes that it is done.
  const Decision& decide(TimeNs now);

  /// Carries out what was decided before, instead of deciding: for records of a release that
  /// decided otherwise. `allocations`: what each Start of `actions` is on, in their order. Errors:
  /// BadData naming the action that is no legal step; the core is of no use then.
  [[nodiscard]] base::Status redo(TimeNs now, std::span<const Action> actions,
                                  std::span<const Allocation> allocations);
  /// What decide() or redo() changed last.
  [[nodiscard]] const Decision& last_decision() const { return decision_; }

  /// When the core wants to decide again even if nothing happens; kNever = not at all.
  [[nodiscard]] TimeNs wake_ns() const;
  /// Without an event, deciding again at any time before wake_ns() changes nothing.
  [[nodiscard]] bool settled() const;

  [[nodiscard]] const policy::PolicySet& policies() const { return policies_; }
  [[nodiscard]] size_t num_waiting() const {
    return state_.queue().size() + state_.num_waiting_in_reservations() + state_.num_set_aside();
  }
  [[nodiscard]] size_t num_running() const { return state_.running().size(); }
  [[nodiscard]] const State& state() const { return state_; }
  /// Who shares which GPUs; null if nobody may and there is no knowledge of power and neighbours.
  [[nodiscard]] const Tenants* tenants() const {
    return state_.has_tenants() ? &state_.tenants() : nullptr;
  }
  /// What sharing has taught; null if GPUs are not shared.
  [[nodiscard]] const policy::SharingMemory* sharing_memory() const {
    return books_ ? &books_->memory() : nullptr;
  }
  /// Running jobs whose neighbours or power limits changed since the last call, ascending; their
  /// speed may be another. May name jobs that are gone.
  [[nodiscard]] std::vector<JobId> take_disturbed();
  /// Jobs that broke beside others since the last call, in the order of the events.
  [[nodiscard]] std::vector<model::Breakage> take_broken();
  /// Shared places taken back so far.
  [[nodiscard]] int64_t num_undone() const { return books_ ? books_->num_undone() : 0; }
  /// What a running job holds.
  [[nodiscard]] const Allocation& allocation(JobId job) const {
    return state_.allocation(state_.slot_of(job));
  }

 private:
  /// Running jobs change places with time alone.
  [[nodiscard]] bool drifting() const;
  void stop_jobs_on(model::NodeId node, model::ActionKind kind, TimeNs now);
  /// Nodes of reservations that hold now: whoever else is there has to leave, and they wake up.
  void keep_promises(TimeNs now);
  void end_job(const Event& event);
  void break_job(const Event& event);
  void restore_node(model::NodeId node, TimeNs now);
  /// Takes back shared places that the policy does not want any more.
  void review_sharing(TimeNs now);
  void begin_review(TimeNs now);
  void select(TimeNs now);
  /// Moves jobs off nodes that the migration policy wants empty.
  void migrate(TimeNs now);
  /// True if jobs may be moved now; notes when they may next.
  [[nodiscard]] bool migration_is_due(TimeNs now);
  void carry_out(const policy::Evacuation& evacuation, TimeNs now);
  void conclude(const DecisionBoard& board);
  /// Puts idle nodes to rest, or wakes some for jobs that wait.
  void decide_power(TimeNs now);
  void wake_for_waiting();
  /// What decide() does before it selects, and behind.
  void begin_decision(TimeNs now);
  // Steps of redo() (core_redo.cpp): what is wrong with an action; empty if it was carried out.
  [[nodiscard]] std::string redo_stop(const Action& action, TimeNs now);
  [[nodiscard]] std::string redo_start(const Action& action, const Allocation& allocation,
                                       TimeNs now);
  [[nodiscard]] std::string redo_node(const Action& action);
  [[nodiscard]] std::string redo_cap(const Action& action);
  void follow_neighbours();
  [[nodiscard]] bool holds_same_gpus(Slot slot, std::span<const GpuId> before);

  policy::PolicySet policies_;
  State state_;
  std::optional<SharingBooks> books_;  ///< if GPUs may be shared, or jobs moved
  std::vector<JobId> disturbed_;
  TimeNs next_review_ns_ = base::kNever;
  TimeNs next_migration_ns_ = base::kNever;  ///< kNever: before the first decision, or never
  uint64_t seed_;
  Decision decision_;
  std::vector<Action> forced_;
  enum class Fate : uint8_t { Untouched, Stays, Preempted };
  std::vector<Fate> fate_;          ///< scratch of conclude, by slot
  std::vector<uint64_t> gpu_mark_;  ///< scratch of holds_same_gpus, by GPU
  uint64_t mark_ = 0;
};

}  // namespace goban::core::scheduler
