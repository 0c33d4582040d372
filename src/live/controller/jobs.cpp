#include "live/controller/jobs.hpp"

#include "base/check.hpp"
#include "live/controller/pilot_part.hpp"
#include "live/controller/pilots.hpp"

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
    if (!submit.predicted.empty()) {
      const size_t place = job.job.index() - first.index();
      job.predicted = submit.predicted[std::min(place, submit.predicted.size() - 1)];
    }
    job.reservation = open_reservation(book, spec.reservation);
    if (job.reservation.valid()) job.spec.reservation = reservation_name(job.reservation);
    LiveJob& added = book.jobs.emplace(job.job, std::move(job)).first->second;
    count(added);
    predicted(added);
    consider(added, at);
  }
}

void Jobs::count(const LiveJob& job) {
  ++unfinished_[job::key_of(job.spec.owner)];
  named_.add(job);
}

void Jobs::discount(const LiveJob& job) {
  const auto counted = unfinished_.find(job::key_of(job.spec.owner));
  if (counted != unfinished_.end() && --counted->second == 0) unfinished_.erase(counted);
  begins_.erase({job.spec.begin_ns, job.job});
  named_.remove(job);
}

void Jobs::cancel(const Cancel& cancel, TimeNs at) {
  if (cancel.results) return give_up_results(cancel, at);
  LiveJob* job = find_unfinished(cancel.job);
  if (job == nullptr) return;
  if (job->detail.empty() && !cancel.by.user.empty()) {
    job->detail = "cancelled by " + cancel.by.user;
  }
  const LiveRun* run = parts_.runs.current(*job);
  const bool is_second = run != nullptr && run->stage == LiveRun::Stage::Stopping &&
                         (run->stop == StopReason::Cancelled || run->stop == StopReason::TimedOut);
  // The second one skips the job's own time, the third the grace.
  const job::StopRequest& stop = job->spec.stop;
  const bool asks = stop.signal > 0 || stop.lead_ns > 0;
  StopUrgency urgency = StopUrgency::Ask;
  if (is_second) {
    const bool is_asked = asks && run->urgency == StopUrgency::Ask;
    urgency = is_asked ? StopUrgency::Terminate : StopUrgency::Kill;
  }
  if (cancel.now) urgency = StopUrgency::Kill;
  const JobId id = job->job;
  withdraw(*job, StopReason::Cancelled, JobResult::Cancelled, at);
  if (const LiveJob* left = find_unfinished(id)) parts_.runs.hurry(*left, urgency);
}

void Jobs::give_up_results(const Cancel& cancel, TimeNs at) {
  const auto found = parts_.book.jobs.find(cancel.job);
  if (found == parts_.book.jobs.end()) return;
  parts_.staging.give_up_results(found->second, cancel.by.user, at);
  settle_dependents(cancel.job, at);
}

void Jobs::hold(JobId id, TimeNs at) {
  LiveJob* job = find_unfinished(id);
  if (job == nullptr) return;
  job->spec.held = true;
  if (job->stage != JobStage::Waiting) return;
  tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = id});
  job->stage = JobStage::Held;
  job->delayed = true;
}

void Jobs::release(JobId id, TimeNs at) {
  const auto found = parts_.book.jobs.find(id);
  if (found == parts_.book.jobs.end()) return;
  LiveJob& job = found->second;
  job.spec.held = false;
  if (job.stage == JobStage::Held) admit(job, at);
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
  stop(job, StopReason::Preempted, at);
  if (parts_.core.knows(id)) {
    tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = id});
  }
  if (pending) enter_core(job, at);  // otherwise when the run has ended
  refresh(job);
}

void Jobs::alter(const Alter& alter, TimeNs at) {
  LiveJob* job = find_unfinished(alter.job);
  if (job == nullptr) return;
  if (alter.array_limit && job->spec.array_limit != *alter.array_limit) {
    alter_array(job->spec.array_first, *alter.array_limit, at);
  }
  if (!alter.walltime_limit_ns && !alter.priority) return;
  if (alter.walltime_limit_ns) job->spec.walltime_limit_ns = *alter.walltime_limit_ns;
  if (alter.priority) job->spec.priority = *alter.priority;
  if (!parts_.core.has_waiting(job->job)) return;
  core::model::JobRequest request = parts_.core.request_of(job->job);
  request.walltime_limit_ns = job->spec.walltime_limit_ns;
  request.priority = job->spec.priority;
  tell_core({.kind = EventKind::JobAltered, .at_ns = at, .job = job->job, .request = &request});
}

