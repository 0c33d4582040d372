// A small server of /metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace goban::site::telemetry {

class Exporter {
 public:
  /// Serves what `page` returns, called from the server's threads. Errors: Failed if the address
  /// cannot be used (taken, not of this machine); port 0 takes a free one.
  [[nodiscard]] static base::Result<Exporter> start(const std::string& host, int port,
                                                    std::function<std::string()> page);
  Exporter(Exporter&&) noexcept;
  Exporter& operator=(Exporter&&) noexcept;
  /// Ends the server; requests under way are answered.
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
