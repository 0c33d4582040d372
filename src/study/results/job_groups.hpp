// Mean JCT and wait time by group of jobs: which groups gain from a policy, and which lose.
#pragma once

#include <string>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Index of the first counted job: those submitted less than `warmup_ns` after the first job are
/// the warm-up.
[[nodiscard]] size_t first_counted(const core::model::JobHistory& history, base::TimeNs warmup_ns);

/// The group of every counted job.
struct JobGrouping {
  std::string by;  ///< "class" or "gpus"
  std::vector<std::string> names;
  size_t first_counted = 0;
  std::vector<uint32_t> of_job;  ///< from first_counted on
  std::vector<int64_t> jobs;     ///< of each group; none is empty
};

/// By application class: A (most sensitive to slow GPUs), B, ...
[[nodiscard]] JobGrouping group_by_class(const core::model::JobHistory& history,
                                         base::TimeNs warmup_ns);
/// By number of requested GPUs: 0, 1, 2, 3-4, 5-8, 9-16, ...
[[nodiscard]] JobGrouping group_by_gpus(const core::model::JobHistory& history,
                                        base::TimeNs warmup_ns);

struct GroupMeans {
  std::vector<double> jct_s;  ///< by group
  std::vector<double> wait_s;
};

[[nodiscard]] GroupMeans group_means(const JobGrouping& grouping,
                                     const core::model::JobHistory& history,
                                     const simulator::SimulationResult& result);

}  // namespace goban::study::results
