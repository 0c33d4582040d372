// A year like ABCI's with the utilisation of every GPU, every minute: jobs of history/generate
// placed on nodes, series in a series store, and the true results, computed from the samples.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "study/history/generate/abci.hpp"

namespace goban::study::history {

struct SeriesYearOptions {
  AbciOptions abci{};
  std::string folder{};  ///< receives jobs.csv, truth.csv and series/
  int32_t nodes = 1088;  ///< with 4 GPUs each
  bool sync = true;
  const std::atomic<bool>* interrupted = nullptr;
  WorkProgress on_progress{};
};

struct SeriesYearCounts {
  int64_t jobs = 0;
  int64_t waited = 0;     ///< jobs that did not start immediately
  int64_t too_large = 0;  ///< jobs of more nodes than the cluster has; excluded
  int64_t job_gpus = 0;
  uint64_t samples = 0;    ///< written values and staleness markers
  int64_t last_end_s = 0;  ///< seconds since 1970
};

/// First second of the year, 2019-04-05 00:00 UTC.
inline constexpr int64_t kYearStart_s = 1'554'422'400;

/// Writes
///   jobs.csv    format `records`: times, nodes, GPU lists, software;
///   series/     a store with gpu_utilization, one sample a minute of every GPU, busy or not;
///   truth.csv   job, gpus, used GPUs, samples, mean of the used GPUs (percent), standard deviation
///               between them (population), largest trimmed maximum.
/// Runs on one thread; about 100 MB of memory for the year. Errors: Usage, Failed (I/O).
[[nodiscard]] base::Result<SeriesYearCounts> generate_series_year(const SeriesYearOptions& options);

}  // namespace goban::study::history
