#include "study/simulator/sim_jobs.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace goban::study::simulator {

SimJobs::SimJobs(const core::model::JobHistory& history, double restart_cost_s)
    : history_(&history), restart_cost_s_(restart_cost_s), progress_(history.jobs.size()) {
  for (size_t i = 0; i < progress_.size(); ++i) progress_[i].work_left_s = history.jobs[i].work_s;
}

JobId SimJobs::add_filler(core::model::Job job) {
  progress_.push_back({.work_left_s = job.work_s});
  fillers_.push_back(std::move(job));
  return JobId(progress_.size() - 1);
}

double SimJobs::launch(JobId id, TimeNs now, double slowdown, double contention, bool same_gpus) {
  Progress& p = progress_[id.index()];
  GOBAN_CHECK(p.slowdown == 0 && slowdown > 0 && contention > 0);
  if (p.version > 0 && (!same_gpus || p.undone)) p.overhead_left_s = restart_cost_s_;
  p.undone = false;
  if (p.version == 0) p.outcome.start_ns = now;
  ++p.version;
  p.slowdown = slowdown * contention;
  p.alone_slowdown = slowdown;
  p.contention = contention;
  p.run_start_ns = now;
  p.settled_ns = now;
  p.work_at_start_s = p.work_left_s;
  p.worked_s = 0;
  return p.overhead_left_s + p.work_left_s * p.slowdown;
}

void SimJobs::settle(JobId id, TimeNs now) {
  Progress& p = progress_[id.index()];
  const double span_s = base::to_seconds(now - p.settled_ns);
  p.work_left_s = work_left_s(id, now);
  p.worked_s += std::max(0.0, span_s - p.overhead_left_s);
  const double overhead_s = std::min(p.overhead_left_s, span_s);
  overhead_gpu_s_ += overhead_s * job(id).request.num_gpus;
  p.overhead_left_s -= overhead_s;
  p.settled_ns = now;
}

double SimJobs::change_contention(JobId id, TimeNs now, double contention) {
  Progress& p = progress_[id.index()];
  GOBAN_CHECK(p.slowdown > 0 && contention > 0);
  settle(id, now);
  ++p.version;
  p.contention = contention;
  p.slowdown = p.alone_slowdown * contention;
  return p.overhead_left_s + p.work_left_s * p.slowdown;
}

double SimJobs::work_left_s(JobId id, TimeNs now) const {
  const Progress& p = progress_[id.index()];
  if (p.slowdown == 0) return p.work_left_s;
  const double working_s = base::to_seconds(now - p.settled_ns) - p.overhead_left_s;
  return working_s <= 0 ? p.work_left_s : std::max(0.0, p.work_left_s - working_s / p.slowdown);
}

double SimJobs::launch_cost_s(JobId id) const {
  return progress_[id.index()].version > 0 ? restart_cost_s_ : 0.0;
}

double SimJobs::reported_left_s(JobId id, TimeNs now) const {
  const core::model::TrainingFacts* facts = training(id);
  if (facts == nullptr || facts->epochs <= 0) return -1;
  const Progress& p = progress_[id.index()];
  if (p.slowdown == 0) return p.work_left_s + launch_cost_s(id);
  const double overhead_s = std::max(0.0, p.overhead_left_s - base::to_seconds(now - p.settled_ns));
  return work_left_s(id, now) + overhead_s;
}

double SimJobs::reported_total_s(JobId id) const {
  const core::model::TrainingFacts* facts = training(id);
  return facts == nullptr || facts->epochs <= 0 ? -1 : total_work_s(id);
}

SimJobs::Progress& SimJobs::leave_resources(JobId id, TimeNs now) {
  Progress& p = progress_[id.index()];
  GOBAN_CHECK(p.slowdown > 0, "a job that does not run stops");
  settle(id, now);
  p.outcome.held_ns += now - p.run_start_ns;
  p.slowdown = 0;
  ++p.version;
  return p;
}

void SimJobs::stop(JobId id, TimeNs now, bool undone) {
  Progress& p = leave_resources(id, now);
  ++p.outcome.preemptions;
  p.outcome.undone += undone ? 1 : 0;
  p.undone = undone;
}

double SimJobs::abandon(JobId id, TimeNs now, double checkpoint_interval_s) {
  Progress& p = leave_resources(id, now);
  ++p.outcome.preemptions;
  const double done_s = p.work_at_start_s - p.work_left_s;
  if (checkpoint_interval_s <= 0 || p.worked_s <= 0) return 0;
  // Checkpoints are taken at fixed intervals of time. Work is assumed to be evenly spread even if
  // the speed changed.
  const double kept_s = std::floor(p.worked_s / checkpoint_interval_s) * checkpoint_interval_s;
  const double lost_s = done_s * (1 - kept_s / p.worked_s);
  p.work_left_s += lost_s;
  return lost_s;
}

void SimJobs::finish(JobId id, TimeNs now, JobEnd end) {
  Progress& p = leave_resources(id, now);
  p.outcome.finish_ns = now;
  p.outcome.end = end;
}

}  // namespace goban::study::simulator
