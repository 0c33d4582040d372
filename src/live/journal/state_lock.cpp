#include "live/journal/state_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/host_name.hpp"

namespace goban::live::journal {
namespace {

std::string epoch_path(const std::string& folder) { return folder + "/epoch"; }

constexpr auto kBeatEvery = std::chrono::seconds(1);

uint64_t inode_of(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

uint64_t inode_of(int fd) {
  struct stat facts{};
  return ::fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}

base::Result<base::Descriptor> open_lock(const std::string& path) {
  base::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return file_failure("open", path);
  return file;
}

/// The file at `path`, locked. Retries, as a child process that a killed daemon had just forked
/// holds the lock until its exec, and as a standby may replace the file.
base::Result<base::Descriptor> lock_patiently(const std::string& path) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    auto file = open_lock(path);
    if (!file) return file;
    if (::flock(file->get(), LOCK_EX | LOCK_NB) == 0) {
      if (inode_of(file->get()) == inode_of(path)) return file;
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return file_failure("lock", path);
    ::usleep(10'000);
  }
  std::string holder = read_whole(path).value_or("");
  while (holder.ends_with('\n')) holder.pop_back();
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return base::failed(fmt::format("{} is in use by another goban: {}", folder,
                                  holder.empty() ? "unknown process" : holder),
                      "stop that process first, or use another state folder");
}

/// For messages only: the lock is held even if the write fails.
void write_holder(int fd) {
  const std::string holder =
      fmt::format("process {} on {}\n", ::getpid(), base::host_name().value_or("unknown host"));
  FileCalls& calls = system_files();
  if (calls.truncate(fd, 0) == 0) (void)write_all(calls, fd, holder, 0);
}

}  // namespace

/// The open file, and the thread that updates its modification time.
struct StateLock::Held {
  explicit Held(base::Descriptor locked) : file(std::move(locked)), thread([this] { beat(); }) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    {
      const std::scoped_lock lock(mutex);
      ends = true;
    }
    wake.notify_all();
    thread.join();
  }
  void beat() {
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, kBeatEvery, [this] { return ends; })) {
      (void)::futimens(file.get(), nullptr);
    }
  }

  base::Descriptor file;
  std::mutex mutex;
  std::condition_variable wake;
  bool ends = false;
  std::thread thread;  ///< declared last: it uses the members above
};

StateLock::StateLock(base::Descriptor file) : held_(std::make_unique<Held>(std::move(file))) {}
StateLock::StateLock(StateLock&& other) noexcept = default;
StateLock& StateLock::operator=(StateLock&& other) noexcept = default;
StateLock::~StateLock() = default;

std::string lock_path(const std::string& folder) { return folder + "/lock"; }

base::Result<StateLock> StateLock::take(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return file_failure("create", folder);
  auto file = lock_patiently(lock_path(folder));
  if (!file) return base::failure(std::move(file.error()));
  write_holder(file->get());
  return StateLock(std::move(*file));
}

base::Result<StateLock> StateLock::take_from_silent(const std::string& folder, uint64_t inode) {
  // Serialises concurrent takeovers; one of them succeeds.
  const base::Descriptor turn(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn) return file_failure("open", folder);
  if (::flock(turn.get(), LOCK_EX) != 0) return file_failure("lock", folder);
  const std::string path = lock_path(folder);
  if (inode_of(path) != inode) {
    return base::failed(fmt::format("another daemon has taken over {}", folder));
  }
  const std::string part = path + ".part";
  auto file = open_lock(part);
  if (!file) return base::failure(std::move(file.error()));
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) return file_failure("lock", part);
  write_holder(file->get());
  if (::rename(part.c_str(), path.c_str()) != 0) return file_failure("replace", path);
  return StateLock(std::move(*file));
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
    return base::failed(fmt::format("{} does not contain a number", epoch_path(folder)),
                        "remove the file and restart goban");
  }
  return epoch;
}

bool is_shut_out(const std::string& state, uint64_t epoch) {
  if (epoch == 0) return false;
  const auto now = read_epoch(state + "/journal");
  return now && *now > epoch;
}

base::Result<uint64_t> raise_epoch(FileCalls& calls, const std::string& folder, uint64_t least) {
  // Concurrent takeovers get successive epochs.
  const base::Descriptor turn(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn) return file_failure("open", folder);
  if (::flock(turn.get(), LOCK_EX) != 0 && errno != EBADF && errno != ENOLCK &&
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

}  // namespace goban::live::journal
