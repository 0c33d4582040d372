// For tests: a relay in front of a database server that closes a connection in the middle of what
// the client sends, as after a killed client, a failed switch or a full socket.
#pragma once

#include <array>
#include <atomic>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace goban::site::store {

/// Listens on a Unix socket and forwards in both directions.
class CuttingRelay {
 public:
  CuttingRelay(const std::string& listen_at, std::string server)
      : server_(std::move(server)), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_of(listen_at);
    if (::bind(listener_, as_generic(address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0) {
      throw std::runtime_error("the relay cannot listen at " + listen_at);
    }
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~CuttingRelay() {
    stopped_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& each : relaying_) each.join();
    ::close(listener_);
  }
  CuttingRelay(const CuttingRelay&) = delete;
  CuttingRelay& operator=(const CuttingRelay&) = delete;

  /// Closes the connection at the client's `at`-th piece from now on (from 1), after forwarding
  /// `permille` of it; 0: never. The server's reply to that piece is not forwarded.
  void cut_at(int64_t at, int permille) {
    permille_ = permille;
    at_ = at;
    pieces_ = 0;
  }
  /// Number of pieces sent by the client since cut_at().
  [[nodiscard]] int64_t pieces() const { return pieces_; }

 private:
  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("long path: " + path);
    path.copy(static_cast<char*>(address.sun_path), path.size());
    return address;
  }
  static const sockaddr* as_generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
  }

  void accept_all() {
    while (!stopped_) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_un address = address_of(server_);
      if (::connect(server, as_generic(address), sizeof address) != 0) {
        ::close(client);
        ::close(server);
        continue;
      }
      relaying_.emplace_back([this, client, server] {
        relay(client, server);
        ::close(client);
        ::close(server);
      });
    }
  }

  void relay(int client, int server) {
    std::array<pollfd, 2> ends{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    std::array<char, 1 << 16> bytes{};
    constexpr int kWait_ms = 50;
    while (!stopped_) {
      if (::poll(ends.data(), ends.size(), kWait_ms) <= 0) continue;
      if (ends[0].revents != 0) {
        const ssize_t size = ::recv(client, bytes.data(), bytes.size(), 0);
        if (size <= 0) return;
        const bool cut = ++pieces_ == at_;
        const auto all = static_cast<size_t>(size);
        const size_t passing = cut ? all * static_cast<size_t>(permille_) / 1000 : all;
        if (!pass(server, bytes.data(), passing) || cut) return;
      }
      if (ends[1].revents != 0) {
        const ssize_t size = ::recv(server, bytes.data(), bytes.size(), 0);
        if (size <= 0 || !pass(client, bytes.data(), static_cast<size_t>(size))) return;
      }
    }
  }
  static bool pass(int to, const char* bytes, size_t size) {
    while (size > 0) {
      const ssize_t sent = ::send(to, bytes, size, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes += sent;
      size -= static_cast<size_t>(sent);
    }
    return true;
  }

  std::string server_;
  int listener_;
  std::atomic<bool> stopped_{false};
  std::atomic<int64_t> at_{0};
  std::atomic<int> permille_{0};
  std::atomic<int64_t> pieces_{0};
  std::thread accepting_;
  std::vector<std::thread> relaying_;
};

}  // namespace goban::site::store
