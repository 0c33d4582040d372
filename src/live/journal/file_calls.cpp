#include "live/journal/file_calls.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/files.hpp"

namespace goban::live::journal {
namespace {

std::string_view remedy_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free space on this disk; the write is retried, and confirmed records are safe";
    case EROFS:
      return "mount this disk for writing; the write is retried, and confirmed records are safe";
    case EACCES:
    case EPERM:
      return "the folder must belong to the user that runs goban";
    case EIO:
      return "check the disk's health; confirmed records are safe";
    default:
      return "";
  }
}

}  // namespace

ssize_t FileCalls::write(int fd, std::string_view bytes, int64_t at) {
  return ::pwrite(fd, bytes.data(), bytes.size(), at);
}
int FileCalls::sync(int fd) { return ::fdatasync(fd); }
int FileCalls::truncate(int fd, int64_t length) { return ::ftruncate(fd, length); }
int FileCalls::rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str());
}
int FileCalls::remove(const std::string& path) { return ::unlink(path.c_str()); }

FileCalls& system_files() {
  static FileCalls calls;
  return calls;
}

bool write_all(FileCalls& calls, int fd, std::string_view bytes, int64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = calls.write(fd, bytes, at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    if (written == 0) {
      errno = ENOSPC;
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    at += written;
  }
  return true;
}

base::Status sync_folder(FileCalls& calls, const std::string& folder) {
  const base::Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file || calls.sync(file.get()) != 0) return file_failure("write", folder);
  return {};
}

base::Status write_safely(FileCalls& calls, const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".part";
  const base::Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return file_failure("write", path);
  if (write_all(calls, file.get(), bytes, 0) && calls.sync(file.get()) == 0 &&
      calls.rename(temporary, path) == 0) {
    return {};
  }
  auto failure = file_failure("write", path);
  ::unlink(temporary.c_str());
  return failure;
}

base::Result<std::string> read_whole(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return file_failure("read", path);
  std::string text;
  if (!base::read_all(file.get(), text)) return file_failure("read", path);
  return text;
}

tl::unexpected<base::Error> file_failure(std::string_view what, const std::string& path) {
  const int error = errno;
  return base::failed(fmt::format("cannot {} {}: {}", what, path, std::strerror(error)),
                      std::string(remedy_for(error)));
}

}  // namespace goban::live::journal
