// Imports metrics from files and from a Prometheus server into a series store (`goban series
// import`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "site/series/input/import_file.hpp"
#include "site/series/store_writer.hpp"
#include "site/telemetry/prometheus.hpp"

namespace goban::site::telemetry {

struct SeriesImportRequest {
  std::string store;  ///< folder; created if it does not exist
  series::WriterOptions writing{};
  std::vector<std::string> files{};       ///< "-" is standard input
  series::SeriesImportOptions reading{};  ///< its adapters and metrics also apply to the server
  /// Queried after the files; adapters, metrics and times are those of this request.
  std::optional<PrometheusOptions> server{};
  std::optional<int64_t> from_ms{};  ///< samples of [from_ms, to_ms); required for a server
  std::optional<int64_t> to_ms{};
  std::string rejects{};  ///< CSV of rejected lines; empty: none
};

struct SeriesImportReport {
  series::InputCounts input;
  series::WriteCounts written;
  std::optional<PrometheusReport> server;    ///< including its gaps
  std::vector<std::string> reject_examples;  ///< "file:line: reason" of the first rejected lines
  bool was_cancelled = false;                ///< samples read before are in the store
};

/// Repeating an import changes nothing: samples already in the store are skipped. Errors: Usage if
/// there is nothing to import, or a server without a period; those of reading and writing. Samples
/// added before an error are kept.
[[nodiscard]] base::Result<SeriesImportReport> import_series(const SeriesImportRequest& request,
                                                             base::Progress& progress);

}  // namespace goban::site::telemetry
