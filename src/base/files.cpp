#include "base/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace goban::base {

void Descriptor::reset(int file) {
  if (file_ >= 0) ::close(file_);
  file_ = file;
}

tl::unexpected<base::Error> system_error(std::string_view what, const std::string& path,
                                         std::string remedy) {
  const int code = errno;
  return base::failed(fmt::format("{} '{}': {}", what, path, std::strerror(code)),
                      std::move(remedy));
}

base::Result<std::string> read_small_file(const std::string& path, size_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error("cannot open", path);
  std::string text;
  if (!read_all(file.get(), text, max_bytes)) return system_error("cannot read", path);
  if (text.size() > max_bytes) {
    return base::failed(fmt::format("'{}' is larger than {} bytes", path, max_bytes));
  }
  return text;
}

bool read_all(int file, std::string& text, size_t max_bytes) {
  constexpr size_t kChunkMin = size_t{16} << 10;
  constexpr size_t kChunkMax = size_t{1} << 20;
  text.clear();
  while (text.size() <= max_bytes) {
    const size_t before = text.size();
    const size_t chunk = std::clamp(before, kChunkMin, kChunkMax);
    text.resize(before + chunk);
    const ssize_t count = ::read(file, text.data() + before, chunk);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
  }
  return true;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

void touch(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file) (void)::futimens(file.get(), nullptr);
}

base::Status sync_folder(const std::string& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return system_error("cannot sync the folder", folder);
  return {};
}

base::Status replace_file(const std::string& folder, const std::string& name, std::string_view text,
                          Durable durable) {
  const std::string temporary = fmt::format("{}/.{}.{}", folder, name, ::getpid());
  const char* remedy = "free disk space, or make the folder writable";
  const bool sync = durable == Durable::Yes;
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return system_error("cannot create", temporary, remedy);
    if (!write_all(file.get(), text) || (sync && ::fsync(file.get()) != 0)) {
      auto error = system_error("cannot write", temporary, remedy);
      ::unlink(temporary.c_str());
      return error;
    }
  }
  const std::string path = fmt::format("{}/{}", folder, name);
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    auto error = system_error("cannot move into place", path, remedy);
    ::unlink(temporary.c_str());
    return error;
  }
  return sync ? sync_folder(folder) : base::Status{};
}

bool exists(const std::string& path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0;
}

}  // namespace goban::base
