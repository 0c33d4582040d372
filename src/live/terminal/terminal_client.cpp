#include "live/terminal/terminal_client.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

#include "base/number.hpp"

namespace goban::live::terminal {
namespace {

/// Sets a terminal to raw mode, so that every key goes to the job, and restores it on destruction.
class RawTerminal {
 public:
  explicit RawTerminal(int file) : file_(file), set_(::tcgetattr(file, &before_) == 0) {
    if (!set_) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    ::tcsetattr(file_, TCSADRAIN, &raw);
  }
  ~RawTerminal() {
    if (set_) ::tcsetattr(file_, TCSADRAIN, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  int file_;
  termios before_{};
  bool set_;
};

/// Size of the terminal; false if the file is not a terminal.
bool window_size(int file, WindowSize& size) {
  winsize window{};
  if (::ioctl(file, TIOCGWINSZ, &window) != 0 || window.ws_row == 0) return false;
  size = {window.ws_row, window.ws_col};
  return true;
}

}  // namespace

base::Result<TerminalClient> TerminalClient::connect(const std::string& socket_path) {
  TerminalClient out;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.empty() || socket_path.size() >= sizeof address.sun_path) {
    return base::failed("the job has no terminal to attach to",
                        "it must be interactive and running");
  }
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  out.socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out.socket_ || ::connect(out.socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                                sizeof address) != 0) {
    const bool forbidden = errno == EACCES || errno == EPERM;
    return base::system_error("cannot attach to", socket_path,
                              forbidden ? "only the job's owner and root may attach to its terminal"
                                        : "the job may have finished");
  }
  return out;
}

void TerminalClient::send(const std::string& frames) const {
  static_cast<void>(::send(socket_.get(), frames.data(), frames.size(), MSG_NOSIGNAL));
}

TerminalClient::Typed TerminalClient::pass_input(int in, bool is_terminal) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(in, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return Typed::More;
  constexpr char kEndOfFile = '\x04';
  std::string keys;
  bool leaves = false;
  for (ssize_t i = 0; i < count && !leaves; ++i) {
    const char key = buffer[static_cast<size_t>(i)];
    if (!std::exchange(escaped_, false)) {
      escaped_ = is_terminal && key == kEscape;
      if (!escaped_) keys += key;
      continue;
    }
    leaves = key == 'd';
    if (leaves) break;
    if (key != kEscape) keys += kEscape;  // an escape for the job, not for us
    keys += key;
  }
  if (count <= 0) keys.assign(1, kEndOfFile);
  std::string frames;
  append_frames(frames, FrameType::Data, keys);
  if (leaves) append_frames(frames, FrameType::Leave, "1");
  send(frames);
  if (leaves) return Typed::Leaves;
  return count > 0 ? Typed::More : Typed::Ended;
}

base::Result<TerminalEnd> TerminalClient::run(int in, int out,
                                              const std::function<bool()>& is_interrupted) {
  const bool is_terminal = ::isatty(in) != 0;
  const RawTerminal raw(in);
  FrameReader frames;
  WindowSize sent{0, 0};
  bool typing = true;
  constexpr int kLookAtSize_ms = 250;
  while (true) {
    if (is_interrupted && is_interrupted()) return TerminalEnd{TerminalEnd::Kind::Interrupted, 0};
    if (WindowSize size; window_size(out, size) && size != sent) {
      send(window_frame(size));
      sent = size;
    }
    std::array<pollfd, 2> waits{{{socket_.get(), POLLIN, 0}, {typing ? in : -1, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), kLookAtSize_ms) <= 0) continue;
    if (waits[1].revents != 0) {
      const Typed typed = pass_input(in, is_terminal);
      if (typed == Typed::Leaves) return TerminalEnd{TerminalEnd::Kind::Detached, 0};
      typing = typed == Typed::More;
    }
    if (waits[0].revents == 0) continue;
    std::array<char, 16384> buffer{};
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return base::failed("the connection to the job's terminal was lost");
    frames.feed({buffer.data(), static_cast<size_t>(count)});
    FrameType type{};
    std::string text;
    while (frames.next(type, text)) {
      if (type == FrameType::Data && !base::write_all(out, text)) {
        return base::failed("cannot write the job's output");
      }
      if (type != FrameType::Exit) continue;
      return TerminalEnd{TerminalEnd::Kind::Exited,
                         static_cast<int>(base::parse_int(text).value_or(1))};
    }
  }
}

}  // namespace goban::live::terminal
