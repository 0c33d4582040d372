#include "live/controller/jobs.hpp"

#include "base/check.hpp"

namespace goban::live::controller {

using core::model::Action;
using core::model::ActionKind;
using core::model::EventKind;

LiveJob* Jobs::find_unfinished(JobId id) {
  const auto found = parts_.book.jobs.find(id);
  if (found == parts_.book.jobs.end() || found->second.stage == JobStage::Done) return nullptr;
  return &found->second;
}

void Jobs::submit(const Submit& submit, TimeNs at) {
  JobBook& book = parts_.book;
  const JobId first(book.next_job);
  for (const job::JobSpec& spec : submit.jobs) {
    LiveJob job{.job = JobId(book.next_job++), .spec = spec, .submit_ns = at};
    if (spec.array_task >= 0) job.spec.array_first = first;
    job.reservation = open_reservation(book, spec.reservation);
    ++unfinished_[job.spec.owner.uid];
    if (job.reservation.valid()) job.spec.reservation = reservation_name(job.reservation);
    settle_dependencies(book.jobs.emplace(job.job, std::move(job)).first->second, at);
  }
}

void Jobs::cancel(const Cancel& cancel, TimeNs at) {
  LiveJob* job = find_unfinished(cancel.job);
  if (job == nullptr) return;
  if (job->detail.empty() && !cancel.by.user.empty()) {
    job->detail = "cancelled by " + cancel.by.user;
  }
  withdraw(*job, StopReason::Cancelled, JobResult::Cancelled, at);
}

void Jobs::hold(JobId id, TimeNs at) {
  LiveJob* job = find_unfinished(id);
  if (job == nullptr) return;
  job->spec.held = true;
  if (job->stage != JobStage::Waiting) return;
  tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = id});
  job->stage = JobStage::Held;
}

void Jobs::release(JobId id, TimeNs at) {
  const auto found = parts_.book.jobs.find(id);
  if (found == parts_.book.jobs.end()) return;
  LiveJob& job = found->second;
  job.spec.held = false;
  if (job.stage == JobStage::Held) enter_core(job, at);
}

void Jobs::requeue(JobId id, TimeNs at) {
  const auto found = parts_.book.jobs.find(id);
  if (found == parts_.book.jobs.end()) return;
  LiveJob& job = found->second;
  const LiveRun* run = parts_.runs.current(job);
  if (run == nullptr || run->stage == LiveRun::Stage::Stopping || parts_.core.has_waiting(id)) {
    return;
  }
  const bool pending = run->stage == LiveRun::Stage::Pending;
  stop(job, StopReason::Preempted);
  tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = id});
  if (pending) enter_core(job, at);  // otherwise when the run has ended
  refresh(job);
}

void Jobs::enter_core(LiveJob& job, TimeNs at) {
  const DecisionCore::Actions forced = parts_.core.submit(job, at);
  restart_disturbed(at);
  carry_out(forced, at);
  refresh(job);
}

void Jobs::tell_core(const core::model::Event& event) {
  const DecisionCore::Actions forced = parts_.core.apply(event);
  // Progress reported later in the same commit cycle already belongs to the new neighbours.
  restart_disturbed(event.at_ns);
  carry_out(forced, event.at_ns);
}

void Jobs::restart_disturbed(TimeNs at) {
  for (const JobId job : parts_.core.take_disturbed()) {
    if (parts_.core.knows(job)) parts_.observation.restarted(job, at);
  }
}

void Jobs::carry_out(const DecisionCore::Actions& actions, TimeNs at) {
  JobBook& book = parts_.book;
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::Start: {
        LiveJob& job = book.jobs.at(action.job);
        const core::scheduler::Core& core = parts_.core.core();
        parts_.runs.begin(job, core.allocation(job.job), core.tenants() != nullptr, at);
        parts_.observation.restarted(job.job, at);
        refresh(job);
        break;
      }
      case ActionKind::Preempt:
        ++book.jobs.at(action.job).preemptions;
        stop(book.jobs.at(action.job), StopReason::Preempted);
        break;
      case ActionKind::Abandon: {
        LiveJob& job = book.jobs.at(action.job);
        if (parts_.runs.current(job) != nullptr) ++job.breakages;
        stop(job, StopReason::Broken);
        break;
      }
      case ActionKind::Observe:
        parts_.observation.watch(action.job, action.until_ns);
        break;
      case ActionKind::Cap:
        parts_.orders.push_back(parts_.limits.set(action.gpu, action.cap));
        break;
      case ActionKind::Rest:
        parts_.orders.emplace_back(RestNode{action.node});
        break;
      case ActionKind::Wake:
        parts_.orders.emplace_back(WakeNode{action.node});
        break;
    }
  }
}

