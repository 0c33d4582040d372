// Who asks, and what they may do: by the credentials of a Unix connection, or by a token.
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

/// Somebody known.
struct Identity {
  live::job::Owner owner{};
  Role role = Role::User;
  std::vector<std::string> accounts{};  ///< that an account manager manages
  int32_t priority_max = INT32_MAX;     ///< of the jobs they submit

  [[nodiscard]] bool is_operator() const { return role == Role::Operator; }
  [[nodiscard]] bool may_submit() const { return role != Role::Viewer; }
  /// May see and change a job of that owner and account.
  [[nodiscard]] bool may_touch(const live::job::Owner& of, const std::string& account) const;
  /// May see all of it, changing nothing: the same, and viewers.
  [[nodiscard]] bool may_see(const live::job::Owner& of, const std::string& account) const {
    return role == Role::Viewer || may_touch(of, account);
  }
};

/// Highest priority of jobs by who submits them: more evicts the jobs of others where the policy
/// interrupts by priority.
struct PriorityMax {
  int32_t user = 0;
  int32_t account_manager = INT32_MAX;
  int32_t an_operator = INT32_MAX;
};

struct CallerOptions {
  std::vector<std::string> operators{};        ///< users, beside root and the daemon's own
  std::vector<std::string> operator_groups{};  ///< their members, too
  std::vector<std::string> viewers{};          ///< users that may look only, at everything
  /// User -> accounts whose jobs they may see and change.
  std::map<std::string, std::vector<std::string>> account_managers{};
  std::string token_file{};  ///< see token_file.hpp; empty = no tokens
  PriorityMax priority_max{};
  std::string own_token{};  ///< of the daemon's own user, an operator; empty = none
};

/// Tells who somebody is. Threads: any.
class Callers {
 public:
  /// Errors: those of the token file.
  [[nodiscard]] static base::Result<std::unique_ptr<Callers>> create(CallerOptions options);

  /// Errors: Usage, nobody known: no token over TCP, a wrong one, an uid without a name. A token
  /// counts before the credentials of a connection. The token is in no message.
  [[nodiscard]] base::Result<Identity> identify(const base::http::Request& request);

 private:
  explicit Callers(CallerOptions options) : options_(std::move(options)) {}
  [[nodiscard]] base::Result<Identity> by_credentials(const base::http::Peer& peer);
  [[nodiscard]] base::Result<Identity> by_token(const std::string& text);

  CallerOptions options_;
  std::mutex mutex_;
  std::vector<Token> tokens_;
  /// Answers of the user database for a while: by uid, with the time they were given.
  struct Known {
    Identity identity{};
    int64_t at_s = 0;
  };
  std::map<uint32_t, Known> known_;  ///< guarded by mutex_
};

/// A user of this machine. Errors: Usage if there is none of that name.
[[nodiscard]] base::Result<live::job::Owner> find_user(const std::string& name);
/// The groups a user is in.
[[nodiscard]] std::vector<uint32_t> groups_of(const live::job::Owner& owner);

}  // namespace goban::serve::api
