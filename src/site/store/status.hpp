// What a store holds, and whether it is consistent. What `goban history status` says.
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
  std::vector<int> reduced_years;  ///< of which only sums are kept
  std::vector<FiscalYear> years;
  int64_t jobs = 0;         ///< of all years
  int64_t not_ended = 0;    ///< of them
  int64_t imports = 0;      ///< files
  int64_t imports_cut = 0;  ///< of them: did not come to their end
  int64_t sightings = 0;    ///< of software and GPUs, by hooks
};

/// Errors: Failed.
[[nodiscard]] base::Result<StoreStatus> store_status(JobStore& jobs);

struct StoreCheck {
  int64_t lone_sightings = 0;  ///< of jobs that the store does not have
  int64_t gpu_overlaps = 0;    ///< times that two jobs held one GPU that was not shared
  std::vector<std::string> first_overlaps;  ///< a line each
};

/// Reads all jobs and looks for what cannot be. Errors: Failed.
[[nodiscard]] base::Result<StoreCheck> check_store(JobStore& jobs);

}  // namespace goban::site::store
