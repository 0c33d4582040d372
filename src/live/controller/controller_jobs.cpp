// Steps of jobs between the book, the core and the engine.
#include <algorithm>

#include "base/check.hpp"
#include "live/controller/controller_state.hpp"

namespace goban::live::controller {

using core::model::Action;
using core::model::ActionKind;
using core::model::Event;
using core::model::EventKind;

void Controller::State::enter_core(LiveJob& job, TimeNs at) {
  const job::JobSpec& spec = job.spec;
  core::model::JobRequest request;
  request.submit_ns = at;
  request.walltime_limit_ns = spec.walltime_limit_ns;
  request.num_gpus = spec.num_gpus;
  request.priority = spec.priority;
  request.instances = spec.instances;
  request.stays = !spec.preemptible && spec.stop.signal == 0;
  if (!spec.model.empty()) request.model = core::model::ModelId(models.intern(spec.model));
  request.user = core::model::UserId(site.users.intern(spec.owner.user));
  if (!spec.account.empty())
    request.account = core::model::AccountId(site.accounts.intern(spec.account));
  if (!spec.partition.empty()) {
    request.partition = core::model::PartitionId(site.partitions.intern(spec.partition));
  }
  if (!spec.qos.empty()) request.qos = core::model::QosId(site.qos.intern(spec.qos));
  if (spec.array_first.valid()) request.array = core::model::ArrayId(spec.array_first.value);
  if (!spec.resource_type.empty()) {
    request.resource_type = site.cluster.find_resource_type(spec.resource_type);
  }
  request.app_class = job::class_of(spec);
  request.reservation = job.reservation;
  request.app = applications.of(spec);
  // A deadline counts from the submission, wherever the job waited since.
  core::model::TrainingFacts training = spec.training;
  if (training.deadline_ns >= 0) {
    training.deadline_ns = std::max<TimeNs>(training.deadline_ns - (at - job.submit_ns), 0);
  }
  tell_core({.kind = EventKind::JobSubmitted,
             .at_ns = at,
             .job = job.job,
             .request = &request,
             .array = {.max_running = spec.array_limit},
             .training = &training});
  refresh(job);
}

void Controller::State::tell_core(const Event& event) {
  const std::span<const Action> forced = core->apply(event);
  // What comes next in the same turn is said under other neighbours already.
  restart_disturbed(event.at_ns);
  carry_out(std::vector<Action>(forced.begin(), forced.end()), event.at_ns);
}

void Controller::State::restart_disturbed(TimeNs at) {
  for (const JobId job : core->take_disturbed()) {
    if (in_core(job)) observer.restarted(job, at);
  }
}

void Controller::State::carry_out(std::span<const Action> actions, TimeNs at) {
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::Start:
        begin_run(book.jobs.at(action.job), at);
        break;
      case ActionKind::Preempt:
        ++book.jobs.at(action.job).preemptions;
        stop_run(book.jobs.at(action.job), StopReason::Preempted);
        break;
      case ActionKind::Abandon:
        if (current_run(book.jobs.at(action.job)) != nullptr) ++book.jobs.at(action.job).breakages;
        stop_run(book.jobs.at(action.job), StopReason::Broken);
        break;
      case ActionKind::Observe:
        observer.observe(action.job, action.until_ns);
        break;
      case ActionKind::Cap:
        capped.insert(action.gpu);
        orders.emplace_back(limit_order(action.gpu, action.cap));
        break;
      case ActionKind::Rest:
        orders.emplace_back(RestNode{action.node});
        break;
      case ActionKind::Wake:
        orders.emplace_back(WakeNode{action.node});
        break;
    }
  }
}

void Controller::State::begin_run(LiveJob& job, TimeNs at) {
  const core::model::Allocation& allocation = core->allocation(job.job);
  ++job.runs;
  LiveRun run{.run = {.job = job.job, .run = job.runs}, .gpus = allocation.gpus, .ordered_ns = at};
  job.gpus = allocation.gpus;
  job.why = allocation.reason;
  job.shares = allocation.reason.prediction != 0;
  job.run_start_ns = -1;
  watched.erase(job.job);
  if (core->tenants() != nullptr) mark_neighbours(run);
  book.runs.emplace(run.run, std::move(run));
  observer.restarted(job.job, at);
  refresh(job);
}

int8_t Controller::State::cap_of(GpuId gpu) const {
  const core::model::Tenants* tenants = core->tenants();
  return tenants != nullptr && caps_power ? tenants->cap_of(gpu) : int8_t{-1};
}

