// The state of the core: arrays with a limit of running tasks.
#include <algorithm>

#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

using model::JobPhase;

void State::release_array_place(model::ArrayId array, TimeNs now) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return;
  ArrayBooks& books = found->second;
  if (books.held.empty() || books.surplus > 0) {
    --books.active;
    books.surplus = std::max(books.surplus - 1, 0);
    return;
  }
  const Slot next = books.held.front();
  books.held.pop_front();
  wait(next, now);
}

std::vector<Slot> State::tasks_of(model::ArrayId array) const {
  std::vector<Slot> out;
  for (const Slot slot : slot_of_job_) {
    if (slot != kNoSlot && jobs_[slot].request.array == array) out.push_back(slot);
  }
  std::ranges::sort(out, {}, [this](Slot slot) { return jobs_[slot].arrival; });
  return out;
}

void State::hold_task(Slot slot, ArrayBooks& books) {
  dequeue(slot);
  demand_gpus_ -= jobs_[slot].request.num_gpus;
  jobs_[slot].phase = JobPhase::Held;
  const auto later = std::ranges::upper_bound(books.held, jobs_[slot].arrival, {},
                                              [this](Slot each) { return jobs_[each].arrival; });
  books.held.insert(later, slot);
  --books.active;
}

void State::alter_array(model::ArrayId array, int32_t max_running, TimeNs now) {
  const std::vector<Slot> tasks = tasks_of(array);
  ArrayBooks& books = arrays_[array];
  books.active = static_cast<int32_t>(std::ranges::count_if(
      tasks, [this](Slot slot) { return jobs_[slot].phase != JobPhase::Held; }));
  while (!books.held.empty() && (max_running == 0 || books.active < max_running)) {
    const Slot next = books.held.front();
    books.held.pop_front();
    ++books.active;
    wait(next, now);
  }
  if (max_running == 0) {
    arrays_.erase(array);
    return;
  }
  for (auto task = tasks.rbegin(); task != tasks.rend() && books.active > max_running; ++task) {
    if (jobs_[*task].phase == JobPhase::Waiting) hold_task(*task, books);
  }
  books.surplus = std::max(books.active - max_running, 0);
}

}  // namespace goban::core::scheduler
