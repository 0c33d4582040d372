#include "train/trainer/folder_lock.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace goban::train::trainer {

base::Result<FolderLock> FolderLock::take(const std::string& folder, const std::string& option) {
  const std::string path = folder + "/in-use.lock";
  base::Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file) {
    return base::failed(fmt::format("cannot open '{}': {}", path, std::strerror(errno)),
                        option + " must be a writable folder");
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      fmt::print(stderr, "warning: '{}' cannot be locked ({}): start no other run with this {}\n",
                 path, std::strerror(errno), option);
      return FolderLock(base::Descriptor());
    }
    const auto holder = base::read_small_file(path);
    return base::failed(fmt::format("another run uses the folder '{}'{}", folder,
                                    holder && !holder->empty() ? " (" + *holder + ")" : ""),
                        "wait for its end, or use another " + option + " folder");
  }
  utsname machine{};
  uname(&machine);
  // Only a help for the reader of the message above.
  if (ftruncate(file.get(), 0) == 0) {
    (void)base::write_all(file.get(), fmt::format("process {} on {}", getpid(), machine.nodename));
  }
  return FolderLock(std::move(file));
}

}  // namespace goban::train::trainer
