// Skip: start every job that fits, in queue order; small jobs may starve large ones.
#include "core/policy/part.hpp"
#include "core/policy/select/select.hpp"

namespace goban::core::policy {
namespace {

class Skip final : public Select {
 public:
  void run(Board& board) const override {
    Board::Job job = start_prefix(board);
    while (job != nullptr && !board.full()) {
      job = board.after_fitting(job, {.free_gpus = board.free_gpus()});
      if (job != nullptr) board.start(job);
    }
  }
};

}  // namespace

extern const Part kSkip = {
    .kind = PartKind::Select,
    .name = "skip",
    .description = "start every job that fits, in order; large jobs may starve",
    .install = put<&PolicySet::select, Skip>};

}  // namespace goban::core::policy
