// A decision in progress: the Board of selection policies.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/policy/select/select.hpp"
#include "core/scheduler/sharing_books.hpp"
#include "core/scheduler/sizing.hpp"
#include "core/scheduler/state.hpp"
#include "core/scheduler/typed_backfill_reservation.hpp"

namespace goban::core::scheduler {

/// Seed of random placements; differs by job and decision.
[[nodiscard]] inline uint64_t placement_seed(uint64_t seed, JobId job, TimeNs now) {
  return seed ^ (uint64_t{job.value} << 20) ^ (static_cast<uint64_t>(now) * 0x9e3779b97f4a7c15ULL);
}

/// Some of these GPUs or nodes are among those.
template <typename Id>
[[nodiscard]] bool overlap(const std::vector<Id>& mine, const std::vector<Id>& theirs) {
  return std::ranges::any_of(mine,
                             [&](Id id) { return std::ranges::find(theirs, id) != theirs.end(); });
}

/// Applies the choices of the selection to the state, and records the jobs released.
class DecisionBoard final : public policy::Board {
 public:
  /// `books` is null if GPUs are not shared.
  DecisionBoard(State& state, const policy::PolicySet& policies, SharingBooks* books, TimeNs now,
                uint64_t seed);

  TimeNs now() const override { return now_; }
  int32_t free_gpus() const override { return state_.resources().free_gpus(whose_, now_); }
  bool full() const override;
  policy::Preemption preemption() const override { return policies_->preemption; }
  bool class_first() const override { return policies_->placement->class_first(); }
  bool may_start(Job job) const override { return state_.limit_on(*job) == Accounts::kNone; }
  Job first() override;
  Job after(Job job) override;
  size_t leading(std::span<Waiting> out) override;
  Job after_fitting(Job job, const policy::Gap& gap) override;
  bool follows_by_more_than(Job job, Job later, int32_t count) const override;
  bool start(Job job) override;
  bool start_in_gap(Job job, policy::Gap& gap) override;
  bool make_room_and_start(Job job) override;
  TimeNs estimate_ns(Job job) const override;
  policy::BackfillReservation earliest_start(Job job) override;
  Job promised() override;
  void promise(Job job) override;
  policy::BackfillReservation promised_start(Job job) override;
  bool start_in_gap_or_make_room(Job job, policy::Gap& gap) override;
  bool redeem_late(Job job) override;
  void visit_ends(const std::function<void(TimeNs, int32_t)>& visit) override;

  /// A running job that lost its resources in this decision; it may have been placed again.
  struct Released {
    Slot slot = 0;
    policy::OrderKey key;
    Allocation allocation;
  };
  /// In order of release.
  [[nodiscard]] const std::vector<Released>& released() const { return released_; }
  /// Jobs started, in launch order.
  [[nodiscard]] const std::vector<Slot>& started() const { return started_; }

  /// Switches to the jobs and nodes of this reservation; initially, those of no reservation.
  void enter(ReservationId whose);
  /// Who decides about the present jobs and nodes.
  [[nodiscard]] const policy::PolicySet& policies() const { return *policies_; }
  /// Tries shared places for at most `depth` waiting jobs that the selection did not start.
  void share_behind(int32_t depth);
  /// Releases every running job whose policy decides anew, in queue order (non-sticky decisions).
  void release_all();
  /// Gives jobs other sizes. Running ones that have not been released stop and start here.
  void resize(std::span<const SizeChange> changes);

 private:
  struct Evictable {
    policy::OrderKey key;
    Slot slot = 0;
    int32_t gpus = 0;
  };

