#include "base/http/listen_socket.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace goban::base::http {

namespace {
constexpr int kBacklog = 512;

struct IpAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

bool parse_ip(const std::string& text, uint16_t port, IpAddress& out) {
  auto* const four = reinterpret_cast<sockaddr_in*>(&out.storage);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    out.size = sizeof *four;
    return true;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    out.size = sizeof *six;
    return true;
  }
  return false;
}

/// True if a process accepts connections at this path.
bool is_served(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return true;
  const bool refused =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(probe);
  return !refused;
}

base::Status remove_left_over(const std::string& path, const sockaddr_un& address, bool served) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return base::failed(fmt::format("{} is not a socket", path),
                        "the file is unchanged; choose another path");
  }
  if (!served && is_served(address)) {
    return base::failed(fmt::format("{}: another daemon listens there", path),
                        "stop it, or choose another socket");
  }
  if (::unlink(path.c_str()) == 0) return {};
  return base::failed(fmt::format("{}: cannot be removed: {}", path, std::strerror(errno)));
}
}  // namespace

base::Result<ListenSocket> ListenSocket::unix_at(const std::string& path, uint32_t mode,
                                                 bool replace) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return base::failed(
        fmt::format("{}: a socket path must have 1 to {} bytes", path, sizeof address.sun_path - 1),
        "choose a shorter path");
  }
  path.copy(address.sun_path, path.size());
  if (base::Status removed = remove_left_over(path, address, replace); !removed) {
    return base::failure(std::move(removed.error()));
  }
  ListenSocket socket;
  socket.descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto refuse = [&](const char* what) {
    return base::failed(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
  };
  if (socket.descriptor_ < 0) return refuse("cannot create a socket");
  // No connections before chmod() has set the permissions.
  const mode_t before = ::umask(0177);
  const int bound =
      ::bind(socket.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  if (bound != 0) return refuse("cannot be bound");
  socket.path_ = path;
  struct stat made{};
  if (::lstat(path.c_str(), &made) == 0) socket.inode_ = made.st_ino;
  if (::listen(socket.descriptor_, kBacklog) != 0) return refuse("cannot listen");
  if (::chmod(path.c_str(), mode) != 0) return refuse("cannot set permissions");
  return socket;
}

base::Result<ListenSocket> ListenSocket::tcp_at(const std::string& address, uint16_t port) {
  IpAddress ip;
  if (!parse_ip(address, port, ip)) {
    return base::usage_error(fmt::format("'{}' is not a valid IP address", address),
                             "such as 127.0.0.1 or ::1; host names are not resolved");
  }
  ListenSocket socket;
  socket.descriptor_ =
      ::socket(ip.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto refuse = [&](const char* what) {
    return base::failed(
        fmt::format("{} port {}: {}: {}", address, port, what, std::strerror(errno)),
        errno == EADDRINUSE ? "another program listens there; choose another port" : "");
  };
  if (socket.descriptor_ < 0) return refuse("cannot create a socket");
  const int yes = 1;
  ::setsockopt(socket.descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(socket.descriptor_, reinterpret_cast<sockaddr*>(&ip.storage), ip.size) != 0) {
    return refuse("cannot be bound");
  }
  if (::listen(socket.descriptor_, kBacklog) != 0) return refuse("cannot listen");
  ::getsockname(socket.descriptor_, reinterpret_cast<sockaddr*>(&ip.storage), &ip.size);
  socket.port_ = ntohs(ip.storage.ss_family == AF_INET
                           ? reinterpret_cast<sockaddr_in*>(&ip.storage)->sin_port
                           : reinterpret_cast<sockaddr_in6*>(&ip.storage)->sin6_port);
  return socket;
}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      port_(other.port_),
      path_(std::exchange(other.path_, {})),
      inode_(other.inode_) {}

ListenSocket& ListenSocket::operator=(ListenSocket&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  port_ = other.port_;
  path_ = std::exchange(other.path_, {});
  inode_ = other.inode_;
  return *this;
}

ListenSocket::~ListenSocket() { close(); }

void ListenSocket::close() {
  if (!path_.empty()) {
    struct stat found{};
    if (::lstat(path_.c_str(), &found) == 0 && found.st_ino == inode_) ::unlink(path_.c_str());
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool is_loopback_address(const std::string& address) {
  IpAddress ip;
  if (!parse_ip(address, 0, ip)) return false;
  constexpr uint32_t kLoopbackNet = 127;
  constexpr uint32_t kNetShift = 24;
  if (ip.storage.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(&ip.storage);
    return ntohl(four->sin_addr.s_addr) >> kNetShift == kLoopbackNet;
  }
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(&ip.storage)->sin6_addr,
                     &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

}  // namespace goban::base::http
