// Applies recorded decisions: for journals of releases that decided differently.
#include <algorithm>
#include <fmt/format.h>

#include "core/policy/sharing/tenant_set.hpp"
#include "core/scheduler/core.hpp"

namespace goban::core::scheduler {

using model::ActionKind;
using model::JobPhase;

base::Status Core::redo(TimeNs now, std::span<const Action> actions,
                        std::span<const Allocation> allocations) {
  begin_decision(now);
  if (books_) begin_review(now);
  (void)migration_is_due(now);
  size_t starts = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    Action action = actions[i];
    std::string problem;
    switch (action.kind) {
      case ActionKind::Start:
        problem = starts < allocations.size() ? redo_start(action, allocations[starts++], now)
                                              : "its allocation is missing";
        break;
      case ActionKind::Preempt:
      case ActionKind::Abandon:
        problem = redo_stop(action, now);
        break;
      case ActionKind::Observe:  // recomputed below from the jobs that join others
        break;
      case ActionKind::Cap:
        problem = redo_cap(action);
        break;
      case ActionKind::Rest:
      case ActionKind::Wake:
        problem = redo_node(action);
        break;
    }
    if (!problem.empty()) {
      return base::bad_data(
          {}, fmt::format("action {} of a recorded decision is invalid: {}", i + 1, problem),
          "use the configuration with which the journal was written");
    }
    if (action.kind != ActionKind::Start) decision_.actions.push_back(action);
  }
  follow_neighbours();
  if (!books_) return {};
  books_->settle(state_.tenants());
  std::vector<Action> announced;
  books_->announce(announced);
  std::erase_if(decision_.actions, [](const Action& a) { return a.kind == ActionKind::Observe; });
  decision_.actions.insert(decision_.actions.end(), announced.begin(), announced.end());
  books_->reviewed(state_.tenants());
  const std::vector<JobId> capped = state_.tenants().take_changed();
  disturbed_.insert(disturbed_.end(), capped.begin(), capped.end());
  return {};
}

std::string Core::redo_stop(const Action& action, TimeNs now) {
  if (!state_.is_active(action.job)) return fmt::format("job id {} is unknown", action.job.value);
  const Slot slot = state_.slot_of(action.job);
  if (state_.job(slot).phase != JobPhase::Running) {
    return fmt::format("job id {} is not running", action.job.value);
  }
  SharingBooks::Leaver leaver{.job = action.job, .beside = {}};
  if (books_) leaver.beside = books_->partners(action.job);
  (void)state_.stop(slot, now);
  if (books_ && action.undo) books_->undone(leaver);
  decision_.terminated.push_back(action.job);
  follow_neighbours();
  return {};
}

void Core::resize_for(Slot slot, const Allocation& allocation, TimeNs now) {
  const JobState& job = state_.job(slot);
  const auto gpus = static_cast<int32_t>(allocation.gpus.size());
  if (!job.elastic || gpus < job.training.gpus_min || gpus > job.training.gpus_max) return;
  const model::Cluster& cluster = *state_.speed().cluster;
  if (allocation.gpus.front().index() >= cluster.num_gpus()) return;
  const model::NodeId node = cluster.node_of(allocation.gpus.front());
  state_.set_size(slot, {.gpus = gpus, .gpu_model = cluster.node(node).gpu_model}, now);
}

std::string Core::redo_start(const Action& action, const Allocation& allocation, TimeNs now) {
  if (!state_.is_active(action.job)) return fmt::format("job id {} is unknown", action.job.value);
  const Slot slot = state_.slot_of(action.job);
  const JobState& job = state_.job(slot);
  if (job.phase != JobPhase::Waiting) {
    return fmt::format("job id {} is not waiting", action.job.value);
  }
  resize_for(slot, allocation, now);
  if (std::ssize(allocation.gpus) != job.request.num_gpus) {
    return fmt::format("job id {} requests {} GPUs and would get {}", action.job.value,
                       job.request.num_gpus, allocation.gpus.size());
  }
  if (!state_.resources().can_take(job.request, allocation)) {
    return fmt::format("job id {} cannot take these GPUs or nodes", action.job.value);
  }
  const bool joins = books_ && state_.resources().is_held(allocation.gpus);
  state_.start(slot, allocation, now);
  if (joins) books_->begin(action.job, state_.tenants());
  if (books_) books_->started(action.job);
  decision_.placed.push_back(action.job);
  Action done = action;
  const auto last = state_.last_gpus(slot);
  done.same_gpus = !last.empty() && holds_same_gpus(slot, last);
  decision_.actions.push_back(done);
  return {};
}

std::string Core::redo_cap(const Action& action) {
  if (action.gpu.index() >= state_.speed().cluster->num_gpus()) {
    return fmt::format("unknown GPU {}", action.gpu.value);
  }
  if (!books_) return {};
  const model::Cluster& cluster = *state_.speed().cluster;
  const uint32_t gpu_model = cluster.node(cluster.node_of(action.gpu)).gpu_model;
  const knowledge::PowerModel* power = policy::power_model(*books_, gpu_model);
  if (action.cap >= 0 && (power == nullptr || action.cap >= std::ssize(power->caps))) {
    return fmt::format("unknown power limit {} for GPU {}", int{action.cap}, action.gpu.value);
  }
  books_->capped(action.gpu, action.cap);
  return {};
}

std::string Core::redo_node(const Action& action) {
  if (action.node.index() >= state_.speed().cluster->nodes().size()) {
    return fmt::format("unknown node {}", action.node.value);
  }
  NodePower& nodes = state_.node_power();
  if (action.kind == ActionKind::Wake) {
    return nodes.wake_one(action.node) ? ""
                                       : fmt::format("node {} is not asleep", action.node.value);
  }
  if (!state_.resources().idle(action.node) || !nodes.rest(action.node)) {
    return fmt::format("node {} is not idle", action.node.value);
  }
  state_.resources().close(action.node);
  return {};
}

}  // namespace goban::core::scheduler
