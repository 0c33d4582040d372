#include "live/engine/slurm/state_watch.hpp"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <utility>

#include "live/engine/slurm/admin_text.hpp"

namespace goban::live::engine::slurm {

void StateWatch::watch(std::string folder) {
  if (folder == folder_) return;
  *this = {};
  folder_ = std::move(folder);
  mark();
}

std::vector<StateWatch::File> StateWatch::files() const {
  std::vector<File> found;
  if (folder_.empty()) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_.c_str()), ::closedir);
  if (folder == nullptr) return found;
  while (const dirent* const entry = ::readdir(folder.get())) {
    struct stat about{};
    if (::fstatat(::dirfd(folder.get()), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    found.push_back({.name = entry->d_name,
                     .written_ns = about.st_mtim.tv_sec * base::kSecond + about.st_mtim.tv_nsec,
                     .inode = about.st_ino});
  }
  std::ranges::sort(found);
  return found;
}

void StateWatch::mark() {
  std::vector<File> now = files();
  has_shown_ = !marked_.empty() && now != marked_;
  marked_ = std::move(now);
  if (!has_shown_) return;
  is_in_use_ = true;
  news_at_ns_ = -1;
}

bool StateWatch::has_changed() const { return !folder_.empty() && files() != marked_; }

void StateWatch::asked(bool has_news, base::TimeNs now_ns) {
  // What happened a moment ago is written soon.
  if (has_shown_ || has_changed()) {
    news_at_ns_ = -1;
  } else if (has_news && news_at_ns_ < 0) {
    news_at_ns_ = now_ns;
  }
  if (news_at_ns_ >= 0 && now_ns - news_at_ns_ > kPatience_ns) {
    is_in_use_ = false;
    news_at_ns_ = -1;
  }
}

std::string state_folder(std::string_view config) {
  const std::string_view path = setting_of(config, "StateSaveLocation");
  return path.starts_with('/') && path.find('%') == path.npos ? std::string(path) : "";
}

}  // namespace goban::live::engine::slurm
