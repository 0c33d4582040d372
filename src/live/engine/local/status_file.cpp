#include "live/engine/local/status_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace goban::live::engine::local {

base::Result<StatusFile> StatusFile::reserve(const std::string& folder) {
  StatusFile out;
  const std::string path = folder + "/status.next";
  out.path_ = folder + "/status";
  // By descriptor, as the folder may be removed and its name reused.
  out.folder_.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (out.folder_) {
    out.file_.reset(
        ::openat(out.folder_.get(), "status.next", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  }
  if (!out.file_ || !base::write_all(out.file_.get(), std::string(kBytes, ' ')) ||
      ::fsync(out.file_.get()) != 0) {
    return base::system_error("cannot reserve space for", path, "free some space on the disk");
  }
  return out;
}

base::Status StatusFile::write(const RunStatus& status) {
  std::string text = to_text(status);
  if (text.size() > kBytes) {  // detail and ranks can be long
    RunStatus shorter = status;
    shorter.detail.resize(std::min<size_t>(shorter.detail.size(), 1000));
    shorter.progress.ranks.clear();
    text = to_text(shorter);
  }
  const ssize_t count = ::pwrite(file_.get(), text.data(), text.size(), 0);
  if (count != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0 || ::fsync(file_.get()) != 0) {
    return base::system_error("cannot write", path_);
  }
  in_place_ = in_place_ || ::renameat(folder_.get(), "status.next", folder_.get(), "status") == 0;
  if (!in_place_ || ::fsync(folder_.get()) != 0) return base::system_error("cannot write", path_);
  return {};
}

bool StatusFile::has_folder() const {
  struct stat facts{};
  return ::fstat(folder_.get(), &facts) == 0 && facts.st_nlink > 0;
}

}  // namespace goban::live::engine::local
