#include "serve/agent/progress_hub.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "base/clock.hpp"

namespace goban::serve::agent {

using base::TimeNs;
using site::telemetry::AgentJob;

namespace {

constexpr TimeNs kSilent = 600 * base::kSecond;
constexpr int kLook_ms = 500;  ///< connections whose bytes of this second are used up wait so long

bool is_served(const sockaddr_un& address) {
  const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket &&
         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

base::Result<std::unique_ptr<ProgressHub>> ProgressHub::open(const std::string& path,
                                                             JobOf job_of) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return base::failed(fmt::format("the path of the socket '{}' is too long", path),
                        "name a shorter one with --progress-socket");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) {
      return base::failed(fmt::format("{} is no socket", path),
                          "name another path with --progress-socket, or remove it");
    }
    if (is_served(address)) {
      return base::failed(fmt::format("another agent serves {}", path),
                          "end it, or name another socket with --progress-socket");
    }
    ::unlink(path.c_str());
  }
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  std::array<int, 2> pipe{-1, -1};
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0666) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return base::system_error("cannot listen at", path,
                              "create its folder, or name another one with --progress-socket");
  }
  return std::unique_ptr<ProgressHub>(
      new ProgressHub(path, std::move(socket), base::Descriptor(pipe[0]), base::Descriptor(pipe[1]),
                      std::move(job_of)));
}

ProgressHub::ProgressHub(std::string path, base::Descriptor listening, base::Descriptor end_reading,
                         base::Descriptor end_writing, JobOf job_of)
    : path_(std::move(path)),
      listening_(std::move(listening)),
      end_reading_(std::move(end_reading)),
      end_writing_(std::move(end_writing)),
      job_of_(std::move(job_of)) {
  thread_ = std::thread([this] { work(); });
}

ProgressHub::~ProgressHub() {
  end_writing_.reset();
  thread_.join();
  ::unlink(path_.c_str());
}

void ProgressHub::work() {
  std::vector<pollfd> waits;
  while (true) {
    const TimeNs before = base::steady_ns();
    waits.clear();
    waits.push_back({end_reading_.get(), POLLIN, 0});
    const bool may_accept = connections_.size() < kConnectionsMax && before >= rests_until_ns_;
    waits.push_back({may_accept ? listening_.get() : -1, POLLIN, 0});
    for (const Connection& each : connections_) {
      waits.push_back({each.link.may_read(before) ? each.link.descriptor() : -1, POLLIN, 0});
    }
    (void)::poll(waits.data(), waits.size(), kLook_ms);
    if (waits[0].revents != 0) return;
    const TimeNs now = base::steady_ns();
    for (size_t i = 0; i < connections_.size(); ++i) {
      if (waits[i + 2].revents != 0) read_from(connections_[i], now);
    }
    std::erase_if(connections_, [&](const Connection& each) {
      if (!each.link.is_gone()) return false;
      const std::scoped_lock lock(mutex_);
      if (const auto found = sums_.find(each.key); found != sums_.end()) {
        --found->second.connections;
      }
      return true;
    });
    if (waits[1].revents != 0) admit(now);
  }
}

void ProgressHub::admit(TimeNs now) {
  base::Descriptor socket(
      ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    // Without a descriptor the connection stays, and poll() would return at once, again and again.
    if (errno != EAGAIN && errno != EINTR) rests_until_ns_ = now + base::kSecond;
    return;
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  auto job = job_of_(peer.pid);
  if (!job) return;  // no job of this node: closed
  job->uid = peer.uid;
  const Key key{job->id, peer.uid};
  const auto of_user = std::ranges::count_if(
      connections_, [&](const Connection& each) { return each.key.second == peer.uid; });
  if (std::cmp_greater_equal(of_user, kConnectionsUserMax)) return;
  const std::scoped_lock lock(mutex_);
  if (!sums_.contains(key) && !make_room(peer.uid)) return;
  Sum& sum = sums_[key];
  if (sum.connections >= kConnectionsJobMax) return;
  // The first one after all have left: another run of the job, or another program of it.
  if (sum.connections == 0) sum.sum = {};
  sum.job = std::move(*job);
  sum.heard_ns = now;
  ++sum.connections;
  connections_.push_back(
      {.key = key, .link = live::engine::local::ProgressConnection(std::move(socket))});
}

bool ProgressHub::make_room(uint32_t uid) {
  size_t count = 0;
  auto oldest = sums_.end();
  for (auto each = sums_.begin(); each != sums_.end(); ++each) {
    if (each->first.second != uid) continue;
    ++count;
    if (each->second.connections > 0) continue;
    if (oldest == sums_.end() || each->second.heard_ns < oldest->second.heard_ns) oldest = each;
  }
  if (count < kJobsUserMax) return true;
  if (oldest == sums_.end()) return false;
  sums_.erase(oldest);
  return true;
}

void ProgressHub::read_from(Connection& connection, TimeNs now) {
  const std::scoped_lock lock(mutex_);
  Sum& sum = sums_[connection.key];
  if (connection.link.read(sum.sum, now)) sum.heard_ns = now;
}

std::vector<AgentJob> ProgressHub::heard(TimeNs now) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(sums_, [&](const auto& each) {
    return each.second.connections == 0 && now - each.second.heard_ns > kSilent;
  });
  std::vector<AgentJob> out;
  for (const auto& [key, sum] : sums_) {
    if (sum.sum.lines == 0) continue;
    out.emplace_back(sum.job).progress = sum.sum.progress;
  }
  return out;
}

}  // namespace goban::serve::agent
