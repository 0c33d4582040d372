#include "live/engine/local/terminal_host.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/engine/local/progress_listener.hpp"

namespace goban::live::engine::local {

base::Result<TerminalHost> TerminalHost::open(const std::string& socket_path,
                                              const job::Owner& owner, base::TimeNs now_ns) {
  TerminalHost out;
  out.master_.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 128> name{};
  if (!out.master_ || ::grantpt(out.master_.get()) != 0 || ::unlockpt(out.master_.get()) != 0 ||
      ::ptsname_r(out.master_.get(), name.data(), name.size()) != 0) {
    return base::system_error("cannot open a terminal at", "/dev/ptmx");
  }
  out.device_ = name.data();
  if (::geteuid() != owner.uid && ::chown(out.device_.c_str(), owner.uid, owner.gid) != 0) {
    return base::system_error("cannot change the owner of the terminal", out.device_);
  }
  const WindowSize usual;  // until a client sends its own
  const winsize window{usual.rows, usual.columns, 0, 0};
  ::ioctl(out.master_.get(), TIOCSWINSZ, &window);
  auto socket = listen_at(socket_path, owner);
  if (!socket) return base::failure(socket.error());
  out.listening_ = std::move(*socket);
  out.owner_ = owner;
  out.alone_since_ns_ = now_ns;
  return out;
}

void TerminalHost::add_to(std::vector<pollfd>& waits) const {
  // A slow client blocks the terminal; without a client the latest output is kept.
  const bool read = !client_ || to_client_.size() < kKeptMax;
  const bool write = !to_terminal_.empty();
  const auto events = [](bool in, bool out) {
    return static_cast<int16_t>((in ? POLLIN : 0) | (out ? POLLOUT : 0));
  };
  waits.push_back({read || write ? master_.get() : -1, events(read, write), 0});
  waits.push_back({listening_.get(), POLLIN, 0});
  waits.push_back({client_.get(), events(to_terminal_.size() < kKeptMax, !to_client_.empty()), 0});
}

void TerminalHost::handle(const pollfd* waits, base::TimeNs now_ns) {
  if ((waits[0].revents & (POLLIN | POLLHUP)) != 0) read_terminal();
  if ((waits[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_client(now_ns);
  if (waits[1].revents != 0) take_client(now_ns);
  write_terminal();
  write_client(now_ns);
}

void TerminalHost::read_terminal() {
  std::array<char, 16384> buffer{};
  const ssize_t count = ::read(master_.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    master_.reset();  // all processes have closed the terminal
    return;
  }
  terminal::append_frames(to_client_, FrameType::Data, {buffer.data(), static_cast<size_t>(count)});
  FrameReader kept;
  FrameType type{};
  std::string text;
  while (!client_ && to_client_.size() > kKeptMax) {
    kept.feed(to_client_);
    static_cast<void>(kept.next(type, text));
    to_client_.erase(0, text.size() + 3);
    kept = {};
  }
}

void TerminalHost::write_terminal() {
  if (to_terminal_.empty()) return;
  if (!master_) {
    to_terminal_.clear();
    return;
  }
  const ssize_t count = ::write(master_.get(), to_terminal_.data(), to_terminal_.size());
  if (count > 0) to_terminal_.erase(0, static_cast<size_t>(count));
}

void TerminalHost::take_client(base::TimeNs now_ns) {
  base::Descriptor next = accept_from(listening_.get(), owner_);
  if (!next) return;
  if (client_) {
    std::string text;
    terminal::append_frames(text, FrameType::Data, "another client is attached to this job\r\n");
    static_cast<void>(::send(next.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    return;
  }
  client_ = std::move(next);
  frames_ = {};
  had_client_ = true;
  alone_since_ns_ = base::kNever;
  write_client(now_ns);
}

void TerminalHost::lose_client(base::TimeNs now_ns) {
  client_.reset();
  alone_since_ns_ = now_ns;
}

void TerminalHost::read_client(base::TimeNs now_ns) {
  std::array<char, 16384> buffer{};
  const ssize_t count = ::recv(client_.get(), buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    lose_client(now_ns);
    return;
  }
  frames_.feed({buffer.data(), static_cast<size_t>(count)});
  FrameType type{};
  std::string text;
  while (frames_.next(type, text)) {
    if (type == FrameType::Data) to_terminal_ += text;
    if (type == FrameType::Leave) {
      lose_client(base::kNever);
      return;
    }
    if (type == FrameType::Window && master_) {
      const WindowSize size = terminal::window_of(text);
      const winsize window{size.rows, size.columns, 0, 0};
      ::ioctl(master_.get(), TIOCSWINSZ, &window);
    }
  }
}

void TerminalHost::write_client(base::TimeNs now_ns) {
  if (!client_ || to_client_.empty()) return;
  const ssize_t count =
      ::send(client_.get(), to_client_.data(), to_client_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) {
    to_client_.erase(0, static_cast<size_t>(count));
  } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
    lose_client(now_ns);
  }
}

void TerminalHost::finish(int exit_code, int first_client_ms) {
  constexpr int kReadsMax = 64;
  for (int i = 0; i < kReadsMax && master_; ++i) read_terminal();
  pollfd first{listening_.get(), POLLIN, 0};
  if (!had_client_ && ::poll(&first, 1, first_client_ms) > 0) take_client(0);
  terminal::append_frames(to_client_, FrameType::Exit, fmt::format("{}", exit_code));
  constexpr int kWait_ms = 1000;
  pollfd wait{client_.get(), POLLOUT, 0};
  while (client_ && !to_client_.empty() && ::poll(&wait, 1, kWait_ms) > 0) write_client(0);
}

}  // namespace goban::live::engine::local
