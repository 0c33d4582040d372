#include "live/journal/standby.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/files.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::live::journal {

HolderState HolderWatch::look(base::TimeNs now_ns) {
  const std::string path = lock_path(folder_);
  const base::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat facts{};
  if (!file || ::fstat(file.get(), &facts) != 0) return HolderState::Gone;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return HolderState::Gone;
  const base::TimeNs beat_ns = facts.st_mtim.tv_sec * base::kSecond + facts.st_mtim.tv_nsec;
  if (facts.st_ino != inode_ || beat_ns != beat_ns_) {
    inode_ = facts.st_ino;
    beat_ns_ = beat_ns;
    beat_seen_ns_ = now_ns;
    holder_ = read_whole(path).value_or("");
    while (holder_.ends_with('\n')) holder_.pop_back();
    return HolderState::Lives;
  }
  return now_ns - beat_seen_ns_ < patience_ns_ ? HolderState::Lives : HolderState::Silent;
}

}  // namespace goban::live::journal
