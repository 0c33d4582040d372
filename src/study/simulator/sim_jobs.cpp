#include "study/simulator/sim_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace goban::study::simulator {

SimJobs::SimJobs(const core::model::JobHistory& history, double restart_cost_s)
    : history_(&history),
      restart_cost_s_(restart_cost_s),
      places_(history.jobs.size(), kNotBegun),
      outcomes_(history.jobs.size()) {}

JobId SimJobs::add_filler(core::model::Job job) {
  places_.push_back(kNotBegun);
  outcomes_.emplace_back();
  fillers_.push_back(std::move(job));
  return JobId(places_.size() - 1);
}

std::vector<JobOutcome> SimJobs::take_outcomes() {
  outcomes_.resize(history_->jobs.size());
  return std::move(outcomes_);
}

std::vector<SharedOutcome> SimJobs::take_shared() {
  if (!shared_.empty()) shared_.resize(history_->jobs.size());
  return std::move(shared_);
}

SharedOutcome& SimJobs::shared_of(JobId id) {
  if (shared_.size() <= id.index()) shared_.resize(places_.size());
  return shared_[id.index()];
}

std::vector<ElasticOutcome> SimJobs::take_elastic() {
  if (!elastic_.empty()) elastic_.resize(history_->jobs.size());
  return std::move(elastic_);
}

ElasticOutcome& SimJobs::elastic_of(JobId id) {
  if (elastic_.size() <= id.index()) elastic_.resize(places_.size());
  return elastic_[id.index()];
}

double SimJobs::begin_size(JobId id, Progress& p, const ElasticLaunch& launch) {
  ElasticOutcome& outcome = elastic_of(id);
  const bool resized = p.gpus > 0 && p.gpus != launch.gpus;
  p.gpus = launch.gpus;
  outcome.resizes += resized ? 1 : 0;
  outcome.interpolated |= launch.interpolated;
  outcome.gpus_min = outcome.gpus_min == 0 ? p.gpus : std::min(outcome.gpus_min, p.gpus);
  outcome.gpus_max = std::max(outcome.gpus_max, p.gpus);
  const core::model::TrainingFacts* facts = training(id);
  const bool own = resized && facts != nullptr && facts->resize_cost_ns >= 0;
  return own ? base::to_seconds(facts->resize_cost_ns) : restart_cost_s_;
}

