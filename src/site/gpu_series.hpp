// The GPU series of `goban analyze --gpu SOURCE...`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "site/analysis/population.hpp"
#include "site/analysis/report_data.hpp"
#include "site/telemetry/gpu_source.hpp"

namespace goban::cli {

/// Readers of the metrics that the analysis asks for; none where no source has them.
struct GpuSeries {
  std::optional<site::series::StoreReader> utilization{};
  std::optional<site::series::StoreReader> memory{};
  std::optional<site::series::StoreReader> sm_active{};
  std::optional<site::series::StoreReader> tensor_active{};
  std::optional<site::series::StoreReader> processes{};
  /// Holds what was imported for this run, so the readers must not outlive it.
  std::optional<site::telemetry::GpuSources> sources{};
};

/// A stretch of time, [from_ms, to_ms).
struct AskedTime {
  int64_t from_ms = 0;
  int64_t to_ms = 0;
};

/// From the first start to the last end of the jobs that have both, and a step on both sides, as
/// delayed samples are theirs, too. None if no job has both.
[[nodiscard]] std::optional<AskedTime> time_of_jobs(const site::analysis::Population& population,
                                                    uint32_t step_ms);

/// Opens stores, and takes files and servers in for the time in which the jobs ran. What was left
/// out, damaged or not answered becomes remarks of `report`.
/// Errors: as GpuSources::open; BadData if there is no GPU utilisation.
[[nodiscard]] base::Result<GpuSeries> open_gpu_series(const std::vector<std::string>& sources,
                                                      const site::analysis::Population& population,
                                                      site::analysis::ReportData& report);

}  // namespace goban::cli
