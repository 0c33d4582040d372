// Acting with another user's rights, for root only: dropping a process's privileges.
#pragma once

#include <string>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::engine::local {

/// Checks that this process can run jobs of this user. Errors: Failed if it runs neither as root
/// nor as that user.
[[nodiscard]] base::Status may_act_for(const job::Owner& owner);

/// A user's entry in the user database; "/" and "/bin/sh" if there is none.
struct UserFacts {
  std::string name{};
  std::string home = "/";
  std::string shell = "/bin/sh";
};
[[nodiscard]] UserFacts user_facts(const job::Owner& owner);

/// Changes this process to the user irrevocably: groups, group, user. Does nothing if it runs as
/// that user already. Errors: Failed.
[[nodiscard]] base::Status become(const job::Owner& owner, const UserFacts& facts);

}  // namespace goban::live::engine::local
