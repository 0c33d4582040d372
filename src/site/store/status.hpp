// Contents of a store, and its consistency (`goban history status`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "site/store/job_store.hpp"

namespace goban::site::store {

struct FiscalYear {
  int year = 0;
  int64_t jobs = 0;
  base::TimeNs begin_ns = 0;  ///< negative: before 1970
};

struct StoreStatus {
  std::vector<int> reduced_years;  ///< reduced to sums
  std::vector<FiscalYear> years;
  int64_t jobs = 0;         ///< of all years
  int64_t not_ended = 0;    ///< of them
  int64_t imports = 0;      ///< files
  int64_t imports_cut = 0;  ///< of them: interrupted
  int64_t sightings = 0;    ///< hook records: software and GPUs
};

/// Errors: Failed.
[[nodiscard]] base::Result<StoreStatus> store_status(JobStore& jobs);

struct StoreCheck {
  int64_t lone_sightings = 0;  ///< of jobs that are not in the store
  int64_t gpu_overlaps = 0;    ///< pairs of jobs that held one unshared GPU at the same time
  std::vector<std::string> first_overlaps;  ///< one line each
};

/// Reads all jobs and checks them for contradictions. Errors: Failed.
[[nodiscard]] base::Result<StoreCheck> check_store(JobStore& jobs);

}  // namespace goban::site::store