void Jobs::alter_array(JobId first, int32_t limit, TimeNs at) {
  JobId known;
  auto& jobs = parts_.book.jobs;
  for (auto task = jobs.lower_bound(first); task != jobs.end(); ++task) {
    if (task->second.spec.array_first != first) continue;
    task->second.spec.array_limit = limit;
    task->second.delayed |= limit > 0;
    if (parts_.core.knows(task->first)) known = task->first;
  }
  if (!known.valid()) return;
  tell_core({.kind = EventKind::ArrayAltered,
             .at_ns = at,
             .job = known,
             .array = {.max_running = limit}});
}

void Jobs::suspend(JobId id, bool suspended, TimeNs at) {
  LiveJob* job = find_unfinished(id);
  if (job == nullptr) return;
  parts_.runs.suspend(*job, suspended, at);
  // What it did before says nothing of its speed from now on.
  if (parts_.core.knows(id)) parts_.observation.restarted(id, at);
  refresh(*job);
}

void Jobs::enter_core(LiveJob& job, TimeNs at) {
  // The engine's user may have changed what decides whether it belongs to the pilot.
  const auto& pilot = parts_.book.pilot;
  if (!job.reservation.valid() || (pilot && job.reservation == pilot->part)) {
    job.reservation = pilot_part(parts_.book, parts_.core, job, at);
  }
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
        if (action.resize) ++book.jobs.at(action.job).resizes;
        stop(book.jobs.at(action.job), StopReason::Preempted, at);
        break;
      case ActionKind::Abandon: {
        LiveJob& job = book.jobs.at(action.job);
        if (parts_.runs.current(job) != nullptr) ++job.breakages;
        stop(job, StopReason::Broken, at);
        break;
      }
      case ActionKind::Observe:
        parts_.observation.watch(action.job, action.until_ns);
        break;
      case ActionKind::Cap:
        parts_.orders.push_back(parts_.limits.set(action.gpu, action.cap));
        break;
      case ActionKind::Rest:
        parts_.orders.emplace_back(RestNode{parts_.core.name_of(action.node)});
        break;
      case ActionKind::Wake:
        parts_.orders.emplace_back(WakeNode{parts_.core.name_of(action.node)});
        break;
    }
  }
}

void Jobs::launch_pending(TimeNs at) {
  for (const JobId job : parts_.runs.launch_pending(at)) refresh(parts_.book.jobs.at(job));
}

void Jobs::begin_due(TimeNs at) {
  while (next_begin_ns() <= at) {
    const auto found = parts_.book.jobs.find(begins_.extract(begins_.begin()).value().second);
    const bool waits = found != parts_.book.jobs.end() && found->second.stage == JobStage::Depends;
    if (waits) consider(found->second, at);
  }
}

void Jobs::stop_at_limits(TimeNs at) {
  for (const JobId job : parts_.runs.over_limit(at)) {
    stop(parts_.book.jobs.at(job), StopReason::TimedOut, at);
  }
}

void Jobs::report_speed(JobId id, TimeNs at) {
  if (parts_.book.jobs.at(id).stage == JobStage::Suspended) return;
  const auto slowdown = parts_.observation.slowdown_of(id, at);
  if (!slowdown) return;
  tell_core({.kind = EventKind::RateObserved, .at_ns = at, .job = id, .slowdown = *slowdown});
}

void Jobs::stop(LiveJob& job, StopReason reason, TimeNs at) {
  parts_.runs.stop(job, reason, at);
  refresh(job);
}

void Jobs::withdraw(LiveJob& job, StopReason reason, JobResult result, TimeNs at) {
  // Without the pending launch, the previous run is the current one; it may be stopping.
  const bool was_pending = parts_.runs.drop_pending(job);
  stop(job, reason, at);
  const bool leaves = parts_.runs.current(job) != nullptr;
  const bool is_in_core = parts_.core.knows(job.job);
  if (is_in_core && (!leaves || was_pending || parts_.core.has_waiting(job.job))) {
    tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
  if (leaves) return refresh(job);
  if (job.engine_id.empty()) return finish(job, result, at);
  // It is over when the engine says so.
  job.withdrawn = true;
  begins_.erase({job.spec.begin_ns, job.job});
  parts_.orders.emplace_back(WithdrawJob{.job = job.job, .engine_id = job.engine_id});
  refresh(job);
}

void Jobs::finish(LiveJob& job, JobResult result, TimeNs at) {
  GOBAN_CHECK(job.result == JobResult::None, "a job ends twice");
  job.result = result;
  job.end_ns = at;
  job.stage = JobStage::Done;
  parts_.runs.forget_limit(job.job);
  parts_.observation.ended(job.job);
  parts_.forecasts.ended(job);
  count_for_pilot(parts_.book, job);
  job.found.clear();
  parts_.staging.ended(job, at);
  if (ends_there(job)) {
    parts_.orders.emplace_back(WithdrawJob{.job = job.job, .engine_id = job.engine_id});
  }
  if (job.managed) {
    discount(job);
    parts_.orders.emplace_back(AccountFor{job.job});
  } else {
    job.accounted = true;  // its site accounts for it
  }
  settle_dependents(job.job, at);
}

// A dependent that never runs settles its own dependents in turn. Uses a stack instead of
// recursion, as chains can be long.
void Jobs::settle_dependents(JobId id, TimeNs at) {
  const LiveJob& settled = parts_.book.jobs.at(id);
  const bool over = is_settled(settled);
  std::vector<JobId> waiting = dependents_.of(id, over);
  if (over) {
    // A singleton waits for all earlier jobs of its name, so at most the first one can go on.
    if (const JobId next = named_.first_like(settled); next.valid()) waiting.push_back(next);
  }
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
    if (waits) consider(job->second, at);
  }
}

