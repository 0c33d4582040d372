// What is known of elastic jobs: what they run on, and what they still have to do.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/model/job_speeds.hpp"
#include "core/policy/knowledge.hpp"
#include "core/policy/view.hpp"

namespace goban::core::scheduler {

using base::TimeNs;
using model::GpuId;
using model::JobState;

class ElasticJobs {
 public:
  /// `speed` and the progress reports of `context` must outlive this object.
  ElasticJobs(const policy::SpeedModel& speed, const policy::RunContext& context);

  /// Whether the sizes of the job may be chosen: it has a range of GPUs, and known speeds.
  [[nodiscard]] bool is_elastic(const JobState& job) const;
  /// An elastic job of a cluster with several GPU models gets GPUs of one model only.
  [[nodiscard]] bool has_one_model(const JobState& job) const {
    return job.elastic && speed_->cluster->gpu_models().size() > 1;
  }

  // Of elastic jobs:

  /// Levels on GPUs of this model, within the job's range.
  [[nodiscard]] std::span<const model::SpeedLevel> levels(const JobState& job,
                                                          uint32_t gpu_model) const;
  /// GPU models on which it runs with its present number of GPUs, fastest first.
  [[nodiscard]] std::vector<uint32_t> models_of(const JobState& job) const;
  /// What a start on another number of GPUs costs, in seconds.
  [[nodiscard]] double resize_cost_s(const JobState& job) const;
  /// Steps of the present run up to `now`, as its speed predicts; as if restarts cost nothing.
  [[nodiscard]] double run_steps(const JobState& job, std::span<const GpuId> gpus,
                                 TimeNs now) const;
  /// Steps still to do, as the job reports, else as its speed predicts; infinite if it states none.
  /// `gpus`: those that it holds now, if it runs.
  [[nodiscard]] double steps_left(const JobState& job, std::span<const GpuId> gpus,
                                  TimeNs now) const;
  /// Time that it would hold its present number of GPUs; kNever if unknown.
  [[nodiscard]] TimeNs duration_ns(const JobState& job, std::span<const GpuId> gpus,
                                   double slowdown, TimeNs now) const;

 private:
  const policy::SpeedModel* speed_;
  const model::ReportedProgress* progress_;
  std::shared_ptr<const model::JobSpeeds> speeds_;  ///< null: no job is elastic
  double restart_cost_s_;
  double resize_cost_s_;
};

}  // namespace goban::core::scheduler
