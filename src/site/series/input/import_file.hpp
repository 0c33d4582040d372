// Reads a file of GPU metrics in any supported format into samples.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time_zone.hpp"
#include "site/series/input/adapter.hpp"
#include "site/series/input/input.hpp"

namespace goban::site::series {

enum class FileFormat : uint8_t {
  Auto,         ///< detected from the first lines
  OpenMetrics,  ///< also Prometheus' text format and `promtool tsdb dump`
  NvidiaSmi,    ///< CSV of nvidia-smi --query-gpu
  PhillyUtil,   ///< cluster_gpu_util of Microsoft's Philly traces
};

struct SeriesImportOptions {
  FileFormat format = FileFormat::Auto;
  AdapterTable adapters = AdapterTable::builtin();
  std::vector<Metric> metrics{};  ///< empty: all
  /// Node of samples without one. With node_from_file: the file's name up to its first dot.
  std::string node{};
  bool node_from_file = false;
  bool short_node_names = false;
  std::optional<int64_t> time_ms{};  ///< of samples without a time
  base::TimeZone zone{};             ///< of nvidia-smi's timestamps
  std::string columns{};             ///< of nvidia-smi's output without header
};

/// The format detected from the start of a text; none if it is neither.
[[nodiscard]] std::optional<FileFormat> detect_format(std::string_view beginning);

/// Reads a file, plain or gzip; "-" is standard input (copied to a temporary file). Errors: I/O;
/// Usage if the format cannot be detected; BadData.
[[nodiscard]] base::Status import_file(const std::string& path, const SeriesImportOptions& options,
                                       Intake& intake);

}  // namespace goban::site::series
