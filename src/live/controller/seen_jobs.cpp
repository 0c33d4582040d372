#include "live/controller/seen_jobs.hpp"

#include <algorithm>
#include <utility>

#include "live/controller/input_checks.hpp"
#include "live/controller/node_parts.hpp"
#include "live/controller/part_types.hpp"

namespace goban::live::controller {

using core::model::EventKind;

namespace {

JobResult result_of(GoneHow how, bool ran) {
  switch (how) {
    case GoneHow::Unknown:
      return ran ? JobResult::NodeFailed : JobResult::Cancelled;
    case GoneHow::Completed:
      return JobResult::Completed;
    case GoneHow::Failed:
      return JobResult::Failed;
    case GoneHow::Cancelled:
      return JobResult::Cancelled;
    case GoneHow::TimedOut:
      return JobResult::TimedOut;
    case GoneHow::OutOfMemory:
      return JobResult::OutOfMemory;
    case GoneHow::NodeFailed:
      return JobResult::NodeFailed;
  }
  return JobResult::Failed;
}

/// When the job reaches its walltime limit.
TimeNs end_of(const LiveJob& job, TimeNs start_ns) {
  const TimeNs limit_ns = job.spec.walltime_limit_ns;
  return limit_ns > 0 ? base::add_saturating(start_ns, limit_ns) : base::kNever;
}

/// Whether the core can place a job of the engine's queue.
base::Status check_fit(const LiveJob& job, const Site& site) {
  if (!job.engine_id.empty() && job.spec.resource_type.empty()) {
    return check_parts(job.spec, site.cluster, site.parts_share_nodes);
  }
  return check_request(job.spec, site);
}

}  // namespace

LiveJob* SeenJobs::find(const std::string& id) {
  const auto found = parts_.book.by_engine_id.find(id);
  if (found == parts_.book.by_engine_id.end()) return nullptr;
  const auto job = parts_.book.jobs.find(found->second);
  return job == parts_.book.jobs.end() ? nullptr : &job->second;
}

LiveJob& SeenJobs::add(const JobSeen& seen, TimeNs at) {
  JobBook& book = parts_.book;
  LiveJob made{.job = JobId(book.next_job++), .stage = JobStage::Held, .submit_ns = at};
  if (seen.submit_ns > 0) made.submit_ns = std::min(seen.submit_ns, at);
  made.engine_id = seen.id;
  made.array_id = seen.array;
  made.managed = false;  // until follow_managed()
  book.by_engine_id[seen.id] = made.job;
  if (!seen.array.empty()) book.arrays_of_engine.emplace(seen.array, made.job);
  LiveJob& job = book.jobs.emplace(made.job, std::move(made)).first->second;
  describe(job, seen);
  if (seen.managed) {
    job.predicted = seen.predicted;
    parts_.jobs.predicted(job);
  }
  return job;
}

void SeenJobs::describe(LiveJob& job, const JobSeen& seen) const {
  const bool held_here = job.spec.held;
  job.spec = seen.spec;
  job.spec.held = held_here;
  job.spec.payload.clear();
  job.spec.array_first = {};
  const auto array = parts_.book.arrays_of_engine.find(job.array_id);
  const bool is_task = !job.array_id.empty() && array != parts_.book.arrays_of_engine.end();
  if (is_task && job.spec.array_task >= 0) job.spec.array_first = array->second;
  if (!is_task) job.spec.array_task = -1;
  job.blocked = seen.blocked;
  if (job.blocked.empty() && seen.spec.held) job.blocked = "held by its user";
}

void SeenJobs::take(const JobSeen& seen, TimeNs at) {
  LiveJob* job = find(seen.id);
  if (job == nullptr) {
    if (!seen.managed && seen.state == SeenState::Waiting) return;
    job = &add(seen, at);
  }
  if (job->stage == JobStage::Done) {  // JobGone follows
    if (ends_there(*job)) {
      parts_.orders.emplace_back(WithdrawJob{.job = job->job, .engine_id = job->engine_id});
    }
    return;
  }
  if (seen.managed) return follow_managed(*job, seen, at);
  follow_unmanaged(*job, seen, at);
}

void SeenJobs::follow_unmanaged(LiveJob& job, const JobSeen& seen, TimeNs at) {
  if (job.managed) {
    clear(job, {}, at);
    parts_.jobs.discount(job);
    job.managed = false;
    job.withdrawn = false;
  }
  describe(job, seen);
  if (seen.state == SeenState::Waiting) {
    let_go(job, at);
    job.stage = JobStage::Waiting;
    job.run_start_ns = -1;
    return;
  }
  job.stage = JobStage::Running;
  if (job.run_start_ns < 0) {
    job.run_start_ns = seen.start_ns < 0 ? at : std::min(seen.start_ns, at);
  }
  if (job.first_start_ns < 0) job.first_start_ns = job.run_start_ns;
  hold(job, seen.parts, end_of(job, job.run_start_ns), at);
}

void SeenJobs::follow_managed(LiveJob& job, const JobSeen& seen, TimeNs at) {
  if (!job.managed) {
    let_go(job, at);
    job.run_start_ns = -1;
    job.stage = JobStage::Held;
    describe(job, seen);
    job.managed = true;
    parts_.jobs.count(job);
  }
  if (seen.state == SeenState::Waiting) return follow_waiting(job, seen, at);
  if (job.withdrawn) {
    parts_.orders.emplace_back(WithdrawJob{.job = job.job, .engine_id = job.engine_id});
  }
  LiveRun* run = parts_.runs.current(job);
  const bool is_ours = run != nullptr && run->stage != LiveRun::Stage::Pending &&
                       (run->run == seen.run || run->found);
  if (is_ours) {
    parts_.runs.started(job, *run, true, at);
    given(job, *run, seen.parts, at);
    return parts_.jobs.refresh(job);
  }
  // An order that the engine has not answered goes first.
  for (const auto& [id, each] : parts_.book.runs) {
    if (id.job == job.job && each.stage != LiveRun::Stage::Pending) return;
  }
  parts_.runs.drop_pending(job);
  adopt(job, seen, at);
}

void SeenJobs::adopt(LiveJob& job, const JobSeen& seen, TimeNs at) {
  if (parts_.core.knows(job.job)) {
    parts_.jobs.tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
  LiveRun run{.run = {.job = job.job, .run = ++job.runs},
              .stage = LiveRun::Stage::Running,
              .ordered_ns = at,
              .started_ns = at,
              .found = true};
  job.run_start_ns = at;
  job.shares = false;
  job.why = {};
  LiveRun& made = parts_.book.runs.emplace(run.run, std::move(run)).first->second;
  hold(job, seen.parts, end_of(job, seen.start_ns < 0 ? at : seen.start_ns), at);
  made.gpus = job.gpus;
  parts_.orders.emplace_back(AdoptRun{parts_.runs.launch_order(made)});
  if (job.first_start_ns < 0) {
    job.first_start_ns = at;
    parts_.jobs.settle_dependents(job.job, at);
  }
  parts_.jobs.refresh(job);
}

void SeenJobs::follow_waiting(LiveJob& job, const JobSeen& seen, TimeNs at) {
  if (LiveRun* run = parts_.runs.current(job); run != nullptr) {
    const bool is_pending = run->stage == LiveRun::Stage::Pending;
    if (!is_pending && !run->found) return;  // the engine answers the order
    if (!is_pending) {
      // The engine requeued what it had started itself.
      const LiveRun ended = parts_.runs.end(job, run->run, Report{}, at);
      left(job, ended, at);
      const bool goes_on = ended.stage != LiveRun::Stage::Stopping ||
                           ended.stop == StopReason::Preempted || ended.stop == StopReason::Broken;
      if (!goes_on) job.withdrawn = true;
    }
  }
  if (job.withdrawn) {
    parts_.orders.emplace_back(WithdrawJob{.job = job.job, .engine_id = job.engine_id});
    return parts_.jobs.refresh(job);
  }
  const job::JobSpec before = job.spec;
  parts_.jobs.discount(job);
  describe(job, seen);
  parts_.jobs.count(job);
  const auto fits = check_fit(job, parts_.core.site());
  job.misfit = fits ? "" : fits.error().message;
  const bool knows = parts_.core.knows(job.job);
  if (knows && !parts_.core.has_waiting(job.job)) return;  // placed: the request cannot change now
  job::JobSpec altered = before;
  altered.walltime_limit_ns = job.spec.walltime_limit_ns;
  altered.priority = job.spec.priority;
  if (knows && job.blocked.empty() && fits && altered == job.spec) {
    if (before == job.spec) return;
    core::model::JobRequest request = parts_.core.request_of(job.job);
    request.walltime_limit_ns = job.spec.walltime_limit_ns;
    request.priority = job.spec.priority;
    return parts_.jobs.tell_core(
        {.kind = EventKind::JobAltered, .at_ns = at, .job = job.job, .request = &request});
  }
  if (knows) {
    parts_.jobs.tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
  if (parts_.runs.current(job) == nullptr) parts_.jobs.consider(job, at);
}

void SeenJobs::hold(LiveJob& job, const std::vector<NodePart>& parts, TimeNs until_ns, TimeNs at) {
  core::model::FoundAllocation found = allocation_of(parts_.core.site().cluster, parts);
  found.until_ns = until_ns;
  job.found = parts;
  job.gpus = found.gpus;
  const auto& known = parts_.core.state().found();
  const auto same = known.find({job.job, GpuId{}});
  if (same != known.end() && same->second == found) return;
  parts_.jobs.tell_core(
      {.kind = EventKind::JobFound, .at_ns = at, .job = job.job, .found = &found});
  // Nothing new starts on the node until those have left who stood in the way.
  for (const auto& [id, run] : parts_.book.runs) {
    if (run.stage != LiveRun::Stage::Stopping || id.job == job.job) continue;
    for (const GpuId gpu : run.gpus) {
      if (std::ranges::find(found.gpus, gpu) == found.gpus.end()) continue;
      parts_.nodes.hold(parts_.core.site().cluster.node_of(gpu),
                        "a job that was started elsewhere holds GPUs of a stopping job", at,
                        base::kNever);
    }
  }
}

void SeenJobs::let_go(LiveJob& job, TimeNs at) {
  job.found.clear();
  if (!parts_.core.state().found().contains({job.job, GpuId{}})) return;
  parts_.jobs.tell_core({.kind = EventKind::FoundOver, .at_ns = at, .job = job.job});
}

void SeenJobs::given(LiveJob& job, LiveRun& run, const std::vector<NodePart>& parts, TimeNs at) {
  if (parts.empty()) return;
  if (!run.found) {
    std::vector<GpuId> gpus = gpus_of(parts_.core.site().cluster, parts);
    std::vector<GpuId> ordered = run.gpus;
    std::ranges::sort(gpus);
    std::ranges::sort(ordered);
    if (gpus == ordered) return;
    const bool is_placed = parts_.core.knows(job.job) && !parts_.core.has_waiting(job.job);
    if (is_placed && run.run.run == job.runs) {
      parts_.jobs.tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
    }
    run.found = true;
    exchange(run, gpus, std::move(ordered), at);
  }
  hold(job, parts, end_of(job, run.started_ns < 0 ? at : run.started_ns), at);
  run.gpus = gpus_of(parts_.core.site().cluster, parts);
}

void SeenJobs::exchange(const LiveRun& run, const std::vector<GpuId>& now,
                        std::vector<GpuId> before, TimeNs at) {
  const core::model::Cluster& cluster = parts_.core.site().cluster;
  const auto is_taken = [&](GpuId gpu) { return std::ranges::find(now, gpu) != now.end(); };
  std::erase_if(before, is_taken);
  std::vector<RunId> ordered;
  for (const auto& [id, other] : parts_.book.runs) {
    const LiveJob& job = parts_.book.jobs.at(id.job);
    const bool waits = other.stage == LiveRun::Stage::Ordered && !other.found;
    const bool is_latest = id.job != run.run.job && id.run == job.runs && parts_.core.knows(id.job);
    if (waits && is_latest && !job.engine_id.empty() && std::ranges::any_of(other.gpus, is_taken)) {
      ordered.push_back(id);
    }
  }
  for (const RunId id : ordered) {
    LiveRun& other = *parts_.runs.find(id);
    std::vector<GpuId> gpus = other.gpus;
    std::vector<GpuId> left = before;
    for (GpuId& gpu : gpus) {
      if (!is_taken(gpu)) continue;
      const auto instead = std::ranges::find_if(
          left, [&](GpuId each) { return cluster.node_of(each) == cluster.node_of(gpu); });
      if (instead == left.end()) break;
      gpu = *instead;
      left.erase(instead);
    }
    if (std::ranges::any_of(gpus, is_taken)) continue;  // more is taken: it really collides
    before = std::move(left);
    parts_.jobs.tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = id.job});
    other.found = true;
    other.gpus = gpus;
    LiveJob& job = parts_.book.jobs.at(id.job);
    hold(job, parts_.runs.launch_order(other).parts, end_of(job, at), at);
  }
}

void SeenJobs::left(LiveJob& job, const LiveRun& run, TimeNs at) {
  if (run.found) let_go(job, at);
}

void SeenJobs::clear(LiveJob& job, const Report& end, TimeNs at) {
  parts_.runs.drop_pending(job);
  std::vector<RunId> runs;
  for (const auto& [id, run] : parts_.book.runs) {
    if (id.job == job.job) runs.push_back(id);
  }
  for (const RunId id : runs) (void)parts_.runs.end(job, id, end, at);
  let_go(job, at);
  if (parts_.core.knows(job.job)) {
    parts_.jobs.tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
}

void SeenJobs::take(const JobGone& gone, TimeNs at) {
  LiveJob* job = find(gone.id);
  parts_.book.by_engine_id.erase(gone.id);
  if (job == nullptr) return;
  job->is_gone = true;
  // Another job may follow under the same id.
  std::erase_if(parts_.orders, [&](const Order& order) {
    const auto* withdrawal = std::get_if<WithdrawJob>(&order);
    return withdrawal != nullptr && withdrawal->job == job->job;
  });
  if (job->stage == JobStage::Done) return;
  const LiveRun* run = parts_.runs.current(*job);
  const bool ran = (run != nullptr && run->started_ns >= 0) || !job->managed;
  JobResult result = result_of(gone.how, ran);
  const bool was_ended = run != nullptr && run->stage == LiveRun::Stage::Stopping;
  if (gone.how == GoneHow::Unknown || gone.how == GoneHow::Cancelled) {
    if (was_ended && run->stop == StopReason::TimedOut) result = JobResult::TimedOut;
    if (job->withdrawn) result = JobResult::Cancelled;
  }
  const Report end{.kind = ReportKind::Ended, .exit_code = gone.exit_code, .signal = gone.signal};
  clear(*job, end, at);
  job->exit_code = gone.exit_code;
  job->signal = gone.signal;
  job->withdrawn = false;
  if (!gone.detail.empty()) job->detail = gone.detail;
  parts_.jobs.finish(*job, result, at);
}

void SeenJobs::check_again(TimeNs at) {
  std::vector<JobId> ids;
  for (const auto& [id, job] : parts_.book.jobs) {
    if (job.stage != JobStage::Done) ids.push_back(id);
  }
  for (const JobId id : ids) {
    LiveJob& job = parts_.book.jobs.at(id);
    if (!job.found.empty()) {
      const auto held = parts_.core.state().found().find({id, GpuId{}});
      const TimeNs until_ns =
          held == parts_.core.state().found().end() ? base::kNever : held->second.until_ns;
      hold(job, std::vector<NodePart>(job.found), until_ns, at);
      if (LiveRun* run = parts_.runs.current(job); run != nullptr && run->found) {
        run->gpus = job.gpus;
      }
      continue;
    }
    if (!job.managed || job.withdrawn || parts_.runs.current(job) != nullptr) continue;
    const auto fits = check_fit(job, parts_.core.site());
    const bool waits = parts_.core.knows(id);
    const bool may_elsewhere = waits && !job.engine_id.empty() && job.spec.resource_type.empty() &&
                               parts_.core.request_of(id).resource_type !=
                                   requested_part_type(job.spec, parts_.core.site().cluster);
    if (waits && (!fits || may_elsewhere)) {
      parts_.jobs.tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = id});
      job.misfit = fits ? "" : fits.error().message;
      parts_.jobs.consider(job, at);
    } else if (!waits && fits && !job.misfit.empty()) {
      job.misfit.clear();
      parts_.jobs.consider(job, at);
    }
  }
}

