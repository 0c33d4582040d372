// Decisions: made, or carried out again as the journal has them.
#include "core/scheduler/core_image.hpp"
#include "live/controller/controller_state.hpp"

namespace goban::live::controller {

using base::Result;
using core::model::ActionKind;

void Controller::State::before_decision(TimeNs at) {
  clock_ns = std::max(clock_ns, at);
  stop_at_limits(clock_ns);
  follow_reservations(clock_ns);
  forget_old(clock_ns);
  for (const JobId job : observer.watched()) {
    const bool runs = in_core(job) && !core_has_waiting(job);
    if (runs) observe_rate(job, clock_ns);
    if (!runs) observer.give_up(job, clock_ns);
  }
}

void Controller::State::after_decision(TimeNs at) {
  carry_out(std::vector<core::model::Action>(core->last_decision().actions), at);
  restart_disturbed(at);
  (void)core->take_broken();
  launch_pending(at);
}

std::string Controller::decide(TimeNs at) {
  State& state = *state_;
  state.before_decision(at);
  at = state.clock_ns;
  std::string text = decision_text(state.core->decide(at), *state.core);
  state.after_decision(at);
  return text;
}

void Controller::State::fill_reason(JobId job, core::model::Allocation& allocation) const {
  const bool known = in_core(job) && std::ranges::all_of(allocation.gpus, [&](GpuId gpu) {
                       return gpu.value < site.cluster.num_gpus();
                     });
  if (!known || allocation.gpus.empty()) return;
  const auto& facts = core->state();
  core::model::PlacementReason& reason = allocation.reason;
  reason.level = static_cast<uint8_t>(site.cluster.span_level(allocation.gpus));
  reason.product = facts.speed().slowdown(facts.job(facts.slot_of(job)).request, allocation.gpus);
}

Result<bool> Controller::redo(std::string_view decided, bool compare) {
  State& state = *state_;
  auto recorded = parse_decision(decided);
  if (!recorded) return base::failure(recorded.error());
  state.before_decision(recorded->at_ns);
  const TimeNs at = state.clock_ns;
  bool same = !compare;
  if (compare) {
    const core::scheduler::CoreImage image = state.core->image();
    same = decision_text(state.core->decide(at), *state.core) == decided;
    if (same) {
      state.after_decision(at);
      return true;
    }
    state.reset_core();
    if (auto status = state.core->restore(image); !status) return base::failure(status.error());
  }
  size_t starts = 0;
  for (const core::model::Action& action : recorded->actions) {
    if (action.kind != ActionKind::Start) continue;
    state.fill_reason(action.job, recorded->allocations[starts++]);
  }
  if (auto status = state.core->redo(at, recorded->actions, recorded->allocations); !status) {
    return base::failure(status.error());
  }
  state.after_decision(at);
  return same;
}

}  // namespace goban::live::controller
