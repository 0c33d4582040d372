// An HTTP server for /metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace goban::site::telemetry {

class Exporter {
 public:
  /// Serves the result of `page`, which is called from the server's threads. Errors: Failed if the
  /// address cannot be used (in use, not of this machine); port 0 selects a free one.
  [[nodiscard]] static base::Result<Exporter> start(const std::string& host, int port,
                                                    std::function<std::string()> page);
  Exporter(Exporter&&) noexcept;
  Exporter& operator=(Exporter&&) noexcept;
  /// Stops the server after answering the requests in progress.
  ~Exporter();
  [[nodiscard]] int port() const;

 private:
  struct Server;
  explicit Exporter(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

/// "127.0.0.1:9417", "[::1]:9417", ":9417" (all addresses). Errors: Usage.
[[nodiscard]] base::Result<std::pair<std::string, int>> parse_listen(const std::string& text);

}  // namespace goban::site::telemetry
