#include "live/engine/local/progress_connection.hpp"

#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace goban::live::engine::local {

bool ProgressConnection::may_read(base::TimeNs now_ns) const {
  return window_bytes_ < kBytesPerSecond || now_ns - window_ns_ >= base::kSecond;
}

bool ProgressConnection::read(ProgressSum& sum, base::TimeNs now_ns) {
  if (now_ns - window_ns_ >= base::kSecond) {
    window_ns_ = now_ns;
    window_bytes_ = 0;
  }
  std::array<char, 16'384> buffer{};
  const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  is_gone_ = count <= 0;
  if (is_gone_) return false;
  window_bytes_ += count;
  cutter_.feed({buffer.data(), static_cast<size_t>(count)}, sum, now_ns);
  return true;
}

}  // namespace goban::live::engine::local
