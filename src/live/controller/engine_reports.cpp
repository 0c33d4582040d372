#include "live/controller/engine_reports.hpp"

#include <algorithm>

namespace goban::live::controller {

using core::model::EventKind;

namespace {

/// Shorter runs are not used to characterise their application.
constexpr double kInformativeRun_s = 5;

void add_progress(ProgressReport& known, const ProgressReport& latest) {
  if (latest.epoch >= 0) known.epoch = latest.epoch;
  if (latest.epochs >= 0) known.epochs = latest.epochs;
  if (latest.step >= 0) known.step = latest.step;
  if (latest.steps >= 0) known.steps = latest.steps;
  if (latest.samples_per_s >= 0) known.samples_per_s = latest.samples_per_s;
  if (latest.loss >= 0) known.loss = latest.loss;
  if (latest.busy_s >= 0) known.busy_s = latest.busy_s;
  if (latest.input_stall_pct >= 0) known.input_stall_pct = latest.input_stall_pct;
  known.checkpointed = known.checkpointed || latest.checkpointed;
}

/// What an ended run shows about its application, if it was long enough and never had neighbours.
core::model::AloneUse use_alone(const LiveJob& job, const LiveRun& run, const RunUsage& usage,
                                TimeNs at) {
  const double held_s = run.started_ns < 0 ? 0 : base::to_seconds(at - run.started_ns);
  if (run.shared || held_s < kInformativeRun_s || run.gpus.empty()) return {};
  core::model::AloneUse out;
  if (usage.gpu_util_pct >= 0) out.gpu_util_pct = static_cast<double>(usage.gpu_util_pct);
  if (usage.energy_j > 0) {
    out.gpu_power_w = usage.energy_j / held_s / static_cast<double>(run.gpus.size());
  }
  // A restarted run may not have reached its peak.
  if (job.runs == 1) out.gpu_mem_bytes = usage.gpu_mem_bytes_max;
  return out;
}

}  // namespace

void EngineReports::take(const Report& report, TimeNs at) {
  switch (report.kind) {
    case ReportKind::Started:
      return started(report, at);
    case ReportKind::Ended:
    case ReportKind::Refused:
      return ended(report, at);
    case ReportKind::Lost:
      return lost(report, at);
    case ReportKind::Progress:
      return progressed(report, at);
    case ReportKind::NodeDown:
      return parts_.nodes.lost(report.node, at);
    case ReportKind::NodeUp:
      return parts_.nodes.found(report.node, at);
  }
}

void EngineReports::started(const Report& report, TimeNs at) {
  LiveRun* run = parts_.runs.find(report.run);
  if (run == nullptr) return;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  parts_.runs.started(job, *run, at);
  if (job.first_start_ns < 0) {
    job.first_start_ns = at;
    parts_.jobs.settle_dependents(job.job, at);
  }
  parts_.jobs.refresh(job);
}

void EngineReports::progressed(const Report& report, TimeNs at) {
  const LiveRun* run = parts_.runs.find(report.run);
  if (run == nullptr || run->stage != LiveRun::Stage::Running) return;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  add_progress(job.progress, report.progress);
  job.progress_ns = at;
  if (!parts_.core.knows(job.job) || report.run.run != job.runs) return;
  parts_.observation.progressed(job, report.progress, at);
  parts_.jobs.report_speed(job.job, at);
}

const LiveRun* EngineReports::find_launched(RunId id) const {
  const LiveRun* run = parts_.runs.find(id);
  return run == nullptr || run->stage == LiveRun::Stage::Pending ? nullptr : run;
}

void EngineReports::ended(const Report& report, TimeNs at) {
  if (find_launched(report.run) == nullptr) return;
  Jobs& jobs = parts_.jobs;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  const LiveRun run = parts_.runs.end(job, report.run, report, at);
  job.exit_code = report.exit_code;
  job.signal = report.signal;
  if (!report.detail.empty()) job.detail = report.detail;
  if (run.stage == LiveRun::Stage::Stopping) return ended_after_stop(job, run.stop, report, at);
  if (report.kind == ReportKind::Ended && report.exit_code == 0) {
    jobs.tell_core({.kind = EventKind::JobFinished,
                    .at_ns = at,
                    .job = job.job,
                    .alone = use_alone(job, run, report.usage, at)});
    return jobs.finish(job, JobResult::Completed, at);
  }
  // Out of memory next to neighbours: it may succeed alone.
  if (report.out_of_memory && parts_.core.has_neighbours(job.job) && Jobs::may_try_again(job)) {
    ++job.breakages;
    jobs.tell_core(
        {.kind = EventKind::JobBroke, .at_ns = at, .job = job.job, .out_of_memory = true});
    return jobs.refresh(job);
  }
  jobs.tell_core({.kind = EventKind::JobFinished,
                  .at_ns = at,
                  .job = job.job,
                  .failed = true,
                  .out_of_memory = report.out_of_memory});
  jobs.finish(job, report.out_of_memory ? JobResult::OutOfMemory : JobResult::Failed, at);
}

void EngineReports::ended_after_stop(LiveJob& job, StopReason reason, const Report& report,
                                     TimeNs at) {
  Jobs& jobs = parts_.jobs;
  // It finished before it could be stopped, unless it acknowledged the stop with a checkpoint.
  const bool done =
      report.kind == ReportKind::Ended && report.exit_code == 0 && !report.acknowledged;
  const bool gives_up = reason == StopReason::Broken && !Jobs::may_try_again(job);
  const bool goes_on = reason == StopReason::Preempted || reason == StopReason::Broken;
  if (goes_on && !done && !gives_up) {
    const bool was_requeued = !parts_.core.knows(job.job) && !job.spec.held;
    if (was_requeued) jobs.enter_core(job, at);
    return jobs.refresh(job);
  }
  if (parts_.core.knows(job.job)) {
    parts_.runs.drop_pending(job);
    const EventKind kind = done ? EventKind::JobFinished : EventKind::JobKilled;
    jobs.tell_core({.kind = kind, .at_ns = at, .job = job.job});
  }
  if (done) return jobs.finish(job, JobResult::Completed, at);
  if (gives_up) return jobs.finish(job, JobResult::NodeFailed, at);
  const bool timed_out = reason == StopReason::TimedOut;
  jobs.finish(job, timed_out ? JobResult::TimedOut : JobResult::Cancelled, at);
}

void EngineReports::lost(const Report& report, TimeNs at) {
  if (find_launched(report.run) == nullptr) return;
  Jobs& jobs = parts_.jobs;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  const LiveRun run = parts_.runs.end(job, report.run, Report{}, at);
  if (run.stage == LiveRun::Stage::Stopping) {
    return ended_after_stop(job, run.stop, {.kind = ReportKind::Lost, .run = report.run}, at);
  }
  ++job.breakages;
  if (!report.detail.empty()) job.detail = report.detail;
  if (Jobs::may_try_again(job)) {
    jobs.tell_core({.kind = EventKind::JobBroke, .at_ns = at, .job = job.job});
    return jobs.refresh(job);
  }
  jobs.tell_core({.kind = EventKind::JobFinished, .at_ns = at, .job = job.job, .failed = true});
  jobs.finish(job, JobResult::NodeFailed, at);
}

}  // namespace goban::live::controller
