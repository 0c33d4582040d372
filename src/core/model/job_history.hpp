// A history of jobs as a reader returns it.
#pragma once

#include <vector>

#include "base/name_table.hpp"
#include "core/model/job_list.hpp"

namespace goban::core::model {

/// Data that a job needs on the fast storage tier before it starts, and that it leaves there.
struct StagedData {
  int64_t in_bytes = 0;   ///< 0 = none
  int64_t out_bytes = 0;  ///< 0 = none
  uint32_t set = 0;       ///< index into JobHistory::data_sets; without a name: the job's own
  friend bool operator==(const StagedData&, const StagedData&) = default;
};

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
  std::vector<StagedData> staging;      ///< by JobId; empty if the input has none
  base::NameTable data_sets;            ///< of `staging`
  /// At least one job has a walltime limit.
  bool has_walltime_limits = false;
};

}  // namespace goban::core::model
