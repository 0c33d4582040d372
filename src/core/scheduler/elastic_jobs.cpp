#include "core/scheduler/elastic_jobs.hpp"

#include <algorithm>
#include <limits>

namespace goban::core::scheduler {

using model::SpeedLevel;

ElasticJobs::ElasticJobs(const policy::SpeedModel& speed, const policy::RunContext& context)
    : speed_(&speed),
      progress_(context.progress),
      speeds_(context.speeds),
      restart_cost_s_(context.restart_cost_s),
      resize_cost_s_(context.resize_cost_s) {}

bool ElasticJobs::is_elastic(const JobState& job) const {
  if (speeds_ == nullptr || job.training.gpus_max <= 0) return false;
  const model::JobRequest& request = job.request;
  if (request.num_gpus <= 0 || request.resource_type.valid()) return false;
  return speeds_->fastest(request.model, job.training.batch_size, request.num_gpus) != nullptr;
}

std::span<const SpeedLevel> ElasticJobs::levels(const JobState& job, uint32_t gpu_model) const {
  return speeds_->levels(job.request, job.training, gpu_model);
}

std::vector<uint32_t> ElasticJobs::models_of(const JobState& job) const {
  std::vector<std::pair<double, uint32_t>> found;
  const auto count = static_cast<uint32_t>(speed_->cluster->gpu_models().size());
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

double ElasticJobs::resize_cost_s(const JobState& job) const {
  const TimeNs own = job.training.resize_cost_ns;
  return own >= 0 ? base::to_seconds(own) : resize_cost_s_;
}

double ElasticJobs::run_steps(const JobState& job, std::span<const GpuId> gpus, TimeNs now) const {
  const SpeedLevel* level = speeds_->find(job.request.model, job.training.batch_size, job.gpu_model,
                                          job.request.num_gpus);
  if (level == nullptr) return 0;  // the table was replaced
  return base::to_seconds(now - job.run_start_ns) * level->steps_per_s /
         speed_->slowdown(job.request, gpus);
}

double ElasticJobs::steps_left(const JobState& job, std::span<const GpuId> gpus, TimeNs now) const {
  const double reported = progress_ == nullptr ? -1 : progress_->reported_steps_left(job.job, now);
  if (reported >= 0) return reported;
  if (job.training.steps <= 0) return std::numeric_limits<double>::infinity();
  const double running = gpus.empty() ? 0 : run_steps(job, gpus, now);
  return std::max(0.0, static_cast<double>(job.training.steps) - job.steps_done - running);
}

TimeNs ElasticJobs::duration_ns(const JobState& job, std::span<const GpuId> gpus, double slowdown,
                                TimeNs now) const {
  const model::JobRequest& request = job.request;
  const int32_t batch_size = job.training.batch_size;
  const SpeedLevel* level =
      job.gpu_model == JobState::kAnyModel
          ? speeds_->fastest(request.model, batch_size, request.num_gpus)
          : speeds_->find(request.model, batch_size, job.gpu_model, request.num_gpus);
  if (level == nullptr) return base::kNever;
  const bool restarts = job.phase != model::JobPhase::Running && job.starts > 0;
  return base::from_seconds_up((restarts ? restart_cost_s_ : 0) +
                               steps_left(job, gpus, now) / level->steps_per_s * slowdown);
}

}  // namespace goban::core::scheduler
