// Sockets to listen on: a Unix socket, or TCP.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace goban::base::http {

/// A listening socket. The destructor closes it and removes a Unix socket's file.
class ListenSocket {
 public:
  /// Binds `path` with these permissions. A socket file without a listener is replaced; with
  /// `replace`, also one with a listener. Errors: Failed if another process listens there, the path
  /// is too long, or the file is not a socket.
  [[nodiscard]] static base::Result<ListenSocket> unix_at(const std::string& path, uint32_t mode,
                                                          bool replace = false);
  /// Binds an IP address and port; port 0 = any free one. Errors: Failed; Usage if `address` is not
  /// an IP address.
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
  uint64_t inode_ = 0;  ///< of the socket's file; a file that replaced it is not removed
};

/// True for 127.0.0.0/8 and ::1.
[[nodiscard]] bool is_loopback_address(const std::string& address);

}  // namespace goban::base::http
