// Prefix: start jobs in queue order and stop before the first that does not fit. No job overtakes
// another (PAL: one round, step 3, docs/papers.md).
#include <algorithm>
#include <vector>

#include "core/policy/part.hpp"
#include "core/policy/select/select.hpp"

namespace goban::core::policy {
namespace {

/// Jobs from `job` on whose total demand does not exceed the free GPUs.
std::vector<Board::Job> guaranteed(Board& board, Board::Job job) {
  std::vector<Board::Job> jobs;
  int64_t demand = 0;
  for (; job != nullptr; job = board.after(job)) {
    demand += job->request.num_gpus;
    if (demand > board.free_gpus()) break;
    jobs.push_back(job);
  }
  return jobs;
}

class Prefix final : public Select {
 public:
  void run(Board& board) const override { start_prefix(board); }
};

}  // namespace

Board::Job start_prefix(Board& board) {
  if (board.class_first()) {
    std::vector<Board::Job> jobs = guaranteed(board, board.first());
    std::ranges::stable_sort(jobs, {}, [](Board::Job j) { return j->request.app_class; });
    for (const Board::Job each : jobs) {
      if (board.may_start(each) && !board.start(each)) return each;
    }
  }
  // Started jobs leave the queue, so its first job is always the next.
  const bool may_evict = evicts(board.preemption());
  for (;;) {
    const Board::Job job = board.first();
    if (job == nullptr) return job;
    if (!board.start(job) && !(may_evict && board.make_room_and_start(job))) return job;
  }
}

extern const Part kPrefix = {
    .kind = PartKind::Select,
    .name = "prefix",
    .description = "start in order, stop at the first job that does not fit",
    .install = put<&PolicySet::select, Prefix>};

}  // namespace goban::core::policy
