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

/// Readers of the metrics that the analysis uses; nullopt for those that no source has.
struct GpuSeries {
  std::optional<series::StoreReader> utilization{};
  std::optional<series::StoreReader> engine_active{};
  std::optional<series::StoreReader> memory{};
  std::optional<series::StoreReader> sm_active{};
  std::optional<series::StoreReader> tensor_active{};
  std::optional<series::StoreReader> processes{};
  /// Owns the series imported for this run; the readers must not outlive it.
  std::optional<telemetry::GpuSources> sources{};
};

/// A time interval, [from_ms, to_ms).
struct AskedTime {
  int64_t from_ms = 0;
  int64_t to_ms = 0;
};

/// From the first start to the last end of the jobs that have both, extended by one step on both
/// sides because samples may be delayed. nullopt if no job has both.
[[nodiscard]] std::optional<AskedTime> time_of_jobs(const analysis::Population& population,
                                                    uint32_t step_ms);

/// Opens stores, and imports from files and servers for the time in which the jobs ran. What was
/// skipped, damaged or not answered is added to the remarks of `report`.
/// Errors: those of GpuSources::open(); BadData if there is no GPU utilisation; Failed if
/// cancelled.
[[nodiscard]] base::Result<GpuSeries> open_gpu_series(const std::vector<std::string>& sources,
                                                      const analysis::Population& population,
                                                      analysis::ReportData& report,
                                                      base::Progress& progress);

}  // namespace goban::site
