// The first jobs of the queue, for selections that show them to somebody.
#include "core/scheduler/decision.hpp"

namespace goban::core::scheduler {

size_t DecisionBoard::leading(std::span<Waiting> out) {
  size_t count = 0;
  if (out.empty()) return count;
  // Jobs that may not start are left out, which only the job itself tells.
  if (state_.accounts().has_limits() || state_.num_withheld() > 0) {
    for (Job job = first(); job != nullptr && count < out.size(); job = after(job)) {
      out[count++] = {job, job->arrival, job->request.num_gpus};
    }
    return count;
  }
  state_.queue(whose_).visit([&](const WaitQueue::Entry& entry) {
    out[count++] = {job_of(&entry), entry.key.arrival, entry.gpus};
    return count < out.size();
  });
  return count;
}

}  // namespace goban::core::scheduler
