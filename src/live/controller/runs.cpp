#include "live/controller/runs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "live/controller/id_fields.hpp"
#include "live/controller/staging.hpp"

namespace goban::live::controller {

namespace {

bool meet(const std::vector<GpuId>& some, const std::vector<GpuId>& others) {
  return std::ranges::any_of(
      some, [&](GpuId gpu) { return std::ranges::find(others, gpu) != others.end(); });
}

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

}  // namespace

LiveRun* Runs::find(RunId run) {
  const auto found = book_.runs.find(run);
  return found == book_.runs.end() ? nullptr : &found->second;
}

LiveRun* Runs::current(const LiveJob& job) { return find({.job = job.job, .run = job.runs}); }

JobStage Runs::stage_of(const LiveJob& job, bool waits) const {
  JobStage stage = JobStage::Waiting;
  if (!waits) stage = job.stage == JobStage::Depends ? JobStage::Depends : JobStage::Held;
  for (auto run = book_.runs.lower_bound({.job = job.job, .run = 0});
       run != book_.runs.end() && run->first.job == job.job; ++run) {
    switch (run->second.stage) {
      case LiveRun::Stage::Pending:
      case LiveRun::Stage::Ordered:
        if (stage != JobStage::Stopping) stage = JobStage::Starting;
        break;
      case LiveRun::Stage::Running:
        stage = run->second.suspensions.is_suspended() ? JobStage::Suspended : JobStage::Running;
        break;
      case LiveRun::Stage::Stopping:
        stage = JobStage::Stopping;
        break;
    }
  }
  return stage;
}

void Runs::begin(LiveJob& job, const core::model::Allocation& allocation, bool shares, TimeNs at) {
  ++job.runs;
  LiveRun run{.run = {.job = job.job, .run = job.runs}, .gpus = allocation.gpus, .ordered_ns = at};
  job.gpus = allocation.gpus;
  job.why = allocation.reason;
  job.shares = allocation.reason.prediction != 0;
  job.run_start_ns = -1;
  limited_.erase(job.job);
  if (shares) mark_neighbours(run);
  book_.runs.emplace(run.run, std::move(run));
}

void Runs::mark_neighbours(LiveRun& run) {
  for (auto& [id, other] : book_.runs) {
    if (other.stage == LiveRun::Stage::Stopping || id.job == run.run.job) continue;
    const bool shared = meet(other.gpus, run.gpus);
    run.shared = run.shared || shared;
    other.shared = other.shared || shared;
  }
}

bool Runs::has_launched(JobId job) const {
  for (auto run = book_.runs.lower_bound({.job = job, .run = 0});
       run != book_.runs.end() && run->first.job == job; ++run) {
    if (run->second.stage != LiveRun::Stage::Pending) return true;
  }
  return false;
}

LaunchOrder Runs::launch_order(const LiveRun& run) const {
  const LiveJob& job = book_.jobs.at(run.run.job);
  LaunchOrder order{.run = run.run,
                    .spec = job.spec,
                    .engine_id = job.engine_id,
                    .gpus = run.gpus,
                    .shares = job.shares,
                    .restarts = run.run.run - 1 - job.unable};
  // An elastic job runs on as many GPUs as it got this time.
  if (job.spec.training.gpus_max > 0) order.spec.num_gpus = static_cast<int32_t>(run.gpus.size());
  if (job.spec.walltime_limit_ns > 0) {
    order.limit_ns = std::max<TimeNs>(job.spec.walltime_limit_ns - job.held_ns, 1);
  }
  if (staging_ != nullptr) staging_->add_places(job, order);
  for (const GpuId gpu : run.gpus) {
    const GpuPlace place = place_of(*cluster_, gpu);
    auto part = std::ranges::find(order.parts, place.node, &NodePart::node);
    if (part == order.parts.end()) part = order.parts.insert(part, {.node = place.node});
    part->gpus.push_back(place.index);
  }
  return order;
}

std::vector<JobId> Runs::launch_pending(TimeNs at) {
  std::vector<LiveRun*> pending;
  std::set<GpuId> leaving;
  for (auto& [id, run] : book_.runs) {
    if (run.stage == LiveRun::Stage::Pending) pending.push_back(&run);
    if (run.stage == LiveRun::Stage::Stopping) leaving.insert(run.gpus.begin(), run.gpus.end());
  }
  const auto is_leaving = [&](GpuId gpu) { return leaving.contains(gpu); };
  std::vector<JobId> jobs;
  for (LiveRun* run : pending) {
    const JobId job = run->run.job;
    if (has_launched(job) || std::ranges::any_of(run->gpus, is_leaving)) continue;
    if (staging_ != nullptr && !staging_->is_seen(book_.jobs.at(job), at)) continue;
    run->stage = LiveRun::Stage::Ordered;
    run->ordered_ns = at;
    orders_.emplace_back(launch_order(*run));
    jobs.push_back(job);
  }
  return jobs;
}

bool Runs::drop_pending(LiveJob& job) {
  const LiveRun* next = current(job);
  if (next == nullptr || next->stage != LiveRun::Stage::Pending) return false;
  book_.runs.erase(next->run);
  --job.runs;
  job.staging.seen_run = 0;
  // The GPUs are again those of the run before it, which may be stopping.
  job.gpus.clear();
  job.shares = false;
  job.why = {};
  if (const LiveRun* before = current(job)) {
    job.gpus = before->gpus;
    job.shares = before->shared;
  } else if (!job.past.empty() && job.past.back().run == job.runs) {
    job.gpus = job.past.back().gpus;
    job.shares = job.past.back().shared;
  }
  return true;
}

void Runs::suspend(const LiveJob& job, bool suspended, TimeNs at) {
  LiveRun* run = current(job);
  if (run == nullptr || run->stage != LiveRun::Stage::Running) return;
  if (run->suspensions.is_suspended() == suspended) return;
  if (suspended) {
    run->suspensions.begin(at);
  } else {
    run->suspensions.end(at);
  }
  orders_.emplace_back(SuspendRun{.run = run->run, .suspended = suspended});
}

void Runs::stop(LiveJob& job, StopReason reason, TimeNs at) {
  if (drop_pending(job)) return;
  LiveRun* run = current(job);
  if (run == nullptr) return;
  if (run->stage != LiveRun::Stage::Stopping) {
    run->stage = LiveRun::Stage::Stopping;
    run->stop = reason;
    run->suspensions.end(at);  // a stop lets it go on
    orders_.emplace_back(StopRun{.run = run->run, .reason = reason});
  } else if (run->stop == StopReason::Preempted ||
             (run->stop == StopReason::Broken && reason != StopReason::Preempted)) {
    const bool is_other = run->stop != reason;
    run->stop = reason;
    // It ends already; a cluster is told that it is not to wait again.
    if (is_other) {
      orders_.emplace_back(StopRun{.run = run->run, .reason = reason, .urgency = run->urgency});
    }
  }
}

void Runs::hurry(const LiveJob& job, StopUrgency urgency) {
  LiveRun* run = current(job);
  if (run == nullptr || run->stage != LiveRun::Stage::Stopping || run->urgency >= urgency) return;
  run->urgency = urgency;
  orders_.emplace_back(StopRun{.run = run->run, .reason = run->stop, .urgency = urgency});
}

void Runs::started(LiveJob& job, LiveRun& run, bool is_limited, TimeNs at) {
  if (run.stage == LiveRun::Stage::Ordered) run.stage = LiveRun::Stage::Running;
  if (run.started_ns < 0) run.started_ns = at;
  if (run.run.run != job.runs || job.run_start_ns >= 0) return;
  job.run_start_ns = at;
  if (job.spec.walltime_limit_ns > 0 && !is_limited) limited_.insert(job.job);
}

LiveRun Runs::end(LiveJob& job, RunId id, const Report& report, TimeNs at) {
  LiveRun run = std::move(book_.runs.extract(id).mapped());
  // The engine's duration: the scheduler's clock may have been set while the daemon was down.
  const bool knows = run.started_ns >= 0 && report.ran_ns >= 0;
  const TimeNs suspended_ns = run.suspensions.total_ns(at);
  job.past.push_back({.run = id.run,
                      .start_ns = run.started_ns,
                      .end_ns = knows ? run.started_ns + report.ran_ns + suspended_ns : at,
                      .gpus = run.gpus,
                      .usage = report.usage,
                      .ranks = report.ranks,
                      .pace = report.pace,
                      .shared = run.shared,
                      .suspended_ns = suspended_ns});
  if (run.started_ns >= 0) {
    job.held_ns += job.past.back().end_ns - run.started_ns - suspended_ns;
  }
  add_usage(job.usage, report.usage);
  if (id.run == job.runs) {
    job.run_start_ns = -1;
    limited_.erase(job.job);
  }
  return run;
}

LiveRun Runs::never_began(LiveJob& job, RunId id) {
  LiveRun run = std::move(book_.runs.extract(id).mapped());
  ++job.unable;
  if (id.run == job.runs) job.gpus.clear();
  return run;
}

TimeNs walltime_end_ns(const LiveJob& job) {
  if (job.spec.walltime_limit_ns == 0 || job.run_start_ns < 0) return base::kNever;
  return base::add_saturating(job.run_start_ns + job.suspensions.ended_ns,
                              std::max<TimeNs>(job.spec.walltime_limit_ns - job.held_ns, 0));
}

std::vector<JobId> Runs::over_limit(TimeNs at) const {
  std::vector<JobId> found;
  for (const JobId id : limited_) {
    const LiveJob* job = book_.find(id);
    const bool runs = job != nullptr && job->stage == JobStage::Running;
    if (runs && at >= walltime_end_ns(*job)) found.push_back(id);
  }
  return found;
}

TimeNs Runs::next_limit_ns() const {
  TimeNs next = base::kNever;
  for (const JobId id : limited_) {
    const LiveJob* job = book_.find(id);
    const bool runs = job != nullptr && job->stage == JobStage::Running;
    if (runs) next = std::min(next, walltime_end_ns(*job));
  }
  return next;
}

bool Runs::is_leaving(NodeId node) const {
  return std::ranges::any_of(book_.runs, [&](const auto& each) {
    return each.second.stage == LiveRun::Stage::Stopping &&
           std::ranges::any_of(each.second.gpus,
                               [&](GpuId gpu) { return cluster_->node_of(gpu) == node; });
  });
}

std::vector<LaunchOrder> Runs::launched() const {
  std::vector<LaunchOrder> found;
  for (const auto& [id, run] : book_.runs) {
    const bool was_launched =
        run.stage == LiveRun::Stage::Running || run.stage == LiveRun::Stage::Stopping;
    if (was_launched) found.push_back(launch_order(run));
  }
  return found;
}

std::vector<Order> Runs::unanswered() const {
  std::vector<Order> found;
  for (const auto& [id, run] : book_.runs) {
    if (run.stage == LiveRun::Stage::Ordered) {
      found.emplace_back(launch_order(run));
    } else if (run.stage == LiveRun::Stage::Stopping) {
      found.emplace_back(StopRun{.run = id, .reason = run.stop, .urgency = run.urgency});
    } else if (run.stage == LiveRun::Stage::Running && run.suspensions.count > 0) {
      found.emplace_back(SuspendRun{.run = id, .suspended = run.suspensions.is_suspended()});
    }
  }
  return found;
}

void Runs::write(nlohmann::json& snapshot) const { snapshot["watched"] = numbers_of(limited_); }

void Runs::read(base::FieldReader& snapshot) {
  read_ids(snapshot, "watched", limited_, book_.next_job);
}

}  // namespace goban::live::controller
