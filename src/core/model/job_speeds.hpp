// Measured speeds of applications: steps per second by GPU model and number of GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/model/cluster.hpp"
#include "core/model/ids.hpp"
#include "core/model/job.hpp"

namespace goban::core::model {

/// A number of GPUs that an application runs on, all of one model.
struct SpeedLevel {
  int32_t gpus = 0;
  double steps_per_s = 0;     ///< > 0
  bool interpolated = false;  ///< not measured: between two measured numbers of GPUs
  friend bool operator==(const SpeedLevel&, const SpeedLevel&) = default;
};

/// GPUs of one model.
struct GpuCount {
  uint32_t gpu_model = 0;
  int32_t gpus = 0;
};

/// Speeds by application (model and batch size) and GPU model (index into Cluster::gpu_models).
/// What is known of batch size 0 holds for the batch sizes of which nothing else is known.
class JobSpeeds {
 public:
  /// Adds a level, or replaces the one with as many GPUs.
  void add(ModelId model, int32_t batch_size, uint32_t gpu_model, SpeedLevel level);
  /// It was measured that the application does not run on so many GPUs of this model.
  void add_never(ModelId model, int32_t batch_size, uint32_t gpu_model, int32_t gpus);
  /// Adds the numbers of GPUs between those that are known, by linear interpolation.
  void interpolate();

  /// Ascending by GPUs; empty: the application does not run on GPUs of this model.
  [[nodiscard]] std::span<const SpeedLevel> levels(ModelId model, int32_t batch_size,
                                                   uint32_t gpu_model) const;
  /// Those from `facts.gpus_min` to `facts.gpus_max` GPUs.
  [[nodiscard]] std::span<const SpeedLevel> levels(const JobRequest& request,
                                                   const TrainingFacts& facts,
                                                   uint32_t gpu_model) const;
  /// Null if it does not run on so many GPUs of this model.
  [[nodiscard]] const SpeedLevel* find(ModelId model, int32_t batch_size, uint32_t gpu_model,
                                       int32_t gpus) const;
  /// The fastest over GPU models; null if it runs on so many GPUs of none.
  [[nodiscard]] const SpeedLevel* fastest(ModelId model, int32_t batch_size, int32_t gpus) const;
  [[nodiscard]] bool knows(ModelId model, int32_t batch_size) const;
  /// The first of the pairs that a job needs and of which nothing is known: its least, requested
  /// and greatest number of GPUs, on each of `num_models` GPU models.
  [[nodiscard]] std::optional<GpuCount> unknown_pair(const JobRequest& request,
                                                     const TrainingFacts& facts,
                                                     uint32_t num_models) const;
  /// The same speeds with other indices of GPU models, by old index; UINT32_MAX: left out.
  [[nodiscard]] JobSpeeds with_models(std::span<const uint32_t> gpu_models) const;

 private:
  using Key = std::tuple<ModelId, int32_t, uint32_t>;
  /// `batch_size`, or 0 if nothing is known of it.
  [[nodiscard]] int32_t batch_of(ModelId model, int32_t batch_size) const;

  std::map<Key, std::vector<SpeedLevel>> levels_;
  std::map<Key, std::set<int32_t>> never_;
  std::set<std::pair<ModelId, int32_t>> known_;
};

/// The level with the most GPUs up to `gpus`; null if there is none.
[[nodiscard]] const SpeedLevel* level_at_most(std::span<const SpeedLevel> levels, int64_t gpus);

/// Why the job cannot run with these speeds: a pair of GPU model and number of GPUs of which
/// nothing is known; empty if it can. `name`: of its model.
[[nodiscard]] std::string speed_problem(const JobSpeeds& speeds, const Cluster& cluster,
                                        const JobRequest& request, const TrainingFacts& facts,
                                        std::string_view name);

}  // namespace goban::core::model
