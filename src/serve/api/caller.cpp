#include "serve/api/caller.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace goban::serve::api {

namespace {
constexpr int64_t kRemember_s = 30;
constexpr size_t kEntryBytes = 64 << 10;

int64_t now_s() { return base::steady_ns() / base::kSecond; }

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

live::job::Owner owner_of(const passwd& entry) {
  return {.uid = entry.pw_uid, .gid = entry.pw_gid, .user = entry.pw_name};
}

/// Named by the user database; without an entry, such as in a container: "uid1000".
live::job::Owner owner_by_id(uint32_t uid, uint32_t gid) {
  std::vector<char> room(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    return owner_of(entry);
  }
  return {.uid = uid, .gid = gid, .user = fmt::format("uid{}", uid)};
}

int32_t priority_max_of(Role role, const PriorityMax& most) {
  switch (role) {
    case Role::AccountManager:
      return most.account_manager;
    case Role::Operator:
      return most.an_operator;
    case Role::User:
    case Role::Viewer:
    case Role::Agent:
      break;
  }
  return most.user;
}

bool is_in_group(const std::vector<uint32_t>& groups, const std::string& name) {
  std::vector<char> room(kEntryBytes);
  group entry{};
  group* found = nullptr;
  return ::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) == 0 &&
         found != nullptr && std::find(groups.begin(), groups.end(), entry.gr_gid) != groups.end();
}
}  // namespace

base::Result<live::job::Owner> find_user(const std::string& name) {
  std::vector<char> room(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0 ||
      found == nullptr) {
    return base::usage_error(fmt::format("this machine has no user '{}'", name));
  }
  return owner_of(entry);
}

std::vector<uint32_t> groups_of(const live::job::Owner& owner) {
  constexpr int kFirstGuess = 64;
  int count = kFirstGuess;
  std::vector<gid_t> groups(kFirstGuess);
  while (::getgrouplist(owner.user.c_str(), owner.gid, groups.data(), &count) < 0 &&
         static_cast<size_t>(count) > groups.size()) {
    groups.resize(static_cast<size_t>(count));
  }
  groups.resize(std::min(groups.size(), static_cast<size_t>(std::max(count, 0))));
  return {groups.begin(), groups.end()};
}

bool Identity::may_touch(const live::job::Owner& of, const std::string& account) const {
  if (role == Role::Operator) return true;
  if (role <= Role::Viewer) return false;
  if (live::job::key_of(of) == live::job::key_of(owner) && of.user == owner.user) return true;
  return role == Role::AccountManager && !account.empty() && contains(accounts, account);
}

base::Result<std::unique_ptr<Callers>> Callers::create(CallerOptions options) {
  std::unique_ptr<Callers> callers(new Callers(std::move(options)));
  if (!callers->options_.token_file.empty()) {
    base::Result<std::vector<Token>> tokens = read_tokens(callers->options_.token_file);
    if (!tokens) return base::failure(std::move(tokens.error()));
    callers->tokens_ = std::move(*tokens);
  }
  if (const std::string& own = callers->options_.own_token; !own.empty()) {
    callers->tokens_.push_back({.sum = base::sha256(own),
                                .role = Role::Operator,
                                .user = owner_by_id(::geteuid(), ::getegid()).user});
  }
  return callers;
}

base::Result<Identity> Callers::by_credentials(const base::http::Peer& peer) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(peer.uid);
    if (found != known_.end() && now_s() - found->second.at_s < kRemember_s) {
      return found->second.identity;
    }
  }
  std::vector<char> room(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  const bool named =
      ::getpwuid_r(peer.uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  // Root and the daemon's user are accepted without a name: containers may have no user database.
  if (!named && peer.uid != ::geteuid() && peer.uid != 0) {
    return base::usage_error(fmt::format("user id {} has no name on this machine", peer.uid));
  }
  Identity who;
  who.owner = named ? owner_of(entry)
                    : live::job::Owner{
                          .uid = peer.uid, .gid = peer.gid, .user = fmt::format("uid{}", peer.uid)};
  const std::string& user = who.owner.user;
  const auto manages = options_.account_managers.find(user);
  const auto in_operator_group = [&] {
    if (options_.operator_groups.empty()) return false;
    const std::vector<uint32_t> groups = groups_of(who.owner);
    return std::any_of(options_.operator_groups.begin(), options_.operator_groups.end(),
                       [&](const std::string& name) { return is_in_group(groups, name); });
  };
  if (peer.uid == 0 || peer.uid == ::geteuid() || contains(options_.operators, user) ||
      in_operator_group()) {
    who.role = Role::Operator;
  } else if (manages != options_.account_managers.end()) {
    who.role = Role::AccountManager;
    who.accounts = manages->second;
  } else if (contains(options_.agents, user)) {
    who.role = Role::Agent;
    who.node = "*";
  } else if (contains(options_.viewers, user)) {
    who.role = Role::Viewer;
  }
  const std::scoped_lock lock(mutex_);
  known_[peer.uid] = {.identity = who, .at_s = now_s()};
  return who;
}

base::Result<Identity> Callers::identify(const base::http::Request& request) {
  if (request.token.empty() && !request.peer.is_local) {
    return base::usage_error("requests over TCP require a token",
                             "send it as Authorization: Bearer TOKEN");
  }
  auto who = request.token.empty() ? by_credentials(request.peer) : by_token(request.token);
  if (who) who->priority_max = priority_max_of(who->role, options_.priority_max);
  return who;
}

base::Result<Identity> Callers::by_token(const std::string& text) {
  Token token;
  {
    const std::scoped_lock lock(mutex_);
    const Token* const found = find_token(tokens_, text);
    if (found == nullptr) {
      return base::usage_error("unknown token", "ask an operator for a valid one");
    }
    token = *found;
  }
  Identity who{.owner = {}, .role = token.role, .accounts = std::move(token.accounts)};
  if (token.role == Role::Agent) {
    who.owner = {.uid = UINT32_MAX, .gid = UINT32_MAX, .user = "agent of " + token.user};
    who.node = token.user;
    return who;
  }
  base::Result<live::job::Owner> owner = find_user(token.user);
  if (owner) {
    who.owner = std::move(*owner);
  } else if (token.role == Role::Viewer || token.role == Role::Operator) {
    // A viewer such as a Prometheus server need not be a system user: it can own no job.
    who.owner = {.uid = UINT32_MAX, .gid = UINT32_MAX, .user = token.user};
  } else {
    return base::failure(std::move(owner.error()));
  }
  return who;
}

}  // namespace goban::serve::api
