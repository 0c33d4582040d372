// Skip: start every job that fits, in queue order; large jobs may starve behind small ones.
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

std::unique_ptr<Select> make_skip() { return std::make_unique<Skip>(); }

}  // namespace goban::core::policy
