// Metrics of files and of a Prometheus server into a store of series. What `goban series import`
// does.
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
  std::string store;  ///< folder; made if it is not there
  series::WriterOptions writing{};
  std::vector<std::string> files{};  ///< "-" is standard input
  series::ImportOptions reading{};   ///< its adapters and metrics for the server, too
  /// Asked after the files; its adapters, metrics and times are those of this request.
  std::optional<PrometheusOptions> server{};
  std::optional<int64_t> from_ms{};  ///< samples of [from_ms, to_ms); a server needs both
  std::optional<int64_t> to_ms{};
  std::string rejects{};  ///< CSV of rejected lines; empty: none
};

struct SeriesImportReport {
  series::InputCounts input;
  series::WriteCounts written;
  std::optional<PrometheusReport> server;    ///< with what it did not give
  std::vector<std::string> reject_examples;  ///< "file:line: reason" of the first rejected lines
  bool was_cancelled = false;                ///< what was read before is in the store
};

/// Repeating an import changes nothing: what is in the store is skipped. Errors: Usage if there is
/// nothing to import, or a server without a time; those of reading and writing. What was taken
/// before an error stays.
[[nodiscard]] base::Result<SeriesImportReport> import_series(const SeriesImportRequest& request,
                                                             base::Progress& progress);

}  // namespace goban::site::telemetry
