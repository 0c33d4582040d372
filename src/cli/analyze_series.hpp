// The GPU series of `goban analyze --gpu SOURCE...`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/population.hpp"
#include "analysis/report_data.hpp"
#include "base/result.hpp"
#include "telemetry/gpu_source.hpp"

namespace goban::cli {

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

/// Opens stores, and takes files and servers in for the time in which the jobs ran. What was left
/// out, damaged or not answered becomes remarks of `report`.
/// Errors: as GpuSources::open; BadData if there is no GPU utilisation.
[[nodiscard]] base::Result<GpuSeries> open_gpu_series(const std::vector<std::string>& sources,
                                                      const analysis::Population& population,
                                                      analysis::ReportData& report);

}  // namespace goban::cli
