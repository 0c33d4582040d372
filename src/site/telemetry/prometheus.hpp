// Reads raw samples from a Prometheus server, by blocks of nodes and time.
//
// Samples are queried as they were scraped (`metric[range]` at the block's end), not resampled: a
// range query would repeat a value for five minutes after its series ended (lookback). Ranges are
// closed on both sides in version 2 and open on the left since version 3, so a block queries one
// millisecond more and discards samples outside it. There, stale markers end a series: no samples
// are invented.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/http/http_client.hpp"
#include "base/result.hpp"
#include "site/series/input/adapter.hpp"
#include "site/series/input/input.hpp"

namespace goban::site::telemetry {

/// Time-outs and retries of requests.
struct HttpOptions {
  double timeout_s = 60;  ///< of an entire response
  double connect_s = 10;
  uint32_t retries = 3;  ///< after transient failures: no connection, time-out, 429, 5xx
  double pause_s = 0.5;  ///< before the first retry; doubles
  size_t bytes_max = size_t{512} << 20;
};

struct PrometheusOptions {
  std::string url{};       ///< "http://prometheus:9090"; a path before /api/v1 is allowed
  std::string matchers{};  ///< added to every query, such as `job="gpu",cluster="a"`
  series::AdapterTable adapters = series::AdapterTable::builtin();
  std::vector<series::Metric> metrics{};  ///< empty: all that have an adapter
  int64_t from_ms = 0;
  int64_t to_ms = 0;  ///< samples of [from_ms, to_ms)
  uint32_t nodes_per_query = 64;
  int64_t block_ms = 6 * int64_t{3'600'000};
  /// A block that is too large for the server is halved down to this.
  int64_t block_ms_min = int64_t{600'000};
  HttpOptions http{};
};

/// A part of the data that could not be read: missing, not zero.
struct Gap {
  std::string metric;
  size_t nodes = 0;
  std::string first_node;
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  std::string reason;
};

struct PrometheusReport {
  std::string version;               ///< of the server; empty if unknown
  std::vector<std::string> metrics;  ///< names that were read
  uint64_t queries = 0;
  uint64_t retries = 0;
  uint64_t halved = 0;                ///< blocks queried in two halves
  std::vector<std::string> warnings;  ///< of the server, each once: data may be incomplete
  std::vector<Gap> gaps;
};

/// Passes all samples to the intake. Errors: Failed if the server cannot be reached or does not
/// list its metrics, Usage if it has none of the metrics; later failures are gaps in the report.
[[nodiscard]] base::Result<PrometheusReport> read_prometheus(const PrometheusOptions& options,
                                                             series::Intake& intake);

}  // namespace goban::site::telemetry
