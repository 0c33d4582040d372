// EASY backfill (Lifka 1995): the first job that does not fit gets a backfill reservation; jobs
// after it may start now if they do not delay it.
#include "core/policy/part.hpp"
#include "core/policy/select/select.hpp"

namespace goban::core::policy {
namespace {

class EasyBackfill final : public Select {
 public:
  void run(Board& board) const override {
    const Board::Job head = start_prefix(board);
    if (head == nullptr || board.full()) return;
    const BackfillReservation reserved = board.earliest_start(head);
    Gap gap;
    gap.duration_ns =
        reserved.start_ns == base::kNever ? base::kNever : reserved.start_ns - board.now();
    gap.spare_gpus = reserved.spare_gpus;
    gap.by_slowdown = true;
    for (Board::Job job = head; !board.full();) {
      gap.free_gpus = board.free_gpus();
      job = board.after_fitting(job, gap);
      if (job == nullptr) return;
      board.start_in_gap(job, gap);
    }
  }
};

}  // namespace

extern const Part kEasyBackfill = {
    .kind = PartKind::Select,
    .name = "easy-backfill",
    .description = "the first blocked job gets a backfill reservation, others fill gaps",
    .install = put<&PolicySet::select, EasyBackfill>,
    .needs_estimates = true};

}  // namespace goban::core::policy
