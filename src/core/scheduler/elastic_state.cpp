// The part of the state about elastic jobs: what they run on, and what they still have to do.
#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

using model::JobPhase;
using model::SpeedLevel;

bool State::is_elastic(const JobState& job) const {
  const model::TrainingFacts& facts = job.training;
  const model::JobRequest& request = job.request;
  if (facts.gpus_max <= 0 || request.num_gpus <= 0 || request.resource_type.valid()) return false;
  return speeds_->fastest(request.model, facts.batch_size, request.num_gpus) != nullptr;
}

std::span<const SpeedLevel> State::levels(const JobState& job, uint32_t gpu_model) const {
  return speeds_->levels(job.request, job.training, gpu_model);
}

std::vector<uint32_t> State::models_of(const JobState& job) const {
  std::vector<std::pair<double, uint32_t>> found;
  const auto count = static_cast<uint32_t>(speed_.cluster->gpu_models().size());
  for (uint32_t m = 0; m < count; ++m) {
    const SpeedLevel* level =
        speeds_->find(job.request.model, job.training.batch_size, m, job.request.num_gpus);
    if (level != nullptr) found.emplace_back(-level->steps_per_s, m);
  }
  std::ranges::sort(found);
  std::vector<uint32_t> models;
  for (const auto& [speed, m] : found) models.push_back(m);
  return models;
}

double State::restart_cost_s(const JobState& job, bool resized) const {
  const TimeNs own = job.training.resize_cost_ns;
  return resized && own >= 0 ? base::to_seconds(own) : restart_cost_s_;
}

double State::run_steps(const JobState& job, std::span<const GpuId> gpus, TimeNs now) const {
  const SpeedLevel* level = speeds_->find(job.request.model, job.training.batch_size, job.gpu_model,
                                          job.request.num_gpus);
  if (level == nullptr) return 0;  // the table was replaced
  return base::to_seconds(now - job.run_start_ns) * level->steps_per_s /
         speed_.slowdown(job.request, gpus);
}

double State::steps_left(const JobState& job, TimeNs now) const {
  const double reported = progress_ == nullptr ? -1 : progress_->reported_steps_left(job.job, now);
  if (reported >= 0) return reported;
  if (job.training.steps <= 0) return std::numeric_limits<double>::infinity();
  double done = job.steps_done;
  if (job.phase == JobPhase::Running) {
    done += run_steps(job, running_[job.running_slot].allocation.gpus, now);
  }
  return std::max(0.0, static_cast<double>(job.training.steps) - done);
}

TimeNs State::elastic_duration_ns(const JobState& job, double slowdown, TimeNs now) const {
  const SpeedLevel* level =
      job.gpu_model == JobState::kAnyModel
          ? speeds_->fastest(job.request.model, job.training.batch_size, job.request.num_gpus)
          : speeds_->find(job.request.model, job.training.batch_size, job.gpu_model,
                          job.request.num_gpus);
  if (level == nullptr) return base::kNever;
  const bool restarts = job.phase != JobPhase::Running && job.starts > 0;
  return base::from_seconds_up((restarts ? restart_cost_s(job, false) : 0) +
                               steps_left(job, now) / level->steps_per_s * slowdown);
}

void State::set_size(Slot slot, policy::Size size, TimeNs now) {
  JobState& job = jobs_[slot];
  GOBAN_CHECK(job.elastic && job.phase == JobPhase::Waiting && size.gpus > 0);
  job.gpu_model = size.gpu_model;
  if (job.request.num_gpus == size.gpus) return;
  dequeue(slot);
  demand_gpus_ += size.gpus - job.request.num_gpus;
  job.request.num_gpus = size.gpus;
  shapes_[slot] = shape_number(job.request);
  insert(slot, now);
}

void State::set_withheld(Slot slot, bool withheld) {
  JobState& job = jobs_[slot];
  if (job.withheld == withheld) return;
  job.withheld = withheld;
  num_withheld_ = withheld ? num_withheld_ + 1 : num_withheld_ - 1;
}

}  // namespace goban::core::scheduler