CapGpu Controller::State::limit_order(GpuId gpu, int8_t cap) const {
  CapGpu order{.gpu = gpu, .watts = 0};
  if (cap < 0 || site.knowledge == nullptr || site.knowledge->power.empty()) return order;
  const uint32_t gpu_model = site.cluster.node(site.cluster.node_of(gpu)).gpu_model;
  const auto& caps = site.knowledge->power[gpu_model].caps;
  if (static_cast<size_t>(cap) < caps.size()) order.watts = caps[static_cast<size_t>(cap)].cap_w;
  return order;
}

void Controller::State::mark_neighbours(LiveRun& run) {
  for (auto& [id, other] : book.runs) {
    if (other.stage == LiveRun::Stage::Stopping || id.job == run.run.job) continue;
    const bool meets = std::ranges::any_of(
        other.gpus, [&](GpuId gpu) { return std::ranges::find(run.gpus, gpu) != run.gpus.end(); });
    run.shared = run.shared || meets;
    other.shared = other.shared || meets;
  }
}

LiveRun* Controller::State::current_run(const LiveJob& job) {
  const auto found = book.runs.find({.job = job.job, .run = job.runs});
  return found == book.runs.end() ? nullptr : &found->second;
}

bool Controller::State::drop_pending(LiveJob& job) {
  const LiveRun* next = current_run(job);
  if (next == nullptr || next->stage != LiveRun::Stage::Pending) return false;
  book.runs.erase(next->run);
  --job.runs;
  return true;
}

void Controller::State::stop_run(LiveJob& job, StopReason reason) {
  if (drop_pending(job)) return refresh(job);
  LiveRun* run = current_run(job);
  if (run == nullptr) return;
  if (run->stage != LiveRun::Stage::Stopping) {
    run->stage = LiveRun::Stage::Stopping;
    run->stop = reason;
    orders.emplace_back(StopRun{.run = run->run, .reason = reason});
  } else if (run->stop == StopReason::Preempted ||
             (run->stop == StopReason::Broken && reason != StopReason::Preempted)) {
    run->stop = reason;  // somebody wants it gone for good meanwhile
  }
  refresh(job);
}

bool Controller::State::gpus_are_left(const LiveRun& run) const {
  return std::ranges::none_of(book.runs, [&](const auto& each) {
    const LiveRun& other = each.second;
    if (other.run == run.run || other.stage == LiveRun::Stage::Pending) return false;
    if (other.run.job == run.run.job) return true;
    if (other.stage != LiveRun::Stage::Stopping) return false;
    return std::ranges::any_of(
        other.gpus, [&](GpuId gpu) { return std::ranges::find(run.gpus, gpu) != run.gpus.end(); });
  });
}

LaunchOrder Controller::State::launch_order(const LiveJob& job, const LiveRun& run) const {
  LaunchOrder order{.run = run.run,
                    .spec = job.spec,
                    .gpus = run.gpus,
                    .shares = job.shares,
                    .restarts = run.run.run - 1};
  for (const GpuId gpu : run.gpus) {
    const NodeId node = site.cluster.node_of(gpu);
    auto part = std::ranges::find(order.parts, node, &NodePart::node);
    if (part == order.parts.end()) part = order.parts.insert(part, {.node = node});
    part->gpus.push_back(static_cast<int32_t>(gpu.value - site.cluster.node(node).first_gpu));
  }
  return order;
}

void Controller::State::launch_pending(TimeNs at) {
  for (auto& [id, run] : book.runs) {
    if (run.stage != LiveRun::Stage::Pending || !gpus_are_left(run)) continue;
    run.stage = LiveRun::Stage::Ordered;
    run.ordered_ns = at;
    LiveJob& job = book.jobs.at(id.job);
    orders.emplace_back(LaunchRun{launch_order(job, run)});
    refresh(job);
  }
}

void Controller::State::finish(LiveJob& job, JobResult result, TimeNs at) {
  GOBAN_CHECK(job.result == JobResult::None, "a job ends twice");
  job.result = result;
  job.end_ns = at;
  job.stage = JobStage::Done;
  watched.erase(job.job);
  observer.ended(job.job);
  if (--open_jobs[job.spec.owner.uid] == 0) open_jobs.erase(job.spec.owner.uid);
  orders.emplace_back(AccountFor{job.job});
  settle_dependents(job.job, at);
}

