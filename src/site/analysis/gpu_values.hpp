// Values of each GPU of each job: from series, or from means in the accounting records.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "site/analysis/population.hpp"
#include "site/series/job_values.hpp"

namespace goban::site::analysis {

/// One GPU of one job. Unknown numbers are -1.
struct GpuValue {
  float mean_pct = -1;
  float top_pct = -1;  ///< trimmed maximum; of means: the mean
  float mem_gib = -1;  ///< peak
  float mem_total_gib = -1;
  float sm_pct = -1;      ///< mean of SM activity
  float tensor_pct = -1;  ///< mean of tensor core activity
  float processes = -1;   ///< maximum number of processes at one time
  series::Activity activity = series::Activity::Unknown;
  series::Finding finding = series::Finding::NoSeries;
};

/// Source of the values.
enum class ValueSource : uint8_t { None, Series, Means };

/// The values of a population's jobs.
struct GpuUse {
  ValueSource source = ValueSource::None;
  std::vector<GpuValue> values;
  std::vector<uint32_t> ends;  ///< by job: end of its range in `values`
  std::vector<Verdict>
      node_verdicts;  ///< by job, over all GPUs of its nodes; empty = not requested
  series::ValueCounts counts;
  int64_t jobs_without_list = 0;  ///< jobs whose GPUs are unknown

  [[nodiscard]] std::span<const GpuValue> of(size_t job) const {
    if (ends.empty()) return {};
    const uint32_t begin = job == 0 ? 0 : ends[job - 1];
    return std::span(values).subspan(begin, ends[job] - begin);
  }
  /// GPUs that meet condition 5.
  [[nodiscard]] int32_t used(size_t job) const;
  [[nodiscard]] bool all_known(size_t job) const;
};

/// The series from which the values are computed; null = absent.
struct SeriesSources {
  const series::StoreReader* utilization = nullptr;
  const series::StoreReader* memory = nullptr;
  const series::StoreReader* sm_active = nullptr;
  const series::StoreReader* tensor_active = nullptr;
  const series::StoreReader* processes = nullptr;
  /// Used for devices without utilisation: MIG instances, for which DCGM has only this.
  const series::StoreReader* engine_active = nullptr;
};

/// The GPUs of a job by their names in the series: its GPU list; for whole-node jobs without a
/// list, all GPUs of their nodes. Empty = unknown.
[[nodiscard]] std::vector<series::DeviceKey> devices_of(const Population& population,
                                                        const Job& job);

/// Condition 3 by job, using the processes observed on the jobs' GPUs: pass if the records show the
/// software or a GPU had a process; fail if the records have no information and no GPU had a
/// process. Empty if the rules require other evidence.
[[nodiscard]] std::vector<Verdict> software_verdicts(const Population& population,
                                                     const Rules& rules,
                                                     const series::StoreReader& processes);

/// Values of the jobs that meet all rules so far. `progress` is called with the number of jobs
/// done.
[[nodiscard]] GpuUse gpu_use_of_series(const Population& population, const Rules& rules,
                                       const SeriesSources& sources,
                                       const std::function<void(int64_t)>& progress = {});
/// The same from means in the accounting records (Slurm with JS1 comments, PAI, gpu_util_pct of
/// generic CSV): a GPU counts as used if its mean reaches the threshold. Source `None` if no job
/// has any.
[[nodiscard]] GpuUse gpu_use_of_means(const Population& population, const Rules& rules);

/// Condition 5 by job: passes if at least one GPU is in use; fails if all are known and none is.
/// The GPUs are the job's, or with node_verdicts all GPUs of its nodes.
[[nodiscard]] std::vector<Verdict> use_verdicts(const Population& population, const GpuUse& use);

}  // namespace goban::site::analysis
