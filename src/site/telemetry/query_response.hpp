// Answers of Prometheus' HTTP API (version 2 and 3), read as they come: no tree of JSON is built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "site/series/input/adapter.hpp"

namespace goban::site::telemetry {

/// Takes the series of an answer, each before its samples.
class MatrixSink {
 public:
  MatrixSink() = default;
  MatrixSink(const MatrixSink&) = delete;
  MatrixSink& operator=(const MatrixSink&) = delete;
  virtual ~MatrixSink() = default;
  /// False if the rest is not wanted.
  virtual bool series(const series::Labels& labels) = 0;
  virtual bool sample(int64_t time_ms, double value) = 0;
};

struct QueryResponse {
  bool success = false;               ///< status "success" and the JSON was whole
  std::string problem;                ///< why not
  std::string error_type;             ///< of Prometheus: "timeout", "execution", ...
  std::vector<std::string> warnings;  ///< the data may be incomplete
  uint64_t samples = 0;
};

/// Reads the answer of a query whose result is a matrix. A problem may show after samples were
/// given on: then they are right, but not all there are.
[[nodiscard]] QueryResponse read_matrix(std::string_view json, MatrixSink& sink);

/// Reads {"status": "success", "data": ["text", ...]}; the texts are appended to `out`.
[[nodiscard]] QueryResponse read_texts(std::string_view json, std::vector<std::string>& out);

}  // namespace goban::site::telemetry
