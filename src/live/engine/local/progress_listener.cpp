#include "live/engine/local/progress_listener.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace goban::live::engine::local {
namespace {

/// Creates a temporary folder in `root`; empty if that fails.
std::string temporary_below(const std::string& root) {
  std::string path = root + "/goban-XXXXXX";
  return ::mkdtemp(path.data()) == nullptr ? std::string{} : path;
}

std::vector<std::string> roots(const std::string& root) {
  if (!root.empty()) return {root};
  std::vector<std::string> out;
  if (::geteuid() == 0) {
    // Search permission only; mkdir() alone would apply our umask.
    static_cast<void>(::mkdir("/run/goban", 0711));
    static_cast<void>(::chmod("/run/goban", 0711));
    out.emplace_back("/run/goban");
  } else if (const char* own = std::getenv("XDG_RUNTIME_DIR"); own != nullptr && *own == '/') {
    out.emplace_back(own);
  }
  out.emplace_back("/tmp");
  return out;
}

}  // namespace

base::Result<std::string> make_socket_folder(const std::string& root) {
  for (const std::string& parent : roots(root)) {
    std::string path = temporary_below(parent);
    if (!path.empty()) return path;
  }
  return base::failed("cannot create a folder for the job's sockets",
                      "make /tmp or /run/goban writable");
}

base::Status let_in(const std::string& folder, const job::Owner& owner) {
  // Search permission only, and the name cannot be guessed.
  if (::geteuid() == owner.uid || ::chmod(folder.c_str(), 0711) == 0) return {};
  return base::system_error("cannot change the permissions of the folder", folder);
}

base::Result<base::Descriptor> listen_at(const std::string& path, const job::Owner& owner) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return base::failed(fmt::format("the path of the socket '{}' is too long", path),
                        "set a shorter folder for sockets");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 ||
      (::geteuid() != owner.uid && ::lchown(path.c_str(), owner.uid, owner.gid) != 0) ||
      ::listen(socket.get(), 16) != 0) {
    return base::system_error("cannot listen at", path);
  }
  return socket;
}

base::Descriptor accept_from(int listening, const job::Owner& owner) {
  base::Descriptor socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return {};
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      (peer.uid != owner.uid && peer.uid != 0)) {
    return {};
  }
  return socket;
}

base::Result<ProgressListener> ProgressListener::open(const std::string& path,
                                                      const job::Owner& owner) {
  ProgressListener out;
  auto socket = listen_at(path, owner);
  if (!socket) return base::failure(socket.error());
  out.listening_ = std::move(*socket);
  out.owner_ = owner;
  return out;
}

void ProgressListener::add_to(std::vector<pollfd>& waits, base::TimeNs now_ns) const {
  // poll() ignores negative descriptors.
  waits.push_back({connections_.size() < kConnectionsMax ? listening_.get() : -1, POLLIN, 0});
  for (const ProgressConnection& connection : connections_) {
    waits.push_back({connection.may_read(now_ns) ? connection.descriptor() : -1, POLLIN, 0});
  }
}

void ProgressListener::handle(const pollfd* waits, size_t count, base::TimeNs now_ns) {
  for (size_t i = 1; i < count; ++i) {
    if (waits[i].revents != 0) (void)connections_[i - 1].read(sum_, now_ns);
  }
  std::erase_if(connections_,
                [](const ProgressConnection& connection) { return connection.is_gone(); });
  if (count == 0 || waits[0].revents == 0) return;
  if (base::Descriptor socket = accept_from(listening_.get(), owner_)) {
    connections_.emplace_back(std::move(socket));
  }
}

void ProgressListener::tell(std::string_view line) {
  for (const ProgressConnection& connection : connections_) {
    static_cast<void>(
        ::send(connection.descriptor(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
}

void ProgressListener::drain(base::TimeNs now_ns) {
  for (size_t i = 0; i < kConnectionsMax && connections_.size() < kConnectionsMax; ++i) {
    base::Descriptor socket = accept_from(listening_.get(), owner_);
    if (!socket) break;
    connections_.emplace_back(std::move(socket));
  }
  for (ProgressConnection& connection : connections_) {
    constexpr int kReadsMax = 32;  // the kernel's buffer holds less
    int reads = 0;
    while (reads < kReadsMax && connection.read(sum_, now_ns)) ++reads;
  }
  connections_.clear();
}

}  // namespace goban::live::engine::local