void Controller::State::withdraw(LiveJob& job, StopReason reason, JobResult result, TimeNs at) {
  // Without the launch that was to come, the run before it is the current one; it may be leaving.
  const bool was_pending = drop_pending(job);
  stop_run(job, reason);
  const bool leaves = current_run(job) != nullptr;
  if (in_core(job.job) && (!leaves || was_pending || core_has_waiting(job.job))) {
    tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
  if (leaves) return refresh(job);
  finish(job, result, at);
}

void Controller::State::note_dependent(const LiveJob& job) {
  for (const job::Dependency& each : job.spec.dependencies) {
    const LiveJob* other = book.find(each.job);
    if (other != nullptr && other->stage != JobStage::Done) dependents[each.job].insert(job.job);
  }
}

// A dependent that never runs settles its own at once: by a stack, for chains can be long.
void Controller::State::settle_dependents(JobId id, TimeNs at) {
  const auto found = dependents.find(id);
  if (found == dependents.end()) return;
  to_settle.emplace_back(found->second.rbegin(), found->second.rend());
  if (book.jobs.at(id).stage == JobStage::Done) dependents.erase(found);
  if (to_settle.size() > 1) return;  // by whoever settles already
  while (!to_settle.empty()) {
    if (to_settle.back().empty()) {
      to_settle.pop_back();
      continue;
    }
    const JobId next = to_settle.back().back();
    to_settle.back().pop_back();
    const auto job = book.jobs.find(next);
    const bool waits = job != book.jobs.end() && job->second.stage == JobStage::Depends;
    if (waits) settle_dependencies(job->second, at);
  }
}

void Controller::State::settle_dependencies(LiveJob& job, TimeNs at) {
  bool waits = false;
  for (const job::Dependency& each : job.spec.dependencies) {
    const LiveJob* other = book.find(each.job);
    // Forgotten while this job waited: had it not ended as it must, the wait would be over.
    if (other == nullptr && job.stage == JobStage::Depends) continue;
    const bool wants_verdict =
        each.kind == job::DependencyKind::AfterOk || each.kind == job::DependencyKind::AfterNotOk;
    if (other == nullptr && wants_verdict) {
      job.detail =
          "nobody knows any more how job " + std::to_string(job::job_number(each.job)) + " ended";
      finish(job, JobResult::NeverRuns, at);
      return;
    }
    const bool over = other == nullptr || other->stage == JobStage::Done;
    const bool completed = other != nullptr && other->result == JobResult::Completed;
    if (each.kind == job::DependencyKind::After) {
      waits = waits || (!over && other->first_start_ns < 0);
      continue;
    }
    if (!over) {
      waits = true;
      continue;
    }
    const bool never = (each.kind == job::DependencyKind::AfterOk && !completed) ||
                       (each.kind == job::DependencyKind::AfterNotOk && completed);
    if (!never) continue;
    job.detail = "job " + std::to_string(job::job_number(each.job)) +
                 (completed ? " completed" : " did not complete");
    finish(job, JobResult::NeverRuns, at);
    return;
  }
  if (waits) {
    job.stage = JobStage::Depends;
    note_dependent(job);
  } else if (job.spec.held) {
    job.stage = JobStage::Held;
  } else {
    enter_core(job, at);
  }
}

TimeNs Controller::State::limit_ns(const LiveJob& job) const {
  if (job.spec.walltime_limit_ns == 0 || job.run_start_ns < 0) return base::kNever;
  return base::add_saturating(job.run_start_ns,
                              std::max<TimeNs>(job.spec.walltime_limit_ns - job.held_ns, 0));
}

void Controller::State::stop_at_limits(TimeNs at) {
  const std::set<JobId> some = watched;
  for (const JobId id : some) {
    LiveJob& job = book.jobs.at(id);
    if (job.stage == JobStage::Running && at >= limit_ns(job)) {
      stop_run(job, StopReason::TimedOut);
    }
  }
}

void Controller::State::forget_old(TimeNs at) {
  if (!forgets || at < next_forget_ns) return;
  next_forget_ns = at + std::max<TimeNs>(site.keep_ended_ns / 16, base::kSecond);
  std::erase_if(book.jobs, [&](const auto& each) {
    const LiveJob& job = each.second;
    if (job.stage != JobStage::Done || !job.accounted) return false;
    return at >= base::add_saturating(job.end_ns, site.keep_ended_ns);
  });
  std::erase_if(book.reservations, [&](const auto& each) {
    const LiveReservation& one = each.second;
    return !one.is_open() && at >= base::add_saturating(one.closed_ns, site.keep_ended_ns);
  });
}

void Controller::State::refresh(LiveJob& job) const {
  if (job.stage == JobStage::Done) return;
  JobStage stage = JobStage::Waiting;
  if (!in_core(job.job)) {
    stage = job.stage == JobStage::Depends ? JobStage::Depends : JobStage::Held;
  }
  for (auto run = book.runs.lower_bound({.job = job.job, .run = 0});
       run != book.runs.end() && run->first.job == job.job; ++run) {
    switch (run->second.stage) {
      case LiveRun::Stage::Pending:
      case LiveRun::Stage::Ordered:
        if (stage != JobStage::Stopping) stage = JobStage::Starting;
        break;
      case LiveRun::Stage::Running:
        stage = JobStage::Running;
        break;
      case LiveRun::Stage::Stopping:
        stage = JobStage::Stopping;
        break;
    }
  }
  job.stage = stage;
}

}  // namespace goban::live::controller
