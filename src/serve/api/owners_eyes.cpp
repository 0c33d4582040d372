#include "serve/api/owners_eyes.hpp"

#include <algorithm>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/api/caller.hpp"

namespace goban::serve::api {

// glibc's setgroups() would change all threads; the system call changes only this one.
OwnersEyes::~OwnersEyes() {
  if (!changed_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  ::syscall(SYS_setgroups, before_.size(), before_.data());
}

bool OwnersEyes::put_on(const live::job::Owner& owner) {
  if (::geteuid() != 0 || owner.uid == 0) return true;
  const int count = ::getgroups(0, nullptr);
  before_.resize(static_cast<size_t>(std::max(count, 0)));
  if (::getgroups(count, before_.data()) != count) return false;
  const std::vector<uint32_t> groups = groups_of(owner);
  changed_ = true;
  if (::syscall(SYS_setgroups, groups.size(), groups.data()) != 0) return false;
  ::setfsgid(owner.gid);
  ::setfsuid(owner.uid);
  // These calls return the previous id even if they fail, so a second call checks the result.
  constexpr auto kAsk = static_cast<uid_t>(-1);
  return static_cast<uid_t>(::setfsuid(kAsk)) == owner.uid &&
         static_cast<gid_t>(::setfsgid(kAsk)) == owner.gid;
}

}  // namespace goban::serve::api
