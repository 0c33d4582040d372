// What the engine reports, and what follows from it.
#include <algorithm>
#include <fmt/format.h>

#include "live/controller/controller_state.hpp"

namespace goban::live::controller {

using core::model::EventKind;

namespace {

void add_usage(RunUsage& sum, const RunUsage& more) {
  if (more.cpu_s >= 0) sum.cpu_s = std::max(sum.cpu_s, 0.0) + more.cpu_s;
  if (more.energy_j >= 0) sum.energy_j = std::max(sum.energy_j, 0.0) + more.energy_j;
  sum.mem_bytes_max = std::max(sum.mem_bytes_max, more.mem_bytes_max);
  sum.gpu_mem_bytes_max = std::max(sum.gpu_mem_bytes_max, more.gpu_mem_bytes_max);
  if (more.gpu_util_pct >= 0) sum.gpu_util_pct = more.gpu_util_pct;
  if (more.memory_busy_pct >= 0) sum.memory_busy_pct = more.memory_busy_pct;
  if (more.dram_util_pct >= 0) sum.dram_util_pct = more.dram_util_pct;
  if (more.fu_util_pct >= 0) sum.fu_util_pct = more.fu_util_pct;
}

void add_progress(ProgressNews& known, const ProgressNews& news) {
  if (news.epoch >= 0) known.epoch = news.epoch;
  if (news.epochs >= 0) known.epochs = news.epochs;
  if (news.step >= 0) known.step = news.step;
  if (news.steps >= 0) known.steps = news.steps;
  if (news.samples_per_s >= 0) known.samples_per_s = news.samples_per_s;
  if (news.loss >= 0) known.loss = news.loss;
  if (news.busy_s >= 0) known.busy_s = news.busy_s;
  if (news.input_stall_pct >= 0) known.input_stall_pct = news.input_stall_pct;
  known.checkpointed = known.checkpointed || news.checkpointed;
}

}  // namespace

void Controller::State::take(const EngineReport& input, TimeNs at) {
  const Report& report = input.report;
  switch (report.kind) {
    case ReportKind::Started:
      started(report, at);
      return;
    case ReportKind::Ended:
    case ReportKind::Refused:
      ended(report, at);
      return;
    case ReportKind::Lost:
      lost(report.run, report.detail, at);
      return;
    case ReportKind::Progress: {
      const auto run = book.runs.find(report.run);
      if (run == book.runs.end() || run->second.stage != LiveRun::Stage::Running) return;
      LiveJob& job = book.jobs.at(report.run.job);
      add_progress(job.progress, report.progress);
      job.progress_ns = at;
      if (!in_core(job.job) || report.run.run != job.runs) return;
      observer.progressed(job.job, report.progress, standing_of(job), at);
      observe_rate(job.job, at);
      return;
    }
    case ReportKind::NodeDown:
      node_down(report.node, at);
      return;
    case ReportKind::NodeUp:
      node_up(report.node, at);
      return;
  }
}

bool Controller::State::shares_now(JobId id) const {
  const core::scheduler::Core& mind = *core;
  if (mind.tenants() == nullptr) return false;
  const auto& gpus = mind.allocation(id).gpus;
  return std::ranges::any_of(mind.state().running(), [&](const auto& running) {
    if (mind.state().job(running.slot).job == id) return false;
    return std::ranges::any_of(running.allocation.gpus, [&](GpuId gpu) {
      return std::ranges::find(gpus, gpu) != gpus.end();
    });
  });
}

bool Controller::State::is_capped(const LiveJob& job) const {
  return std::ranges::any_of(job.gpus, [this](GpuId gpu) { return cap_of(gpu) >= 0; });
}

Standing Controller::State::standing_of(const LiveJob& job) const {
  const auto& state = core->state();
  const core::model::JobRequest& request = state.job(state.slot_of(job.job)).request;
  return {.app = request.app,
          .num_gpus = request.num_gpus,
          .slowdown = state.speed().slowdown(request, job.gpus),
          .alone = !shares_now(job.job) && !is_capped(job)};
}

core::model::AloneUse Controller::State::use_alone(const LiveJob& job, const LiveRun& run,
                                                   const RunUsage& usage, TimeNs at) {
  const double held_s = run.started_ns < 0 ? 0 : base::to_seconds(at - run.started_ns);
  if (run.shared || held_s < kTellingRun_s || run.gpus.empty()) return {};
  core::model::AloneUse out;
  if (usage.gpu_util_pct >= 0) out.gpu_util_pct = static_cast<double>(usage.gpu_util_pct);
  if (usage.energy_j > 0) {
    out.gpu_power_w = usage.energy_j / held_s / static_cast<double>(run.gpus.size());
  }
  // A run that began again may not have come to its peak.
  if (job.runs == 1) out.gpu_mem_bytes = usage.gpu_mem_bytes_max;
  return out;
}

void Controller::State::observe_rate(JobId id, TimeNs at) {
  const auto slowdown = observer.observed(id, standing_of(book.jobs.at(id)), at);
  if (!slowdown) return;
  tell_core({.kind = EventKind::RateObserved, .at_ns = at, .job = id, .slowdown = *slowdown});
}

void Controller::State::started(const Report& report, TimeNs at) {
  const auto found = book.runs.find(report.run);
  if (found == book.runs.end()) return;
  LiveRun& run = found->second;
  LiveJob& job = book.jobs.at(report.run.job);
  if (run.stage == LiveRun::Stage::Ordered) run.stage = LiveRun::Stage::Running;
  if (run.started_ns < 0) run.started_ns = at;
  if (report.run.run == job.runs && job.run_start_ns < 0) {
    job.run_start_ns = at;
    if (job.spec.walltime_limit_ns > 0) watched.insert(job.job);
  }
  if (job.first_start_ns < 0) {
    job.first_start_ns = at;
    settle_dependents(job.job, at);
  }
  refresh(job);
}

void Controller::State::ended(const Report& report, TimeNs at) {
  const auto found = book.runs.find(report.run);
  if (found == book.runs.end() || found->second.stage == LiveRun::Stage::Pending) return;
  const LiveRun run = found->second;
  LiveJob& job = book.jobs.at(report.run.job);
  leave(job, run, report, at);
  job.exit_code = report.exit_code;
  job.signal = report.signal;
  if (!report.detail.empty()) job.detail = report.detail;
  const bool fine = report.kind == ReportKind::Ended && report.exit_code == 0;
  if (run.stage == LiveRun::Stage::Stopping) return ended_after_stop(job, run.stop, report, at);
  if (fine) {
    tell_core({.kind = EventKind::JobFinished,
               .at_ns = at,
               .job = job.job,
               .alone = use_alone(job, run, report.usage, at)});
    return finish(job, JobResult::Completed, at);
  }
  // Out of memory beside others: it may well run alone.
  if (report.out_of_memory && shares_now(job.job) && may_try_again(job)) {
    ++job.breakages;
    tell_core({.kind = EventKind::JobBroke, .at_ns = at, .job = job.job, .out_of_memory = true});
    return refresh(job);
  }
  tell_core({.kind = EventKind::JobFinished,
             .at_ns = at,
             .job = job.job,
             .failed = true,
             .out_of_memory = report.out_of_memory});
  finish(job, report.out_of_memory ? JobResult::OutOfMemory : JobResult::Failed, at);
}

void Controller::State::ended_after_stop(LiveJob& job, StopReason reason, const Report& report,
                                         TimeNs at) {
  // It was done before it could be stopped, unless it says that it only saved itself.
  const bool done =
      report.kind == ReportKind::Ended && report.exit_code == 0 && !report.acknowledged;
  const bool gives_up = reason == StopReason::Broken && !may_try_again(job);
  const bool goes_on = reason == StopReason::Preempted || reason == StopReason::Broken;
  if (goes_on && !done && !gives_up) {
    if (!in_core(job.job) && !job.spec.held) enter_core(job, at);  // requeued by somebody
    return refresh(job);
  }
  if (in_core(job.job)) {
    drop_pending(job);
    const EventKind kind = done ? EventKind::JobFinished : EventKind::JobKilled;
    tell_core({.kind = kind, .at_ns = at, .job = job.job});
  }
  if (done) return finish(job, JobResult::Completed, at);
  if (gives_up) return finish(job, JobResult::NodeFailed, at);
  finish(job, reason == StopReason::TimedOut ? JobResult::TimedOut : JobResult::Cancelled, at);
}

void Controller::State::leave(LiveJob& job, const LiveRun& run, const Report& report, TimeNs at) {
  job.past.push_back({.run = run.run.run,
                      .start_ns = run.started_ns,
                      .end_ns = at,
                      .gpus = run.gpus,
                      .usage = report.usage,
                      .ranks = report.ranks,
                      .pace = report.pace,
                      .shared = run.shared});
  if (run.started_ns >= 0) job.held_ns += at - run.started_ns;
  add_usage(job.usage, report.usage);
  book.runs.erase(run.run);
  if (run.run.run != job.runs) return;
  job.run_start_ns = -1;
  watched.erase(job.job);
}

bool Controller::State::may_try_again(const LiveJob& job) {
  return job.spec.requeue && job.breakages < kBreakagesMax;
}

void Controller::State::lost(RunId id, const std::string& detail, TimeNs at) {
  const auto found = book.runs.find(id);
  if (found == book.runs.end() || found->second.stage == LiveRun::Stage::Pending) return;
  const LiveRun run = found->second;
  LiveJob& job = book.jobs.at(id.job);
  leave(job, run, Report{}, at);
  if (run.stage == LiveRun::Stage::Stopping) {
    return ended_after_stop(job, run.stop, {.kind = ReportKind::Lost, .run = id}, at);
  }
  ++job.breakages;
  if (!detail.empty()) job.detail = detail;
  if (may_try_again(job)) {
    tell_core({.kind = EventKind::JobBroke, .at_ns = at, .job = job.job});
    return refresh(job);
  }
  tell_core({.kind = EventKind::JobFinished, .at_ns = at, .job = job.job, .failed = true});
  finish(job, JobResult::NodeFailed, at);
}

void Controller::State::node_up(NodeId node, TimeNs at) {
  const bool was_down = down.erase(node) > 0;
  if (was_down && !drained.contains(node)) {
    tell_core({.kind = EventKind::NodeRestored, .at_ns = at, .node = node});
  } else if (core->state().node_power().is_waking(node)) {
    tell_core({.kind = EventKind::NodeAwake, .at_ns = at, .node = node});
  }
}

void Controller::State::node_down(NodeId node, TimeNs at) {
  if (!down.insert(node).second) return;
  // What ran there may run still, for all anybody knows: its jobs start elsewhere only when the
  // engine says that it is gone.
  tell_core({.kind = EventKind::NodeLost, .at_ns = at, .node = node});
}

}  // namespace goban::live::controller
