// Sockets to listen on: a Unix socket, or TCP.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace goban::base::http {

/// A socket that listens. Closes it, and removes a Unix socket's file, when it goes.
class ListenSocket {
 public:
  /// Binds `path` with these permissions. A socket file that nobody listens on any more is
  /// replaced; with `replace`, one that somebody listens on, too. Errors: Failed if somebody
  /// listens there, the path is too long or not a socket.
  [[nodiscard]] static base::Result<ListenSocket> unix_at(const std::string& path, uint32_t mode,
                                                          bool replace = false);
  /// Binds an IP address and port; port 0 = any free one. Errors: Failed, Usage if `address` is no
  /// IP address.
  [[nodiscard]] static base::Result<ListenSocket> tcp_at(const std::string& address, uint16_t port);

  ListenSocket(ListenSocket&& other) noexcept;
  ListenSocket& operator=(ListenSocket&& other) noexcept;
  ~ListenSocket();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_unix() const { return !path_.empty(); }
  [[nodiscard]] uint16_t port() const { return port_; }

 private:
  ListenSocket() = default;
  void close();
  int descriptor_ = -1;
  uint16_t port_ = 0;
  std::string path_;
  uint64_t inode_ = 0;  ///< of the socket's file: another's is not removed
};

/// True for 127.0.0.0/8 and ::1.
[[nodiscard]] bool is_loopback_address(const std::string& address);

}  // namespace goban::base::http
