#include "live/engine/local/as_user.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>
#include <vector>

#include "base/files.hpp"

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

}  // namespace goban::live::engine::local
