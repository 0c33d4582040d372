// A decision in progress: elastic jobs get other sizes.
#include <algorithm>

#include "core/scheduler/decision.hpp"

namespace goban::core::scheduler {

void DecisionBoard::resize(std::span<const SizeChange> changes) {
  const size_t first = released_.size();
  std::vector<const SizeChange*> stopped;
  for (const SizeChange& change : changes) {
    const JobState& job = state_.job(change.slot);
    if (job.phase != model::JobPhase::Running) continue;
    release(change.slot, state_.key(job, now_));
    stopped.push_back(&change);
  }
  for (const SizeChange& change : changes) {
    if (state_.job(change.slot).elastic) set_size_within_limits(change);
    state_.set_withheld(change.slot, change.waits);
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < stopped.size(); ++i) {
    if (!stopped[i]->waits) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](size_t i) { return stopped[i]->size.gpus; });
  for (const size_t i : order) start_resized(*stopped[i], released_[first + i].allocation);
}

void DecisionBoard::set_size_within_limits(const SizeChange& change) {
  const JobState& job = state_.job(change.slot);
  state_.set_size(change.slot, change.size, now_);
  const auto levels = state_.elastic().levels(job, change.size.gpu_model);
  for (auto level = levels.rbegin(); level != levels.rend() && !may_start(&job); ++level) {
    if (level->gpus >= change.size.gpus) continue;
    state_.set_size(change.slot, {.gpus = level->gpus, .gpu_model = change.size.gpu_model}, now_);
  }
}

bool DecisionBoard::start_on(Slot slot, policy::Size size, Allocation allocation) {
  const JobState& job = state_.job(slot);
  state_.set_size(slot, size, now_);
  if (!may_start(&job) || !state_.resources().can_take(job.request, allocation)) return false;
  commit(job, std::move(allocation));
  return true;
}

void DecisionBoard::start_resized(const SizeChange& change, const Allocation& before) {
  const Slot slot = change.slot;
  const JobState& job = state_.job(slot);
  const model::Cluster& cluster = *state_.speed().cluster;
  const policy::Size former{
      .gpus = static_cast<int32_t>(before.gpus.size()),
      .gpu_model = cluster.node(cluster.node_of(before.gpus.front())).gpu_model};
  // It has its GPUs for itself, whoever was there when it started.
  Allocation own = before;
  own.reason.prediction = 0;
  const auto place = [&](policy::Size size) {
    state_.set_size(slot, size, now_);
    Allocation allocation;
    return may_start(&job) && find_free(job, allocation) &&
           start_on(slot, size, std::move(allocation));
  };
  if (place(change.size)) return;
  if (change.size.gpu_model == former.gpu_model && change.size.gpus < former.gpus) {
    Allocation part = own;
    part.gpus.resize(static_cast<size_t>(change.size.gpus));
    if (start_on(slot, change.size, std::move(part))) return;
  }
  if (start_on(slot, former, std::move(own))) return;
  const auto levels = state_.elastic().levels(job, change.size.gpu_model);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (level->gpus >= change.size.gpus) continue;
    if (place({.gpus = level->gpus, .gpu_model = change.size.gpu_model})) return;
  }
  state_.set_size(slot, change.size, now_);
}

}  // namespace goban::core::scheduler
