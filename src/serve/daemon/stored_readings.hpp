// Readings of GPUs in a series store, by the names that accounting records give the GPUs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "live/loop/live_scheduler.hpp"
#include "serve/daemon/curve_sums.hpp"
#include "site/series/sample.hpp"

namespace goban::serve::daemon {

/// The GPUs' names as in accounting records: node, and index there; by GPU.
[[nodiscard]] std::vector<site::series::DeviceKey> device_keys(
    const live::loop::SchedulerClient& scheduler);

/// Reads the value of a metric into the field that it stands for; other metrics are ignored.
void put_value(GpuReading& reading, site::series::Metric metric, double value);

/// Adds the stored samples of the window's GPUs; nothing if there is no store yet. Errors: those of
/// the store.
[[nodiscard]] base::Status add_stored_readings(const std::string& store,
                                               const std::vector<site::series::DeviceKey>& keys,
                                               const GpuWindow& window, CurveSums& sums);

}  // namespace goban::serve::daemon