std::vector<KnownJob> SeenJobs::known() const {
  std::vector<KnownJob> out;
  for (const auto& [engine_id, id] : parts_.book.by_engine_id) {
    const LiveJob* job = parts_.book.find(id);
    if (job == nullptr || job->stage == JobStage::Done) continue;
    KnownJob& known = out.emplace_back();
    known.job = id;
    known.engine_id = engine_id;
    known.managed = job->managed;
    known.withdrawn = job->withdrawn;
    known.parts = job->found;
    // An older run of the job may still be stopping.
    for (auto run = parts_.book.runs.lower_bound({.job = id, .run = 0});
         run != parts_.book.runs.end() && run->first.job == id; ++run) {
      if (run->second.stage == LiveRun::Stage::Pending) continue;
      known.run = run->first;
      known.launched = run->second.started_ns >= 0;
      if (!run->second.found) known.parts = parts_.runs.launch_order(run->second).parts;
    }
  }
  return out;
}

std::vector<Order> SeenJobs::unanswered() const {
  std::vector<Order> out;
  for (const auto& [engine_id, id] : parts_.book.by_engine_id) {
    const LiveJob* job = parts_.book.find(id);
    if (job == nullptr) continue;
    const bool is_over = job->stage == JobStage::Done && ends_there(*job);
    if (is_over || job->withdrawn) out.emplace_back(WithdrawJob{.job = id, .engine_id = engine_id});
  }
  return out;
}

}  // namespace goban::live::controller
