#include "train/trainer/progress_socket.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "base/clock.hpp"

namespace goban::train::trainer {
namespace {

constexpr double kInterval_s = 1;

void warn(const char* what, const std::string& path, int error) {
  fmt::print(stderr, "warning: progress: cannot {} '{}': {}; the run continues without it\n", what,
             path, std::strerror(error));
}

}  // namespace

std::string progress_line(const Progress& p) {
  return fmt::format(
      "progress epoch={} epochs={} step={} steps={} loss={:.6g} accuracy={:.6g} "
      "samples_per_s={:.6g} eta_s={:.6g} input_stall_pct={:.4g}\n",
      p.epoch, p.epochs, p.step, p.steps, p.loss, p.accuracy, p.samples_per_s, p.eta_s,
      p.input_stall_pct);
}

ProgressSocket ProgressSocket::from_environment() {
  ProgressSocket out;
  const char* path = std::getenv("GOBAN_PROGRESS_SOCKET");
  if (path == nullptr || *path == '\0') return out;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) {
    warn("connect to", path, ENAMETOOLONG);
    return out;
  }
  std::memcpy(address.sun_path, path, length + 1);
  out.socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (out.socket_ < 0 ||
      connect(out.socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    warn("connect to", path, errno);
    if (out.socket_ >= 0) close(std::exchange(out.socket_, -1));
    return out;
  }
  const char* job = std::getenv("GOBAN_JOB_ID");
  out.send(fmt::format("goban-progress 1 job={} pid={}\n", job == nullptr ? "-" : job, getpid()));
  return out;
}

ProgressSocket::~ProgressSocket() {
  if (socket_ >= 0) close(socket_);
}
ProgressSocket::ProgressSocket(ProgressSocket&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), last_s_(other.last_s_) {}
ProgressSocket& ProgressSocket::operator=(ProgressSocket&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(last_s_, other.last_s_);
  return *this;
}

void ProgressSocket::report(const Progress& progress) {
  if (socket_ < 0) return;
  const double now = base::steady_s();
  if (progress.step < progress.steps && last_s_ >= 0 && now - last_s_ < kInterval_s) return;
  last_s_ = now;
  send(progress_line(progress));
}

void ProgressSocket::ended(const char* how) {
  if (socket_ < 0) return;
  send(fmt::format("end {}\n", how));
  if (socket_ >= 0) close(std::exchange(socket_, -1));
}

void ProgressSocket::send(const std::string& line) {
  const ssize_t sent = ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(line.size())) return;
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  // The connection is lost, or the line was sent in part: later lines would be unreadable.
  warn("write to", "GOBAN_PROGRESS_SOCKET", sent < 0 ? errno : EMSGSIZE);
  close(std::exchange(socket_, -1));
}

}  // namespace goban::train::trainer
