// Output of `nvidia-smi --query-gpu=... --format=csv`: any columns in any order, with or without
// header and units, one sampling or a log of several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"
#include "base/result.hpp"
#include "base/time_zone.hpp"
#include "site/series/input/input.hpp"

namespace goban::site::series {

struct NvidiaSmiOptions {
  /// Node of the rows if there is no column `hostname`.
  std::string node{};
  bool short_node_names = false;
  /// Columns of a file without header ("index,utilization.gpu").
  std::string columns{};
  /// Time of rows without a column `timestamp`.
  std::optional<int64_t> time_ms{};
  /// Time zone of the timestamps, which have none.
  base::TimeZone zone{};
  /// Only these metrics; empty: all.
  std::vector<Metric> metrics{};
};

/// Reads all rows; `file` denotes the input in messages. `[N/A]` and `[Not Supported]` are
/// NotAvailable; other texts in brackets (`[Unknown Error]`, `[GPU is lost]`) are not samples.
/// Errors: I/O, damaged gzip; BadData if there is no header and `columns` is empty, if the node is
/// unknown, or if no column is a supported metric.
[[nodiscard]] base::Status read_nvidia_smi(base::ByteSource& source, const std::string& file,
                                           const NvidiaSmiOptions& options, Intake& intake);

/// True if a line looks like the header of such output.
[[nodiscard]] bool is_nvidia_smi_header(std::string_view line);

/// Converts a cell ("35 %", "1024 MiB", "[N/A]", "73.18") to a reading of `metric`, in its unit;
/// none if it is neither a number with a compatible unit nor a text in brackets.
[[nodiscard]] std::optional<Reading> parse_nvidia_smi_cell(std::string_view cell, Metric metric,
                                                           Unit unit);

/// `2026/07/14 09:00:26.123` as milliseconds of wall-clock time (since 1970, as if it were UTC).
[[nodiscard]] std::optional<int64_t> parse_nvidia_smi_time(std::string_view text);

}  // namespace goban::site::series
