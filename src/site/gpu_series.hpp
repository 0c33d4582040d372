// GPU series from stores, files and servers, for the analysis of a site.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "site/analysis/population.hpp"
#include "site/analysis/report_data.hpp"
#include "site/series/store_reader.hpp"
#include "site/telemetry/gpu_source.hpp"

namespace goban::site {

/// Readers of the metrics that the analysis asks for; none where no source has them.
struct GpuSeries {
  std::optional<series::StoreReader> utilization{};
  std::optional<series::StoreReader> memory{};
  std::optional<series::StoreReader> sm_active{};
  std::optional<series::StoreReader> tensor_active{};
  std::optional<series::StoreReader> processes{};
  /// Holds what was imported for this run, so the readers must not outlive it.
  std::optional<telemetry::GpuSources> sources{};
};

/// A stretch of time, [from_ms, to_ms).
struct AskedTime {
  int64_t from_ms = 0;
  int64_t to_ms = 0;
};

/// From the first start to the last end of the jobs that have both, and a step on both sides, as
/// delayed samples are theirs, too. None if no job has both.
[[nodiscard]] std::optional<AskedTime> time_of_jobs(const analysis::Population& population,
                                                    uint32_t step_ms);

/// Opens stores, and imports files and servers for the time in which the jobs ran. What was left
/// out, damaged or not answered becomes remarks of `report`.
/// Errors: those of GpuSources::open(); BadData if there is no GPU utilisation; Failed if
/// cancelled.
[[nodiscard]] base::Result<GpuSeries> open_gpu_series(const std::vector<std::string>& sources,
                                                      const analysis::Population& population,
                                                      analysis::ReportData& report,
                                                      base::Progress& progress);

}  // namespace goban::site
