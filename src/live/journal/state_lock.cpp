#include "live/journal/state_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace goban::live {
namespace {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown host";
}

std::string epoch_path(const std::string& folder) { return folder + "/epoch"; }

}  // namespace

namespace {

/// A child that a killed daemon had just made holds the lock until it becomes another program.
bool lock_patiently(int fd) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::usleep(10'000);
  }
  errno = EWOULDBLOCK;
  return false;
}

}  // namespace

base::Result<StateLock> StateLock::take(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return file_failure("make", folder);
  const std::string path = folder + "/lock";
  OpenFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return file_failure("open", path);
  if (!lock_patiently(file.fd())) {
    if (errno != EWOULDBLOCK) return file_failure("lock", path);
    std::string holder = read_whole(path).value_or("");
    while (holder.ends_with('\n')) holder.pop_back();
    return base::failed(fmt::format("{} is in use by another goban: {}", folder,
                                    holder.empty() ? "it has not said which" : holder),
                        "stop that one first, or use another state folder");
  }
  const std::string holder = fmt::format("process {} on {}\n", ::getpid(), host_name());
  FileCalls& calls = system_files();
  // Only for the message above: without room for it the lock is held nevertheless.
  if (calls.truncate(file.fd(), 0) == 0) (void)write_all(calls, file.fd(), holder, 0);
  return StateLock(std::move(file));
}

base::Result<uint64_t> read_epoch(const std::string& folder) {
  if (::access(epoch_path(folder).c_str(), F_OK) != 0 && errno == ENOENT &&
      ::access(folder.c_str(), F_OK) == 0) {
    return 0;
  }
  auto text = read_whole(epoch_path(folder));
  if (!text) return tl::unexpected(std::move(text.error()));
  uint64_t epoch = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), epoch);
  if (error != std::errc{} || epoch == 0 ||
      std::string_view(end, static_cast<size_t>(text->data() + text->size() - end)) != "\n") {
    return base::failed(fmt::format("{} holds no number", epoch_path(folder)),
                        "remove it and start goban again");
  }
  return epoch;
}

base::Result<uint64_t> raise_epoch(FileCalls& calls, const std::string& folder, uint64_t least) {
  // Two that take over at once get epochs one after the other.
  const OpenFile turn(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn.is_open()) return file_failure("open", folder);
  if (::flock(turn.fd(), LOCK_EX) != 0 && errno != EBADF && errno != ENOLCK &&
      errno != EOPNOTSUPP) {
    return file_failure("lock", folder);
  }
  const auto before = read_epoch(folder);
  if (!before) return tl::unexpected(before.error());
  const uint64_t epoch = std::max(*before + 1, least);
  if (auto written = write_safely(calls, epoch_path(folder), fmt::format("{}\n", epoch));
      !written) {
    return tl::unexpected(std::move(written.error()));
  }
  if (auto safe = sync_folder(calls, folder); !safe) {
    return tl::unexpected(std::move(safe.error()));
  }
  return epoch;
}

}  // namespace goban::live
