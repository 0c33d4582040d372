#include "live/staging/copy_io.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "live/staging/tree.hpp"

namespace goban::live::staging {

int64_t mtime_of(const struct stat& facts) {
  constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
  return facts.st_mtim.tv_sec * kNanosecondsPerSecond + facts.st_mtim.tv_nsec;
}

bool has_mtime(const struct stat& facts, int64_t mtime_ns) {
  const int64_t lost_ns = mtime_ns - mtime_of(facts);
  constexpr std::array<int64_t, 5> kUnits_ns{1, 100, 1'000, 1'000'000, 1'000'000'000};
  // Times before 1970 are negative; their nanoseconds are not.
  return std::ranges::any_of(kUnits_ns, [&](int64_t unit_ns) {
    return lost_ns == (mtime_ns % unit_ns + unit_ns) % unit_ns;
  });
}

ssize_t read_at(int file, char* to, size_t size, int64_t at) {
  size_t got = 0;
  while (got < size) {
    const ssize_t count = ::pread(file, to + got, size - got, at + static_cast<int64_t>(got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    got += static_cast<size_t>(count);
  }
  return static_cast<ssize_t>(got);
}

bool write_at(int file, std::string_view bytes, int64_t at) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    at += count;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

base::Status make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  errno = error.value();
  return passing_error("cannot make the folder", path);
}

base::Status take_lock(int file, const std::string& path, const std::string& busy,
                       const std::function<bool()>& go_on) {
  constexpr int kTries = 300;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return passing_error("cannot lock", path);
    if (go_on && !go_on()) return base::failed("the copy was stopped");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return base::failed(busy);
}

}  // namespace goban::live::staging