void Jobs::consider(LiveJob& job, TimeNs at) {
  if (!job.blocked.empty() || !job.misfit.empty()) {
    job.stage = JobStage::Depends;
    job.delayed = true;
    return;
  }
  DependencyVerdict verdict = judge_dependencies(job, parts_.book);
  if (verdict.state == DependencyState::Never) {
    job.detail = std::move(verdict.detail);
    return finish(job, JobResult::NeverRuns, at);
  }
  const bool is_early = at < job.spec.begin_ns;
  const bool waits = verdict.state == DependencyState::Waiting || named_.blocks(job, parts_.book);
  if (waits || is_early) {
    job.stage = JobStage::Depends;
    dependents_.add(job, parts_.book);
    if (is_early) begins_.emplace(job.spec.begin_ns, job.job);
  } else if (job.spec.held) {
    job.stage = JobStage::Held;
    job.delayed = true;
  } else {
    admit(job, at);
  }
}

void Jobs::admit(LiveJob& job, TimeNs at) {
  if (parts_.staging.prepare(job, at)) return enter_core(job, at);
  job.stage = JobStage::Depends;
}

void Jobs::follow_staging(const Staging::Outcome& outcome, TimeNs at) {
  for (const JobId id : outcome.ready) {
    LiveJob* job = find_unfinished(id);
    if (job != nullptr && job->stage == JobStage::Depends) consider(*job, at);
  }
  for (const JobId id : outcome.failed) {
    LiveJob* job = find_unfinished(id);
    if (job == nullptr) continue;
    job->detail = "its data cannot be staged: " + job->staging.problem;
    finish(*job, JobResult::NeverRuns, at);
  }
  for (const JobId id : outcome.lost) {
    LiveJob* job = find_unfinished(id);
    if (job == nullptr) continue;
    parts_.runs.drop_pending(*job);
    if (parts_.core.knows(id)) {
      tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = id});
    }
    job->stage = JobStage::Depends;
    job->delayed = true;
    refresh(*job);
  }
  for (const JobId id : outcome.settled) settle_dependents(id, at);
}

void Jobs::refresh(LiveJob& job) const {
  if (job.stage == JobStage::Done || !job.managed) return;
  job.stage = parts_.runs.stage_of(job, parts_.core.knows(job.job));
  if (job.withdrawn) job.stage = JobStage::Stopping;
  const LiveRun* run = parts_.runs.current(job);
  job.suspensions = run == nullptr ? Suspensions{} : run->suspensions;
}

void Jobs::forget_old(TimeNs at, TimeNs keep_ns) {
  std::erase_if(parts_.book.jobs, [&](const auto& each) {
    const LiveJob& job = each.second;
    if (!is_settled(job) || !job.accounted) return false;
    if (at < base::add_saturating(job.end_ns, keep_ns)) return false;
    forget_names(job);
    return true;
  });
}

void Jobs::forget_names(const LiveJob& job) {
  const auto forget = [&](auto& names, const std::string& name) {
    const auto found = names.find(name);
    if (found != names.end() && found->second == job.job) names.erase(found);
  };
  if (!job.engine_id.empty()) forget(parts_.book.by_engine_id, job.engine_id);
  if (!job.array_id.empty()) forget(parts_.book.arrays_of_engine, job.array_id);
}

void Jobs::index_book() {
  for (auto& [id, job] : parts_.book.jobs) {
    if (!job.array_id.empty()) parts_.book.arrays_of_engine.emplace(job.array_id, id);
    if (!job.engine_id.empty() && !job.is_gone) parts_.book.by_engine_id[job.engine_id] = id;
    if (const LiveRun* run = parts_.runs.current(job)) job.suspensions = run->suspensions;
    if (job.stage == JobStage::Depends) {
      dependents_.add(job, parts_.book);
      if (job.spec.begin_ns > 0) begins_.emplace(job.spec.begin_ns, id);
    }
    if (job.stage != JobStage::Done && job.managed) count(job);
  }
}

}  // namespace goban::live::controller