  [[nodiscard]] bool find(const JobState& job, Allocation& out);
  [[nodiscard]] bool find_free(const JobState& job, Allocation& out);
  /// As Resources::find(), for a start at `from`; an elastic job gets GPUs of one model.
  [[nodiscard]] bool find_in(Resources& resources, const JobState& job, TimeNs from, uint64_t seed,
                             Allocation& out) const;
  /// The size of a waiting job, or the largest below that no hard limit forbids now.
  void set_size_within_limits(const SizeChange& change);
  /// Starts a job that was stopped for another size, with that size, else with what comes nearest.
  void start_resized(const SizeChange& change, const Allocation& before);
  /// Starts it on this allocation, with as many GPUs, if it is free and no limit forbids it.
  bool start_on(Slot slot, policy::Size size, Allocation allocation);
  /// As find(); also marks the shapes of jobs that cannot be placed.
  [[nodiscard]] bool find_or_mark(const JobState& job, Allocation& out);
  /// True if the job may hold the allocation beyond the start of the reserved job; it then counts
  /// as taken.
  [[nodiscard]] bool leaves_reserved(const JobState& job, const Allocation& allocation);
  void commit(const JobState& job, Allocation allocation);
  /// True if no hard limit forbids the job; otherwise it is set aside.
  [[nodiscard]] bool within_limits(Job job);
  void release(Slot slot, const policy::OrderKey& key);
  /// As make_room_and_start, with shared GPUs, which are free only when all their jobs have left:
  /// tried on a copy first; only jobs whose resources are needed are evicted.
  [[nodiscard]] bool make_room_by_trial(const JobState& job);
  [[nodiscard]] HoldSpan hold_of(const JobState& job, TimeNs from) const;
  /// The running job keeps its GPUs in this decision, whatever the order.
  [[nodiscard]] bool stays(const JobState& job) const;
  [[nodiscard]] bool gives_way(const Evictable& each, const JobState& job);
  /// What the preemption costs is less than what the waiting job gains.
  [[nodiscard]] bool pays(const JobState& victim, const JobState& job);
  /// Time until enough running jobs are expected to have ended for the job; a lower bound.
  [[nodiscard]] TimeNs expected_wait_ns(const JobState& job);
  /// The job must not be preempted.
  [[nodiscard]] bool spared(const JobState& job) const;
  /// The job starts whenever enough GPUs are free: its start can be promised by numbers alone.
  [[nodiscard]] bool counts_suffice(const JobState& job) const;
  [[nodiscard]] policy::BackfillReservation reserve_by_trial(const JobState& job);
  /// When a running job, or one that somebody else started, will leave its resources.
  struct End {
    TimeNs at_ns = base::kNever;
    Slot slot = 0;
    const model::FoundAllocation* found = nullptr;  ///< null: of `slot`
  };
  /// Ascending.
  [[nodiscard]] std::vector<End> ends() const;
  /// Gives released jobs back what they held, the last one first, until `count` are left.
  void restore_released(size_t count);
  void build_tail();
  void keep_in_tail(const Evictable& each);
  /// The GPUs that a running job holds on the present nodes.
  [[nodiscard]] int32_t gpus_here(Slot slot) const {
    return state_.gpus_within(slot, whose_, now_);
  }
  [[nodiscard]] Slot slot_of(Job job) const { return state_.slot_of(job->job); }
  [[nodiscard]] Job job_of(const WaitQueue::Entry* entry) const {
    return entry == nullptr ? nullptr : &state_.job(entry->slot);
  }

  State& state_;
  const policy::PolicySet& of_all_;
  const policy::PolicySet* policies_;  ///< those of whose_
  SharingBooks* books_;
  TimeNs now_;
  uint64_t seed_;
  ReservationId whose_{};  ///< reservation whose jobs and nodes are considered; invalid: none
  std::vector<Released> released_;
  std::vector<Slot> started_;
  std::vector<Evictable> tail_;  ///< heap of the jobs that ran before this decision, last first
  bool has_tail_ = false;
  /// How long a running job is expected to go on.
  struct Expected {
    TimeNs left_ns = 0;
    int32_t gpus = 0;
  };
  std::vector<Expected> expected_;  ///< ascending; as of its first use in this decision
  bool has_expected_ = false;
  ShapeMarks marks_;     ///< shapes that cannot be placed, or would delay the reserved job
  Allocation reserved_;  ///< set by earliest_start if found by trial
  std::optional<TypedBackfillReservation> typed_;  ///< set by earliest_start for a typed job
};

}  // namespace goban::core::scheduler