SimJobs::Progress& SimJobs::begin(JobId id) {
  uint32_t& place = places_[id.index()];
  GOBAN_CHECK(place != kFinished, "a finished job starts");
  if (place != kNotBegun) return progress_[place];
  if (free_places_.empty()) {
    place = static_cast<uint32_t>(progress_.size());
    progress_.emplace_back();
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  return progress_[place] = {.work_left_s = job(id).work_s};
}

double SimJobs::launch(JobId id, TimeNs now, double slowdown, double contention, bool same_gpus,
                       const ElasticLaunch* elastic) {
  Progress& p = begin(id);
  GOBAN_CHECK(!p.runs && slowdown > 0 && contention > 0);
  const double cost_s = elastic == nullptr ? restart_cost_s_ : begin_size(id, p, *elastic);
  if (p.version > 0 && (!same_gpus || p.undone)) p.overhead_left_s = cost_s;
  p.undone = false;
  if (p.version == 0) outcomes_[id.index()].start_ns = now;
  ++p.version;
  p.runs = true;
  p.slowdown = slowdown * contention;
  p.alone_slowdown = slowdown;
  p.contention = contention;
  p.work_at_start_s = p.work_left_s;
  p.worked_s = 0;
  p.run_start_ns = p.settled_ns = now;
  return p.overhead_left_s + p.work_left_s * p.slowdown;
}

void SimJobs::settle(JobId id, TimeNs now) {
  Progress& p = progress_[places_[id.index()]];
  const double span_s = base::to_seconds(now - p.settled_ns);
  worked_ = worked_ || works(id, now);
  p.work_left_s = work_left_s(id, now);
  p.worked_s += std::max(0.0, span_s - p.overhead_left_s);
  const double overhead_s = std::min(p.overhead_left_s, span_s);
  overhead_gpu_s_ += overhead_s * gpus_of(id);
  p.overhead_left_s -= overhead_s;
  p.settled_ns = now;
}

double SimJobs::change_contention(JobId id, TimeNs now, double contention) {
  GOBAN_CHECK(running(id) && contention > 0);
  settle(id, now);
  Progress& p = progress_[places_[id.index()]];
  ++p.version;
  p.contention = contention;
  p.slowdown = p.alone_slowdown * contention;
  return p.overhead_left_s + p.work_left_s * p.slowdown;
}

double SimJobs::work_left_s(JobId id, TimeNs now) const {
  const uint32_t place = places_[id.index()];
  if (place >= kFinished) return place == kNotBegun ? job(id).work_s : 0;
  const Progress& p = progress_[place];
  if (!p.runs) return p.work_left_s;
  const double working_s = base::to_seconds(now - p.settled_ns) - p.overhead_left_s;
  return working_s <= 0 ? p.work_left_s : std::max(0.0, p.work_left_s - working_s / p.slowdown);
}

double SimJobs::inexact_s(JobId id) const {
  const Progress& p = progress(id);
  if (p.version <= 1) return 0;
  const double largest_s = (job(id).work_s + restart_cost_s_) * p.slowdown;
  return std::min(0.5e-9, p.version * std::numeric_limits<double>::epsilon() * largest_s);
}

bool SimJobs::works(JobId id, TimeNs now) const {
  const Progress& p = run_of(id);
  return base::to_seconds(now - p.settled_ns) > p.overhead_left_s;
}

double SimJobs::launch_cost_s(JobId id) const {
  return progress(id).version > 0 ? restart_cost_s_ : 0.0;
}

double SimJobs::reported_left_s(JobId id, TimeNs now) const {
  const core::model::TrainingFacts* facts = training(id);
  if (facts == nullptr || facts->epochs <= 0) return -1;
  const Progress& p = progress(id);
  if (!p.runs) return work_left_s(id, now) + launch_cost_s(id);
  const double overhead_s = std::max(0.0, p.overhead_left_s - base::to_seconds(now - p.settled_ns));
  return work_left_s(id, now) + overhead_s;
}

double SimJobs::reported_total_s(JobId id) const {
  const core::model::TrainingFacts* facts = training(id);
  return facts == nullptr || facts->epochs <= 0 ? -1 : total_work_s(id);
}

double SimJobs::reported_steps_left(JobId id, TimeNs now) const {
  const core::model::TrainingFacts* facts = training(id);
  if (facts == nullptr || facts->steps <= 0) return -1;
  const double work_s = total_work_s(id);
  const auto steps = static_cast<double>(facts->steps);
  return work_s > 0 ? steps * (work_left_s(id, now) / work_s) : 0;
}

SimJobs::Progress& SimJobs::leave_resources(JobId id, TimeNs now) {
  GOBAN_CHECK(running(id), "a job that does not run stops");
  settle(id, now);
  Progress& p = progress_[places_[id.index()]];
  outcomes_[id.index()].held_ns += now - p.run_start_ns;
  if (p.gpus > 0) {
    elastic_of(id).held_gpu_s += base::to_seconds(now - p.run_start_ns) * p.gpus;
  }
  p.runs = false;
  ++p.version;
  return p;
}

void SimJobs::stop(JobId id, TimeNs now, bool undone) {
  leave_resources(id, now).undone = undone;
  ++outcomes_[id.index()].preemptions;
  if (undone) ++shared_of(id).undone;
}

double SimJobs::abandon(JobId id, TimeNs now, double checkpoint_interval_s, bool failed) {
  Progress& p = leave_resources(id, now);
  p.undone = failed;
  ++outcomes_[id.index()].preemptions;
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
  if (running(id)) leave_resources(id, now);
  JobOutcome& outcome = outcomes_[id.index()];
  outcome.finish_ns = now;
  outcome.end = end;
  uint32_t& place = places_[id.index()];
  if (place < kFinished) free_places_.push_back(place);
  place = kFinished;
}

}  // namespace goban::study::simulator
