// Selection: who runs now. A policy walks the queue on a Board and starts jobs; the board keeps
// the books (free GPUs, evictions, what is undone) so that each policy is its bare algorithm.
#pragma once

#include <cstdint>
#include <functional>

#include "core/model/job_state.hpp"
#include "core/policy/preemption/preemption.hpp"

namespace goban::core::policy {

using base::TimeNs;

/// A promise to a waiting job: when it can start at the latest.
struct BackfillReservation {
  TimeNs start_ns = base::kNever;
  /// GPUs left beside it then; a job that runs longer may use these.
  int32_t spare_gpus = 0;
};

/// What a job looking for a gap must satisfy: GPUs <= free, and it ends in time or fits the spare.
struct Gap {
  int32_t free_gpus = 0;
  TimeNs duration_ns = base::kNever;
  int32_t spare_gpus = 0;
};

/// One decision in the making. Jobs handed out are waiting jobs in queue order (in a non-sticky
/// decision: all active jobs). Pointers stay valid until the decision ends.
class Board {
 public:
  using Job = const model::JobState*;
  virtual ~Board() = default;

  [[nodiscard]] virtual TimeNs now() const = 0;
  [[nodiscard]] virtual int32_t free_gpus() const = 0;
  /// No further job can start: no GPU is free, and no waiting job does without.
  [[nodiscard]] virtual bool full() const = 0;
  [[nodiscard]] virtual Preemption preemption() const = 0;
  /// More sensitive classes choose first among jobs that start together.
  [[nodiscard]] virtual bool class_first() const = 0;

  /// No hard limit of its account forbids the job now. True of each job when it is handed out.
  [[nodiscard]] virtual bool may_start(Job job) const = 0;

  /// First job of the queue, or the first one behind `job` (which may have been started since).
  [[nodiscard]] virtual Job first() = 0;
  [[nodiscard]] virtual Job after(Job job) = 0;
  /// First job behind `job` that may fit the gap. May return one that does not fit after all.
  [[nodiscard]] virtual Job after_fitting(Job job, const Gap& gap) = 0;

  /// Places and starts the job; false if it does not fit the free GPUs.
  virtual bool start(Job job) = 0;
  /// Starts it only if it ends by `gap.duration_ns` from now or needs at most the spare GPUs;
  /// in the latter case takes them off gap.spare_gpus.
  virtual bool start_in_gap(Job job, Gap& gap) = 0;
  /// Sticky decisions: evicts running jobs behind `job`, last in order first, until it fits, then
  /// starts it. False if it does not fit; see PolicySet::evict_in_vain for what stays evicted.
  virtual bool make_room_and_start(Job job) = 0;

  /// Time for which the job will hold its GPUs, as far as known; kNever if unknown.
  [[nodiscard]] virtual TimeNs estimate_ns(Job job) const = 0;
  /// When `job` can start if nobody else starts before it, from the predicted ends of running
  /// jobs, and what is spare then.
  [[nodiscard]] virtual BackfillReservation earliest_start(Job job) = 0;
  /// Calls `visit(end, gpus)` for each running job, in order of predicted end.
  virtual void visit_ends(const std::function<void(TimeNs, int32_t)>& visit) = 0;
};

/// Selects jobs and starts them on the board.
class Select {
 public:
  virtual ~Select() = default;
  virtual void run(Board& board) const = 0;
};

/// Starts jobs in queue order until one does not fit; returns that one, or null. Shared by all
/// selections: the guaranteed prefix (PAL spec 4.3 to 4.5), then sticky evictions one by one.
Board::Job start_prefix(Board& board);

}  // namespace goban::core::policy
