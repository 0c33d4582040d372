// Metrics in files with timestamps: OpenMetrics (`promtool tsdb dump-openmetrics`) and Prometheus'
// text format.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "series/input/adapter.hpp"
#include "series/input/input_counts.hpp"
#include "series/input/line_source.hpp"

namespace goban::series {

struct OpenMetricsOptions {
  /// Node of lines that have no label for it.
  std::string node;
  /// Time of lines without one; none: they are rejected.
  std::optional<int64_t> time_ms;
};

/// Opens the same input from its start; called twice (helping metrics first).
using OpenLines = std::function<base::Result<std::unique_ptr<LineSource>>()>;

/// Reads all samples that the adapters know. `file` names the input in messages.
/// Errors: I/O, damaged gzip; BadData if not one line is a metric.
[[nodiscard]] base::Result<InputCounts> read_open_metrics(const OpenLines& open,
                                                          const std::string& file,
                                                          const AdapterTable& adapters,
                                                          const OpenMetricsOptions& options,
                                                          SampleSink& sink);

/// The same of a path, gzip or not. Standard input is refused: it cannot be read twice.
[[nodiscard]] base::Result<InputCounts> read_open_metrics_file(const std::string& path,
                                                               const AdapterTable& adapters,
                                                               const OpenMetricsOptions& options,
                                                               SampleSink& sink);

}  // namespace goban::series
