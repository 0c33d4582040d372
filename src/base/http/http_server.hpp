// The HTTP server: sockets, connections, limits. One thread a listening socket carries bytes and
// never waits; workers answer requests; one more thread feeds bodies that go on. A slow client
// costs memory up to a bound, and nobody else's time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/http/http_message.hpp"
#include "base/http/listen_socket.hpp"
#include "base/result.hpp"

namespace goban::base::http {

struct HttpLimits {
  size_t body_bytes_max = size_t{4} << 20;
  size_t header_bytes_max = 32 << 10;      ///< memory of one connection beside its body
  uint32_t connections_max = 1000;         ///< of each listening socket
  uint32_t connections_peer_max = 200;     ///< of one user, on a Unix socket
  uint32_t connections_address_max = 100;  ///< of one IP address
  uint32_t idle_s = 30;                    ///< without a byte, then the connection is closed
  /// Requests answered at a time. Those that submit wait for the disk most of the time, and the
  /// more of them wait together, the fewer syncs each one costs.
  uint32_t workers = 64;
  uint32_t waiting_max = 1024;          ///< requests that wait for a worker; more are 503
  uint32_t streams_max = 256;           ///< bodies that go on at a time; more are 503
  size_t stream_bytes_max = 256 << 10;  ///< kept for a slow reader of one
};

/// PEM texts; empty = no TLS.
struct TlsIdentity {
  std::string certificate{};
  std::string key{};
  friend bool operator==(const TlsIdentity&, const TlsIdentity&) = default;
};

struct HttpStats {
  int64_t requests = 0;
  int64_t refused = 0;  ///< by a limit of the server
  int64_t connections = 0;
  int64_t streams = 0;
};

class HttpServer {
 public:
  /// Answers one request; called by several workers at a time.
  using Handler = std::function<Response(const Request&)>;
  /// Waits until something changed or a while (under a second) has passed; the streams are filled
  /// then. Called by one thread, and only while there are streams.
  using WaitForNews = std::function<void()>;

  /// Serves on all `sockets`, which it takes over. Errors: Failed if a thread or TLS cannot start.
  [[nodiscard]] static base::Result<std::unique_ptr<HttpServer>> start(
      std::vector<ListenSocket> sockets, TlsIdentity tls, HttpLimits limits, Handler handler,
      WaitForNews wait_for_news);
  /// Answers what is under way, ends all streams and closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] HttpStats stats() const;
  /// New connections over TCP get this certificate; those there are stay as they are. One caller at
  /// a time. Errors: Failed if the texts are no PEM or do not belong together; the old one counts
  /// on.
  [[nodiscard]] base::Status renew(const TlsIdentity& tls);

 private:
  struct Work;
  explicit HttpServer(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace goban::base::http
