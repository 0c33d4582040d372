// Samples of a store as CSV (`goban series show`).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "site/series/metric.hpp"

namespace goban::site::series {

/// Empty texts: no restriction.
struct SampleSelection {
  Metric metric = Metric::GpuUtilization;
  std::string node{};
  std::string device{};  ///< its index or UUID
  int64_t from_ms = INT64_MIN / 2;
  int64_t to_ms = INT64_MAX / 2;  ///< samples of [from_ms, to_ms)
};

/// Blocks that could not be read; their samples are omitted.
struct DamagedDevice {
  std::string node;
  std::string device;
  uint64_t blocks = 0;
};

/// Writes `node,device,uuid,time_s,<metric>` to `sink`, device by device; stops when cancelled.
/// Missing samples have no row. Returns the devices with damaged blocks. Errors: those of
/// StoreReader::open(); Failed if the store has no such series.
[[nodiscard]] base::Result<std::vector<DamagedDevice>> write_samples_csv(
    const std::string& store, const SampleSelection& selection, const base::Progress& progress,
    const std::function<void(std::string_view)>& sink);

}  // namespace goban::site::series
