// Backfill that keeps a promise: the first job that does not fit is promised the start that the
// walltime limits of running jobs guarantee, and stays first until it starts. Others may start now
// if, by limits, its GPUs will be there at the promised time. As jobs end before their limits, the
// slack grows, and the order (by predictions) says who uses it; a wrong prediction makes nobody
// late. Without limits predictions stand for them, and a promise may be missed. With a bound
// (late_bound_s) it is missed by no more: running jobs that can restart then give way, those that
// started last first, whatever the price.
#include <algorithm>

#include "core/policy/part.hpp"
#include "core/policy/policy_options.hpp"
#include "core/policy/select/select.hpp"

namespace goban::core::policy {
namespace {

/// Jobs behind the first one for which running jobs may be preempted, in one decision.
constexpr int kPreemptFor = 8;

/// The job that waits for its promise, or the first that does not fit; null if all started.
Board::Job first_blocked(Board& board) {
  const Board::Job promised = board.promised();
  if (promised != nullptr && board.may_start(promised)) {
    const bool may_evict = evicts(board.preemption());
    const bool starts = board.start(promised) ||
                        (may_evict && board.make_room_and_start(promised)) ||
                        board.redeem_late(promised);
    if (!starts) return promised;
  }
  const Board::Job head = start_prefix(board);
  if (head != nullptr) board.promise(head);
  return head;
}

class PromiseBackfill final : public Select {
 public:
  void run(Board& board) const override {
    const Board::Job head = first_blocked(board);
    if (head == nullptr) return;
    const BackfillReservation reserved = board.promised_start(head);
    Gap gap;
    gap.duration_ns = reserved.start_ns == base::kNever
                          ? base::kNever
                          : std::max<TimeNs>(reserved.start_ns - board.now(), 0);
    gap.spare_gpus = reserved.spare_gpus;
    if (evicts(board.preemption())) preempt_in_gap(board, head, gap);
    for (Board::Job job = board.first(); job != nullptr && !board.full();) {
      gap.free_gpus = board.free_gpus();
      if (job != head && job->request.num_gpus <= gap.free_gpus) board.start_in_gap(job, gap);
      job = board.after_fitting(job, gap);
    }
  }

 private:
  static void preempt_in_gap(Board& board, Board::Job head, Gap& gap) {
    Board::Job job = board.first();
    for (int tried = 0; job != nullptr && tried < kPreemptFor; ++tried) {
      if (job != head) board.start_in_gap_or_make_room(job, gap);
      job = board.after(job);
    }
  }
};

}  // namespace

extern const Part kPromiseBackfill = {
    .kind = PartKind::Select,
    .name = "promise-backfill",
    .description =
        "the first blocked job starts by the time promised from limits, others fill gaps",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& options) {
          set.select = std::make_unique<PromiseBackfill>();
          set.late_bound_ns = base::from_seconds(options.backfill.late_bound_s);
        },
    .needs_estimates = true,
    .uses_forecasts = true};

}  // namespace goban::core::policy
