// The HTTP server: sockets, connections, limits. One thread per listening socket transfers bytes
// and never blocks; workers answer requests; one more thread fills streamed bodies. A slow client
// uses a bounded amount of memory and does not delay other clients.
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
  size_t header_bytes_max = 32 << 10;      ///< memory of one connection without its body
  uint32_t connections_max = 1000;         ///< of each listening socket
  uint32_t connections_peer_max = 200;     ///< of one user, on a Unix socket
  uint32_t connections_address_max = 100;  ///< of one IP address
  uint32_t idle_s = 30;                    ///< connections idle for longer are closed
  /// Requests answered concurrently. Submissions mostly wait for the disk; the more of them wait
  /// at once, the more share one sync.
  uint32_t workers = 64;
  uint32_t waiting_max = 1024;          ///< requests waiting for a worker; more get 503
  uint32_t streams_max = 256;           ///< concurrent streamed bodies; more get 503
  size_t stream_bytes_max = 256 << 10;  ///< buffered per stream for a slow reader
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
  /// Answers one request; called by several workers concurrently.
  using Handler = std::function<Response(const Request&)>;
  /// Waits for a change, for less than a second; then the streams are filled. Called by one thread,
  /// and only while there are streams.
  using WaitForUpdates = std::function<void()>;

  /// Serves on all `sockets` and takes their ownership. Errors: Failed if a thread or TLS cannot
  /// start.
  [[nodiscard]] static base::Result<std::unique_ptr<HttpServer>> start(
      std::vector<ListenSocket> sockets, TlsIdentity tls, HttpLimits limits, Handler handler,
      WaitForUpdates wait_for_updates);
  /// Answers the requests in progress, ends all streams and closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] HttpStats stats() const;
  /// Replaces the certificate for new TCP connections; open connections keep theirs. Not
  /// thread-safe. Errors: Failed if the texts are not PEM or do not match; the old certificate is
  /// kept.
  [[nodiscard]] base::Status renew(const TlsIdentity& tls);

 private:
  struct Work;
  explicit HttpServer(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace goban::base::http
