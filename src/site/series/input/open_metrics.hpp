// Metrics in text with timestamps: OpenMetrics, Prometheus' text format, `promtool tsdb dump`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/byte_source.hpp"
#include "base/result.hpp"
#include "site/series/input/adapter.hpp"
#include "site/series/input/input.hpp"

namespace goban::site::series {

/// Opens the same input from its start; called twice (helper metrics are read first).
using OpenBytes = std::function<base::Result<std::unique_ptr<base::ByteSource>>()>;

/// Reads all samples of metrics that have an adapter; `file` denotes the input in messages,
/// `time_ms` is the time of lines without one (none: they are rejected). Stops early if the intake
/// is stopped. Errors: I/O, damaged gzip; BadData if no line is a metric.
[[nodiscard]] base::Status read_open_metrics(const OpenBytes& open, const std::string& file,
                                             const AdapterTable& adapters,
                                             std::optional<int64_t> time_ms, Intake& intake);

}  // namespace goban::site::series
