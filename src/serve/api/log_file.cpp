#include "serve/api/log_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "serve/api/caller.hpp"
#include "serve/api/owners_eyes.hpp"

namespace goban::serve::api {

base::Result<LogFile> LogFile::open(const live::job::Owner& owner, const std::string& path) {
  if (!owner.realm.empty()) {
    return base::failed(fmt::format("{} is not a user of this machine", full_name(owner)),
                        "the output is where the cluster wrote it");
  }
  LogFile file;
  int problem = 0;
  {
    const OwnersEyes eyes(owner);
    if (!eyes.good()) return base::failed("cannot open the job's output as its owner");
    file.descriptor_ =
        ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    problem = errno;
  }
  if (!file.there()) {
    if (problem == ENOENT || problem == ENOTDIR) return file;
    if (problem == ELOOP)
      return base::failed("the job's output is a symbolic link", "links are not followed");
    return base::failed(fmt::format("cannot read the job's output: {}", std::strerror(problem)));
  }
  struct stat found{};
  if (::fstat(file.descriptor_, &found) != 0 || !S_ISREG(found.st_mode)) {
    return base::failed("the job's output is not a regular file", "only regular files are shown");
  }
  if (found.st_uid != owner.uid) {
    return base::failed("the job's output file belongs to another user");
  }
  return file;
}

LogFile::LogFile(LogFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

LogFile& LogFile::operator=(LogFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

LogFile::~LogFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int64_t LogFile::size() const {
  struct stat found{};
  return descriptor_ >= 0 && ::fstat(descriptor_, &found) == 0 ? int64_t{found.st_size} : 0;
}

int64_t LogFile::read(int64_t offset, size_t bytes_max, std::string& out) const {
  if (!there()) return 0;
  const size_t before = out.size();
  out.resize(before + bytes_max);
  ssize_t count = 0;
  do {
    count = ::pread(descriptor_, out.data() + before, bytes_max, offset);
  } while (count < 0 && errno == EINTR);
  count = std::max<ssize_t>(count, 0);
  out.resize(before + static_cast<size_t>(count));
  return count;
}

}  // namespace goban::serve::api
