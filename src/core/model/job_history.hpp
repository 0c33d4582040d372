// A history of jobs as a reader returns it.
#pragma once

#include <vector>

#include "base/name_table.hpp"
#include "core/model/job_list.hpp"

namespace goban::core::model {

/// Jobs in submit order (stable), dense by JobId, with the names used in the input.
struct JobHistory {
  JobList jobs;
  base::NameList job_names;  ///< the input's job ids, by JobId
  base::NameTable models;
  base::NameTable users;
  base::NameTable accounts;
  base::NameTable partitions;
  base::NameTable qos;
  std::vector<JobArray> arrays;
  std::vector<Recorded> recorded;       ///< by JobId; empty if the input has none
  std::vector<TrainingFacts> training;  ///< by JobId; empty if the input has none
  /// At least one job has a walltime limit.
  bool has_walltime_limits = false;
};

}  // namespace goban::core::model
