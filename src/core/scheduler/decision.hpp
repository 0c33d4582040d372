// One decision in the making: the Board on which a selection policy moves.
#pragma once

#include <optional>
#include <vector>

#include "core/policy/select/select.hpp"
#include "core/scheduler/sharing_books.hpp"
#include "core/scheduler/state.hpp"
#include "core/scheduler/typed_backfill_reservation.hpp"

namespace goban::core::scheduler {

/// What feeds a placement that draws: differs by job and by decision.
[[nodiscard]] inline uint64_t placement_seed(uint64_t seed, JobId job, TimeNs now) {
  return seed ^ (uint64_t{job.value} << 20) ^ (static_cast<uint64_t>(now) * 0x9e3779b97f4a7c15ULL);
}

/// Runs jobs on the state as the selection says, and remembers who was released on the way.
class DecisionBoard final : public policy::Board {
 public:
  /// `books` is null if GPUs are not shared.
  DecisionBoard(State& state, const policy::PolicySet& policies, SharingBooks* books, TimeNs now,
                uint64_t seed);

  TimeNs now() const override { return now_; }
  int32_t free_gpus() const override { return state_.resources().free_gpus(whose_, now_); }
  bool full() const override;
  policy::Preemption preemption() const override { return policies_.preemption; }
  bool class_first() const override { return policies_.placement->class_first(); }
  bool may_start(Job job) const override { return state_.limit_on(*job) == Accounts::kNone; }
  Job first() override;
  Job after(Job job) override;
  Job after_fitting(Job job, const policy::Gap& gap) override;
  bool start(Job job) override;
  bool start_in_gap(Job job, policy::Gap& gap) override;
  bool make_room_and_start(Job job) override;
  TimeNs estimate_ns(Job job) const override;
  policy::BackfillReservation earliest_start(Job job) override;
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

  /// From here on it is about the jobs and nodes of that reservation; before, about those of none.
  void enter(ReservationId whose);
  /// Shared places for waiting jobs that the selection left, `depth` of them at most.
  void share_behind(int32_t depth);
  /// Releases every running job, in queue order (non-sticky decisions).
  void release_all();

 private:
  struct Evictable {
    policy::OrderKey key;
    Slot slot = 0;
    int32_t gpus = 0;
  };

  [[nodiscard]] bool find(const JobState& job, Allocation& out);
  [[nodiscard]] bool find_free(const JobState& job, Allocation& out);
  /// Also remembers the shapes of jobs that find no place.
  [[nodiscard]] bool find_or_mark(const JobState& job, Allocation& out);
  /// The job may hold this beyond the start of the reserved one; it counts as taken then.
  [[nodiscard]] bool leaves_reserved(const JobState& job, const Allocation& allocation);
  void commit(const JobState& job, Allocation allocation);
  /// True if no hard limit forbids the job; else it is set aside.
  [[nodiscard]] bool within_limits(Job job);
  void release(Slot slot, const policy::OrderKey& key);
  /// The same on shared GPUs, which are free only once everybody on them left: tried out first, and
  /// only whom the job replaces has to go.
  [[nodiscard]] bool make_room_by_trial(const JobState& job);
  [[nodiscard]] HoldSpan hold_of(const JobState& job, TimeNs from) const;
  [[nodiscard]] bool gives_way(const Evictable& each, const JobState& job) const;
  /// It is not to be interrupted for others.
  [[nodiscard]] bool spared(const JobState& job) const;
  [[nodiscard]] policy::BackfillReservation reserve_by_trial(const JobState& job);
  void build_tail();
  void keep_in_tail(const Evictable& each);
  [[nodiscard]] Slot slot_of(Job job) const { return state_.slot_of(job->job); }
  [[nodiscard]] Job job_of(const WaitQueue::Entry* entry) const {
    return entry == nullptr ? nullptr : &state_.job(entry->slot);
  }

  State& state_;
  const policy::PolicySet& policies_;
  SharingBooks* books_;
  TimeNs now_;
  uint64_t seed_;
  ReservationId whose_{};  ///< whose jobs and nodes this is about; invalid: those of nobody
  std::vector<Released> released_;
  std::vector<Slot> started_;
  std::vector<Evictable> tail_;  ///< heap of the jobs that ran before this decision, last first
  bool has_tail_ = false;
  ShapeMarks marks_;     ///< shapes that found no place, or would delay the reserved job
  Allocation reserved_;  ///< what earliest_start set aside, if it had to try
  std::optional<TypedBackfillReservation> typed_;  ///< likewise, for a typed job
};

}  // namespace goban::core::scheduler
