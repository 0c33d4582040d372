// Streaming parser for responses of Prometheus' HTTP API (version 2 and 3); no JSON tree is built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "site/series/input/adapter.hpp"

namespace goban::site::telemetry {

/// Receives the series of a response, each before its samples.
class MatrixSink {
 public:
  MatrixSink() = default;
  MatrixSink(const MatrixSink&) = delete;
  MatrixSink& operator=(const MatrixSink&) = delete;
  virtual ~MatrixSink() = default;
  /// Returns false to stop the reading.
  virtual bool series(const series::Labels& labels) = 0;
  virtual bool sample(int64_t time_ms, double value) = 0;
};

struct QueryResponse {
  bool success = false;               ///< status "success" and the JSON was complete
  std::string problem;                ///< why not successful
  std::string error_type;             ///< Prometheus' error type: "timeout", "execution", ...
  std::vector<std::string> warnings;  ///< the data may be incomplete
  uint64_t samples = 0;
};

/// Reads the response to a query whose result is a matrix. A problem may be found after samples
/// were passed on: these are valid, but incomplete.
[[nodiscard]] QueryResponse read_matrix(std::string_view json, MatrixSink& sink);

/// Reads {"status": "success", "data": ["text", ...]}; the texts are appended to `out`.
[[nodiscard]] QueryResponse read_texts(std::string_view json, std::vector<std::string>& out);

}  // namespace goban::site::telemetry
