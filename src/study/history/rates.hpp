// Speeds of elastic jobs: reads a file of measured steps per second, and fits the jobs of a history
// to it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "core/model/job_speeds.hpp"

namespace goban::study::history {

/// A measured speed.
struct RateRow {
  std::string model{};
  int32_t batch_size = 0;   ///< 0: of every batch size without rows of its own
  std::string gpu_model{};  ///< empty: of the only GPU model of the cluster
  int32_t gpus = 0;
  double steps_per_s = 0;  ///< 0: it does not run on these GPUs
  int32_t line = 0;        ///< of the file
};

/// Reads a CSV with the columns model, num_gpus and steps_per_s, and optionally batch_size and
/// gpu_model. Errors: BadData with line and column for invalid or duplicate rows, or other columns.
[[nodiscard]] base::Result<std::vector<RateRow>> parse_rates(std::string_view text,
                                                             const std::string& file);

/// The speeds on a cluster. `number` gives the id of a model, which is invalid if no job has it.
/// `interpolate`: also between measured numbers of GPUs. Errors: BadData if a row names no GPU
/// model and the cluster has several, if two rows are of the same GPUs, or if no row is of a GPU
/// model of the cluster.
[[nodiscard]] base::Result<core::model::JobSpeeds> make_speeds(
    const std::vector<RateRow>& rows, const std::string& file, const core::model::Cluster& cluster,
    const std::function<core::model::ModelId(const std::string& name)>& number, bool interpolate);

/// By JobId: the history states the steps. Call it before fit_jobs(), which gives steps to others
/// from their durations.
[[nodiscard]] std::vector<bool> states_steps(const core::model::JobHistory& history);

/// Counts of fit_jobs().
struct RateCounts {
  int64_t elastic = 0;   ///< jobs with a range of GPUs
  int64_t one_size = 0;  ///< jobs without, whose speed depends on the GPU model
  int64_t new_work = 0;  ///< jobs whose recorded duration was replaced by steps / speed
  int64_t no_range = 0;  ///< jobs of known models without a range, on a cluster of one GPU model
  int64_t no_speed = 0;  ///< jobs of other models, which are rigid
};

/// Fits the jobs to the speeds: each job with a range of GPUs gets steps (from its duration, if it
/// states none) and its work, that of its steps on the GPUs that it requests of the fastest model.
/// On a cluster with several GPU models, so does each other job of a known model, with one size.
/// Errors: BadData if a pair that a job needs was not measured, lies outside of what was
/// measured or beyond the cluster, or if its steps would take more than 4.6e9 seconds on a size of
/// its range; the history may then be changed.
[[nodiscard]] base::Result<RateCounts> fit_jobs(const core::model::JobSpeeds& speeds,
                                                const std::string& file,
                                                const core::model::Cluster& cluster,
                                                core::model::JobHistory& history);

/// Deadlines that fitted jobs miss even if they start at once, on the fastest GPUs of their range.
[[nodiscard]] int64_t impossible_deadlines(const core::model::JobSpeeds& speeds,
                                           const core::model::Cluster& cluster,
                                           const core::model::JobHistory& history);

}  // namespace goban::study::history
