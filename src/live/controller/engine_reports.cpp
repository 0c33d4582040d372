#include "live/controller/engine_reports.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/knowledge/durations/progress_forecast.hpp"
#include "live/controller/node_parts.hpp"

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

/// The share of the whole job that is done, by its steps, else by its epochs; negative if it does
/// not say.
double share_done(const ProgressReport& progress, const core::model::TrainingFacts& training) {
  const int64_t steps = progress.steps > 0 ? progress.steps : training.steps;
  if (progress.step >= 0 && steps > 0) {
    return static_cast<double>(progress.step) / static_cast<double>(steps);
  }
  const double epochs =
      progress.epochs > 0 ? progress.epochs : static_cast<double>(training.epochs);
  return progress.epoch >= 0 && epochs > 0 ? progress.epoch / epochs : -1;
}

/// What an ended run shows about its application, if it was long enough and never had neighbours.
core::model::AloneUse use_alone(const LiveJob& job, const LiveRun& run, const RunUsage& usage,
                                TimeNs at) {
  const double held_s = run.started_ns < 0 ? 0 : base::to_seconds(at - run.started_ns);
  if (run.shared || run.suspensions.count > 0 || held_s < kInformativeRun_s || run.gpus.empty())
    return {};
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

core::model::RunForecast EngineReports::expected_after(const Report& report, TimeNs at) const {
  if (report.kind != ReportKind::Progress || !report.detail.empty()) return {};
  const auto found = parts_.book.jobs.find(report.run.job);
  const LiveRun* run = parts_.runs.find(report.run);
  if (found == parts_.book.jobs.end() || run == nullptr) return {};
  const LiveJob& job = found->second;
  const bool runs = run->stage == LiveRun::Stage::Running && report.run.run == job.runs;
  if (!runs || job.run_start_ns < 0 || job.spec.training.gpus_max > 0) return {};
  ProgressReport known = job.progress;
  add_progress(known, report.progress);
  const core::knowledge::ReportedWork work{
      .share = share_done(known, job.spec.training),
      .attained_ns = job.held_ns + at - job.run_start_ns - run->suspensions.total_ns(at)};
  const auto expected = core::knowledge::forecast_from_progress(work, job.spec.walltime_limit_ns);
  if (!expected.known()) return {};
  // Every change is a line of the journal, and may change the decision: small ones wait.
  constexpr TimeNs kParts = 20;
  const auto& before = job.expected.known() ? job.expected : job.predicted.run;
  const TimeNs matters = std::max(base::kMinute, (expected.p50_ns - work.attained_ns) / kParts);
  const bool differs = !job.expected.known() || std::abs(expected.p50_ns - before.p50_ns) > matters;
  return differs ? expected : core::model::RunForecast{};
}

void EngineReports::take(const EngineReport& input, TimeNs at) {
  const Report& report = input.report;
  switch (report.kind) {
    case ReportKind::Started:
      return started(report, at);
    case ReportKind::Ended:
    case ReportKind::Refused:
      return ended(report, at);
    case ReportKind::Lost:
      return lost(report, at);
    case ReportKind::Unable:
      return unable(report, at);
    case ReportKind::Declined:
      return declined(report, at);
    case ReportKind::Progress:
      return progressed(report, input.expected, at);
    case ReportKind::NodeDown:
    case ReportKind::NodeUp:
      return node(report, at);
  }
}

void EngineReports::node(const Report& report, TimeNs at) {
  const core::model::Cluster& cluster = parts_.core.site().cluster;
  NodeId node = report.node_id;
  if (!report.node.empty()) node = cluster.find_node(report.node).value_or(NodeId{});
  if (!node.valid() || node.index() >= cluster.nodes().size()) return;
  if (report.kind == ReportKind::NodeDown) return parts_.nodes.lost(node, at);
  parts_.nodes.found(node, at);
}

void EngineReports::started(const Report& report, TimeNs at) {
  LiveRun* run = parts_.runs.find(report.run);
  if (run == nullptr) return;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  parts_.runs.started(job, *run, report.limited, at);
  parts_.seen.given(job, *run, report.parts, at);
  // The engine of a cluster takes seconds to start it; until then its neighbours were alone.
  if (parts_.core.knows(job.job) && !parts_.core.has_waiting(job.job)) {
    for (const JobId other : parts_.core.neighbours_of(job.job)) {
      parts_.observation.restarted(other, at);
    }
  }
  if (job.first_start_ns < 0) {
    job.first_start_ns = at;
    parts_.jobs.settle_dependents(job.job, at);
  }
  parts_.jobs.refresh(job);
}

void EngineReports::progressed(const Report& report, const core::model::RunForecast& expected,
                               TimeNs at) {
  const LiveRun* run = parts_.runs.find(report.run);
  if (run == nullptr) return progressed_elsewhere(report, at);
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  if (!report.detail.empty()) {
    job.detail = report.detail;
    return;
  }
  if (run->stage != LiveRun::Stage::Running) return;
  add_progress(job.progress, report.progress);
  job.progress_ns = at;
  if (!parts_.core.knows(job.job) || report.run.run != job.runs) return;
  if (expected.known()) {
    job.expected = expected;
    parts_.jobs.tell_core(
        {.kind = EventKind::JobProgressed, .at_ns = at, .job = job.job, .forecast = expected});
  }
  parts_.observation.progressed(job, report.progress, at);
  parts_.jobs.report_speed(job.job, at);
}

void EngineReports::progressed_elsewhere(const Report& report, TimeNs at) {
  const auto found = parts_.book.jobs.find(report.run.job);
  if (report.run.run != 0 || found == parts_.book.jobs.end()) return;
  LiveJob& job = found->second;
  if (job.managed || job.stage != JobStage::Running || !report.detail.empty()) return;
  add_progress(job.progress, report.progress);
  job.progress_ns = at;
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
  parts_.seen.left(job, run, at);
  job.exit_code = report.exit_code;
  job.signal = report.signal;
  if (!report.detail.empty()) job.detail = report.detail;
  const bool is_stopping = run.stage == LiveRun::Stage::Stopping;
  if (job.withdrawn) return ended_after_stop(job, StopReason::Cancelled, report, at);
  if (report.limited && (!is_stopping || run.stop != StopReason::Cancelled)) {
    return ended_after_stop(job, StopReason::TimedOut, report, at);
  }
  if (is_stopping) return ended_after_stop(job, run.stop, report, at);
  if (report.cancelled) return ended_after_stop(job, StopReason::Cancelled, report, at);
  const bool is_in_core = parts_.core.knows(job.job);
  if (report.kind == ReportKind::Ended && report.exit_code == 0) {
    if (is_in_core) {
      jobs.tell_core({.kind = EventKind::JobFinished,
                      .at_ns = at,
                      .job = job.job,
                      .alone = use_alone(job, run, report.usage, at)});
    }
    return jobs.finish(job, JobResult::Completed, at);
  }
  // Out of memory next to neighbours: it may succeed alone.
  const bool had_neighbours = is_in_core && parts_.core.has_neighbours(job.job);
  if (report.out_of_memory && had_neighbours && Jobs::may_try_again(job)) {
    ++job.breakages;
    jobs.tell_core(
        {.kind = EventKind::JobBroke, .at_ns = at, .job = job.job, .out_of_memory = true});
    return jobs.refresh(job);
  }
  if (is_in_core) {
    jobs.tell_core({.kind = EventKind::JobFinished,
                    .at_ns = at,
                    .job = job.job,
                    .failed = true,
                    .out_of_memory = report.out_of_memory});
  }
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
    const bool is_blocked = !job.blocked.empty() || !job.misfit.empty();
    if (was_requeued && !is_blocked) jobs.enter_core(job, at);
    if (was_requeued && is_blocked) jobs.consider(job, at);
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

void EngineReports::unable(const Report& report, TimeNs at) {
  if (find_launched(report.run) == nullptr) return;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  const bool is_placed = parts_.core.knows(job.job) && !parts_.core.has_waiting(job.job);
  std::set<NodeId> nodes;
  if (is_placed) {
    const core::model::Allocation& where = parts_.core.core().allocation(job.job);
    nodes.insert(where.hosts.begin(), where.hosts.end());
  }
  const LiveRun run = parts_.runs.never_began(job, report.run);
  for (const GpuId gpu : run.gpus) nodes.insert(parts_.core.site().cluster.node_of(gpu));
  const TimeNs until_ns = base::add_saturating(at, parts_.core.site().launch_hold_ns);
  for (const NodeId node : nodes) parts_.nodes.hold(node, report.detail, at, until_ns);
  wait_on(job, run, at);
}

void EngineReports::wait_on(LiveJob& job, const LiveRun& run, TimeNs at) {
  parts_.seen.left(job, run, at);
  const StopReason why = job.withdrawn ? StopReason::Cancelled : run.stop;
  if (run.stage == LiveRun::Stage::Stopping || job.withdrawn) {
    return ended_after_stop(job, why, {.kind = ReportKind::Lost, .run = run.run}, at);
  }
  parts_.jobs.tell_core(
      {.kind = EventKind::JobBroke, .at_ns = at, .job = job.job, .never_began = true});
  if (!parts_.core.knows(job.job)) parts_.jobs.consider(job, at);
  parts_.jobs.refresh(job);
}

void EngineReports::declined(const Report& report, TimeNs at) {
  if (find_launched(report.run) == nullptr) return;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  const core::model::Cluster& cluster = parts_.core.site().cluster;
  const std::vector<NodePart> parts =
      report.parts.empty() ? parts_.runs.launch_order(*find_launched(report.run)).parts
                           : report.parts;
  const LiveRun run = parts_.runs.never_began(job, report.run);
  const TimeNs until_ns = base::add_saturating(at, parts_.core.site().decline_hold_ns);
  for (const NodePart& part : parts) {
    const auto node = cluster.find_node(part.node);
    if (!node) continue;
    const std::vector<GpuId> gpus = gpus_of(cluster, {part});
    // A GPU that others share stays open to more of them, so that its node is left out.
    const bool shared = std::ranges::any_of(parts_.book.runs, [&](const auto& other) {
      return std::ranges::find_first_of(other.second.gpus, gpus) != other.second.gpus.end();
    });
    if (part.gpus.empty() || shared) {
      parts_.nodes.hold(*node, report.detail, at, until_ns);
      continue;
    }
    for (const GpuId gpu : gpus) parts_.nodes.leave_out(gpu, at, until_ns);
  }
  wait_on(job, run, at);
}

void EngineReports::lost(const Report& report, TimeNs at) {
  if (find_launched(report.run) == nullptr) return;
  Jobs& jobs = parts_.jobs;
  LiveJob& job = parts_.book.jobs.at(report.run.job);
  const LiveRun run = parts_.runs.end(job, report.run, Report{}, at);
  parts_.seen.left(job, run, at);
  const StopReason why = job.withdrawn ? StopReason::Cancelled : run.stop;
  if (run.stage == LiveRun::Stage::Stopping || job.withdrawn) {
    return ended_after_stop(job, why, {.kind = ReportKind::Lost, .run = report.run}, at);
  }
  ++job.breakages;
  if (!report.detail.empty()) job.detail = report.detail;
  if (Jobs::may_try_again(job)) {
    jobs.tell_core({.kind = EventKind::JobBroke, .at_ns = at, .job = job.job});
    if (!parts_.core.knows(job.job)) jobs.consider(job, at);
    return jobs.refresh(job);
  }
  if (parts_.core.knows(job.job)) {
    jobs.tell_core({.kind = EventKind::JobFinished, .at_ns = at, .job = job.job, .failed = true});
  }
  jobs.finish(job, JobResult::NodeFailed, at);
}

}  // namespace goban::live::controller
