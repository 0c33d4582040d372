#include "base/http/peer_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace goban::base::http {

Peer peer_of(int descriptor) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  sockaddr_storage own{};
  socklen_t own_size = sizeof own;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      own.ss_family != AF_UNIX ||
      ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return {};
  }
  return {.is_local = true, .uid = credentials.uid, .gid = credentials.gid, .pid = credentials.pid};
}

void probe_when_silent(int descriptor) {
  constexpr int kIdle_s = 60;
  constexpr int kInterval_s = 30;
  constexpr int kProbes = 4;
  const auto set = [descriptor](int level, int option, int value) {
    static_cast<void>(::setsockopt(descriptor, level, option, &value, sizeof value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdle_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kInterval_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

}  // namespace goban::base::http
