// Acting with another user's rights, for root only: dropping a process's privileges, and opening a
// file with the rights of its user.
#pragma once

#include <string>

#include "base/files.hpp"
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

/// Opens a file of a job for reading with the rights of its owner, so that symbolic links give
/// access to no other file. From any thread. Errors: Failed, also if it is not a regular file.
[[nodiscard]] base::Result<base::Descriptor> open_as_user(const job::Owner& owner,
                                                          const std::string& path);

}  // namespace goban::live::engine::local
