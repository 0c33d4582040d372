#include "live/engine/local/as_user.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "base/check.hpp"

namespace goban::live::engine::local {
namespace {

std::vector<gid_t> groups_of(const UserFacts& facts, gid_t group) {
  if (facts.name.empty()) return {group};
  int count = 64;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  while (::getgrouplist(facts.name.c_str(), group, groups.data(), &count) < 0) {
    groups.resize(static_cast<size_t>(count));
  }
  groups.resize(static_cast<size_t>(count));
  return groups;
}

/// Changes the rights of this thread only; the C library's functions would change all threads.
class ThreadRights {
 public:
  explicit ThreadRights(const job::Owner& owner) {
    std::vector<gid_t> groups = groups_of(user_facts(owner), owner.gid);
    before_.resize(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
    static_cast<void>(::getgroups(static_cast<int>(before_.size()), before_.data()));
    GOBAN_CHECK(::syscall(SYS_setgroups, groups.size(), groups.data()) == 0);
    ::setfsgid(owner.gid);
    ::setfsuid(owner.uid);
    // The calls report no errors; a second call returns the current value.
    changed_ = ::setfsuid(owner.uid) == static_cast<int>(owner.uid) &&
               ::setfsgid(owner.gid) == static_cast<int>(owner.gid);
  }
  ~ThreadRights() {
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
    GOBAN_CHECK(::syscall(SYS_setgroups, before_.size(), before_.data()) == 0);
  }
  ThreadRights(const ThreadRights&) = delete;
  ThreadRights& operator=(const ThreadRights&) = delete;
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  std::vector<gid_t> before_;
  bool changed_ = false;
};

base::Result<base::Descriptor> open_plainly(const std::string& path) {
  // Non-blocking, as the path may be a FIFO.
  base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return base::system_error("cannot open", path);
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return base::failed(fmt::format("'{}' is not a regular file", path));
  }
  return file;
}

}  // namespace

base::Status may_act_for(const job::Owner& owner) {
  if (::geteuid() == 0 || ::geteuid() == owner.uid) return {};
  return base::failed(fmt::format("the daemon has user id {} and cannot act for '{}' (user id {})",
                                  ::geteuid(), owner.user, owner.uid),
                      "submit as the daemon's user, or run the daemon as root");
}

UserFacts user_facts(const job::Owner& owner) {
  UserFacts facts;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (::getpwuid_r(owner.uid, &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return facts;
  }
  facts.name = entry.pw_name;
  if (entry.pw_dir != nullptr && *entry.pw_dir != '\0') facts.home = entry.pw_dir;
  if (entry.pw_shell != nullptr && *entry.pw_shell != '\0') facts.shell = entry.pw_shell;
  return facts;
}

base::Status become(const job::Owner& owner, const UserFacts& facts) {
  if (::geteuid() == owner.uid && ::getuid() == owner.uid) return {};
  const std::vector<gid_t> groups = groups_of(facts, owner.gid);
  if (::setgroups(groups.size(), groups.data()) != 0 || ::setgid(owner.gid) != 0 ||
      ::setuid(owner.uid) != 0) {
    return base::system_error("cannot become the user", owner.user);
  }
  // It must be irrevocable, or a user's script would run as root.
  if (::getuid() != owner.uid || ::geteuid() != owner.uid || ::getgid() != owner.gid ||
      (owner.uid != 0 && ::setuid(0) == 0)) {
    return base::failed("cannot drop root privileges");
  }
  return {};
}

base::Result<base::Descriptor> open_as_user(const job::Owner& owner, const std::string& path) {
  if (auto may = may_act_for(owner); !may) return base::failure(may.error());
  if (::geteuid() == owner.uid) return open_plainly(path);
  const ThreadRights rights(owner);
  if (!rights.changed()) return base::failed("cannot take the rights of the job's user");
  return open_plainly(path);
}

}  // namespace goban::live::engine::local