void Jobs::launch_pending(TimeNs at) {
  for (const JobId job : parts_.runs.launch_pending(at)) refresh(parts_.book.jobs.at(job));
}

void Jobs::stop_at_limits(TimeNs at) {
  for (const JobId job : parts_.runs.over_limit(at)) {
    stop(parts_.book.jobs.at(job), StopReason::TimedOut);
  }
}

void Jobs::report_speed(JobId id, TimeNs at) {
  const auto slowdown = parts_.observation.slowdown_of(id, at);
  if (!slowdown) return;
  tell_core({.kind = EventKind::RateObserved, .at_ns = at, .job = id, .slowdown = *slowdown});
}

void Jobs::stop(LiveJob& job, StopReason reason) {
  parts_.runs.stop(job, reason);
  refresh(job);
}

void Jobs::withdraw(LiveJob& job, StopReason reason, JobResult result, TimeNs at) {
  // Without the pending launch, the previous run is the current one; it may be stopping.
  const bool was_pending = parts_.runs.drop_pending(job);
  stop(job, reason);
  const bool leaves = parts_.runs.current(job) != nullptr;
  const bool is_in_core = parts_.core.knows(job.job);
  if (is_in_core && (!leaves || was_pending || parts_.core.has_waiting(job.job))) {
    tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
  if (leaves) return refresh(job);
  finish(job, result, at);
}

void Jobs::finish(LiveJob& job, JobResult result, TimeNs at) {
  GOBAN_CHECK(job.result == JobResult::None, "a job ends twice");
  job.result = result;
  job.end_ns = at;
  job.stage = JobStage::Done;
  parts_.runs.forget_limit(job.job);
  parts_.observation.ended(job.job);
  if (--unfinished_[job.spec.owner.uid] == 0) unfinished_.erase(job.spec.owner.uid);
  parts_.orders.emplace_back(AccountFor{job.job});
  settle_dependents(job.job, at);
}

// A dependent that never runs settles its own dependents in turn. Uses a stack instead of
// recursion, as chains can be long.
void Jobs::settle_dependents(JobId id, TimeNs at) {
  const bool over = parts_.book.jobs.at(id).stage == JobStage::Done;
  std::vector<JobId> waiting = dependents_.of(id, over);
  if (waiting.empty()) return;
  to_settle_.push_back(std::move(waiting));
  if (to_settle_.size() > 1) return;  // the active loop handles these
  while (!to_settle_.empty()) {
    if (to_settle_.back().empty()) {
      to_settle_.pop_back();
      continue;
    }
    const JobId next = to_settle_.back().back();
    to_settle_.back().pop_back();
    const auto job = parts_.book.jobs.find(next);
    const bool waits = job != parts_.book.jobs.end() && job->second.stage == JobStage::Depends;
    if (waits) settle_dependencies(job->second, at);
  }
}

void Jobs::settle_dependencies(LiveJob& job, TimeNs at) {
  DependencyVerdict verdict = judge_dependencies(job, parts_.book);
  if (verdict.state == DependencyState::Never) {
    job.detail = std::move(verdict.detail);
    return finish(job, JobResult::NeverRuns, at);
  }
  if (verdict.state == DependencyState::Waiting) {
    job.stage = JobStage::Depends;
    dependents_.add(job, parts_.book);
  } else if (job.spec.held) {
    job.stage = JobStage::Held;
  } else {
    enter_core(job, at);
  }
}

void Jobs::refresh(LiveJob& job) const {
  if (job.stage == JobStage::Done) return;
  job.stage = parts_.runs.stage_of(job, parts_.core.knows(job.job));
}

void Jobs::forget_old(TimeNs at, TimeNs keep_ns) {
  std::erase_if(parts_.book.jobs, [&](const auto& each) {
    const LiveJob& job = each.second;
    if (job.stage != JobStage::Done || !job.accounted) return false;
    return at >= base::add_saturating(job.end_ns, keep_ns);
  });
}

void Jobs::index_book() {
  for (const auto& [id, job] : parts_.book.jobs) {
    if (job.stage == JobStage::Depends) dependents_.add(job, parts_.book);
    if (job.stage != JobStage::Done) ++unfinished_[job.spec.owner.uid];
  }
}

}  // namespace goban::live::controller
