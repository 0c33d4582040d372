// Selection: which jobs run now. A policy walks the queue on a Board and starts jobs. The board
// keeps the state (free GPUs, evictions, undone evictions), so that a policy contains only its
// algorithm.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/model/job.hpp"
#include "core/policy/preemption/preemption.hpp"

namespace goban::core::policy {

using base::TimeNs;

/// The latest start guaranteed to a waiting job.
struct BackfillReservation {
  TimeNs start_ns = base::kNever;
  /// GPUs that remain free at that time; a job that runs longer may use these.
  int32_t spare_gpus = 0;
};

/// Condition for backfilling a job: GPUs <= free, and it ends in time or fits the spare GPUs.
struct Gap {
  int32_t free_gpus = 0;
  TimeNs duration_ns = base::kNever;
  int32_t spare_gpus = 0;
  /// Jobs that are too long on the GPUs that equal ones would have got in this decision need not
  /// be tried.
  bool by_slowdown = false;
};

/// A decision in progress. Its jobs are the waiting jobs in queue order (in a non-sticky decision:
/// all unfinished jobs). Pointers stay valid until the decision ends.
class Board {
 public:
  using Job = const model::JobState*;
  virtual ~Board() = default;

  [[nodiscard]] virtual TimeNs now() const = 0;
  [[nodiscard]] virtual int32_t free_gpus() const = 0;
  /// No further job can start: no GPU is free, and every waiting job needs one.
  [[nodiscard]] virtual bool full() const = 0;
  [[nodiscard]] virtual Preemption preemption() const = 0;
  /// Among jobs that start together, more sensitive classes are placed first.
  [[nodiscard]] virtual bool class_first() const = 0;

  /// No hard limit forbids the job now. True for each job when it is returned.
  [[nodiscard]] virtual bool may_start(Job job) const = 0;

  /// First job of the queue, or the first one after `job` (which may have been started since).
  [[nodiscard]] virtual Job first() = 0;
  [[nodiscard]] virtual Job after(Job job) = 0;
  /// What the queue knows of a job without looking at it.
  struct Waiting {
    Job job = nullptr;
    uint32_t arrival = 0;  ///< JobState::arrival
    int32_t gpus = 0;      ///< that it needs
  };
  /// The first jobs of the queue, out.size() of them if there are as many; returns their number. As
  /// first() and after(), in one sweep.
  [[nodiscard]] virtual size_t leading(std::span<Waiting> out) = 0;
  /// First job after `job` that may fit the gap; it need not fit.
  [[nodiscard]] virtual Job after_fitting(Job job, const Gap& gap) = 0;
  /// True if more than `count` steps of after() lead from `job` to `later`. False also if hard
  /// limits make that uncertain.
  [[nodiscard]] virtual bool follows_by_more_than(Job job, Job later, int32_t count) const = 0;

  /// Places and starts the job; false if it does not fit the free GPUs.
  virtual bool start(Job job) = 0;
  /// Starts the job if it ends within `gap.duration_ns` or needs at most the spare GPUs; in the
  /// latter case subtracts them from gap.spare_gpus.
  virtual bool start_in_gap(Job job, Gap& gap) = 0;
  /// Sticky decisions: evicts running jobs after `job` in the order, the last one first, until it
  /// fits, then starts it. False if it does not fit; see PolicySet::evict_in_vain.
  virtual bool make_room_and_start(Job job) = 0;

  /// Predicted time for which the job will hold its GPUs; kNever if unknown.
  [[nodiscard]] virtual TimeNs estimate_ns(Job job) const = 0;
  /// Earliest start of `job` if no other job starts before it, from the predicted ends of running
  /// jobs, with the spare GPUs at that time.
  [[nodiscard]] virtual BackfillReservation earliest_start(Job job) = 0;
  /// The waiting job that was promised a start; null if there is none.
  [[nodiscard]] virtual Job promised() { return nullptr; }
  /// Promises the job, and no other any more, the earliest start that limits guarantee; nothing if
  /// there is none.
  virtual void promise(Job job) { (void)job; }
  /// Starts the promised job, if it is late by more than the bound of the policy, on GPUs of
  /// running jobs that can restart: first of those that started after the promise, the last one
  /// first, then of those that were expected to have ended. False if that is not due, or does not
  /// suffice.
  virtual bool redeem_late(Job job) { return (void)job, false; }
  /// The reservation that keeps what was promised; without a promise, as earliest_start().
  [[nodiscard]] virtual BackfillReservation promised_start(Job job) { return earliest_start(job); }
  /// As start_in_gap(), or as make_room_and_start() if the job keeps within the gap.
  virtual bool start_in_gap_or_make_room(Job job, Gap& gap) { return start_in_gap(job, gap); }
  /// Calls `visit(end, gpus)` for each running job, in order of predicted end.
  virtual void visit_ends(const std::function<void(TimeNs, int32_t)>& visit) = 0;
};

/// Selects jobs and starts them on the board.
class Select {
 public:
  virtual ~Select() = default;
  virtual void run(Board& board) const = 0;
};

/// Starts jobs in queue order until one does not fit; returns that one, or null. First step of all
/// selections: the guaranteed prefix (PAL: one round, steps 3 to 5, docs/papers.md), then sticky
/// evictions one by one.
Board::Job start_prefix(Board& board);

}  // namespace goban::core::policy
