#include "engine/local/status_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace goban::engine::local {

base::Result<StatusFile> StatusFile::reserve(const std::string& folder) {
  StatusFile out;
  out.folder_ = folder;
  const std::string path = folder + "/status.next";
  out.file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!out.file_ || !write_all(out.file_.get(), std::string(kBytes, ' ')) ||
      ::fsync(out.file_.get()) != 0) {
    return system_error("cannot reserve space for", path, "free some space on the disk");
  }
  return out;
}

base::Status StatusFile::write(const RunStatus& status) const {
  std::string text = to_text(status);
  if (text.size() > kBytes) {  // the detail can be long, and so can what ranks said
    RunStatus shorter = status;
    shorter.detail.resize(std::min<size_t>(shorter.detail.size(), 1000));
    shorter.progress.ranks.clear();
    text = to_text(shorter);
  }
  const std::string next = folder_ + "/status.next";
  const ssize_t count = ::pwrite(file_.get(), text.data(), text.size(), 0);
  if (count != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0 || ::fsync(file_.get()) != 0 ||
      ::rename(next.c_str(), (folder_ + "/status").c_str()) != 0) {
    return system_error("cannot write", folder_ + "/status");
  }
  return sync_folder(folder_);
}

}  // namespace goban::engine::local
