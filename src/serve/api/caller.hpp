// Authentication and authorisation of callers: by the peer credentials of a Unix connection, or by
// a token.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/http/http_message.hpp"
#include "base/result.hpp"
#include "live/controller/input.hpp"
#include "serve/api/token_file.hpp"

namespace goban::serve::api {

/// An authenticated caller.
struct Identity {
  live::job::Owner owner{};
  Role role = Role::User;
  std::vector<std::string> accounts{};  ///< managed by an account manager
  int32_t priority_max = INT32_MAX;     ///< highest priority of the caller's submissions
  std::string node{};                   ///< of an agent; * = any

  [[nodiscard]] bool is_operator() const { return role == Role::Operator; }
  [[nodiscard]] bool may_submit() const { return role > Role::Viewer; }
  /// Whether the caller may report on this node.
  [[nodiscard]] bool may_report(const std::string& of) const {
    return is_operator() || (role == Role::Agent && (node == "*" || node == of));
  }
  /// Whether the caller may see and change a job of this owner and account.
  [[nodiscard]] bool may_touch(const live::job::Owner& of, const std::string& account) const;
  /// Whether the caller may see such a job in full: the same callers, and viewers.
  [[nodiscard]] bool may_see(const live::job::Owner& of, const std::string& account) const {
    return role == Role::Viewer || may_touch(of, account);
  }
};

/// Highest job priority by the role of the submitter. Under a policy that preempts by priority, a
/// job with a higher priority stops jobs of other users.
struct PriorityMax {
  int32_t user = 0;
  int32_t account_manager = INT32_MAX;
  int32_t an_operator = INT32_MAX;
};

struct CallerOptions {
  std::vector<std::string> operators{};        ///< users, in addition to root and the daemon's own
  std::vector<std::string> operator_groups{};  ///< groups whose members are operators
  std::vector<std::string> viewers{};          ///< users that may see everything, read-only
  std::vector<std::string> agents{};           ///< users as whom agents of any node report
  /// User -> accounts whose jobs they may see and change.
  std::map<std::string, std::vector<std::string>> account_managers{};
  std::string token_file{};  ///< see token_file.hpp; empty = no tokens
  PriorityMax priority_max{};
  std::string own_token{};  ///< of the daemon's own user, who is an operator; empty = none
};

/// Identifies callers. Thread-safe.
class Callers {
 public:
  /// Errors: those of the token file.
  [[nodiscard]] static base::Result<std::unique_ptr<Callers>> create(CallerOptions options);

  /// A token takes precedence over the credentials of a connection. Errors: Usage if the caller
  /// cannot be identified: no token over TCP, an unknown token, a uid without a name. No message
  /// contains the token.
  [[nodiscard]] base::Result<Identity> identify(const base::http::Request& request);

 private:
  explicit Callers(CallerOptions options) : options_(std::move(options)) {}
  [[nodiscard]] base::Result<Identity> by_credentials(const base::http::Peer& peer);
  [[nodiscard]] base::Result<Identity> by_token(const std::string& text);

  CallerOptions options_;
  std::mutex mutex_;
  std::vector<Token> tokens_;
  /// Cached lookups in the user database by uid, with their time.
  struct Known {
    Identity identity{};
    int64_t at_s = 0;
  };
  std::map<uint32_t, Known> known_;  ///< guarded by mutex_
};

/// A user of this machine. Errors: Usage if there is no user of that name.
[[nodiscard]] base::Result<live::job::Owner> find_user(const std::string& name);
/// The groups a user is in.
[[nodiscard]] std::vector<uint32_t> groups_of(const live::job::Owner& owner);

}  // namespace goban::serve::api
