// Another user's rights, for root only: a process that gives up its own, and one file opened with
// the rights of somebody else.
#pragma once

#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::engine::local {

/// Whether we can run jobs of this user. Errors: Failed if we are neither root nor that user.
[[nodiscard]] base::Status may_act_for(const job::Owner& owner);

/// What the system knows of a user; "/" and "/bin/sh" if nothing.
struct UserFacts {
  std::string name{};
  std::string home = "/";
  std::string shell = "/bin/sh";
};
[[nodiscard]] UserFacts user_facts(const job::Owner& owner);

/// This process belongs to the user from now on: groups, group, user; no way back. Nothing to do if
/// it does already. Errors: Failed.
[[nodiscard]] base::Status become(const job::Owner& owner, const UserFacts& facts);

/// Opens a file for reading with the rights of its user, whatever links lie on the way: nobody
/// reads through us what he could not read himself. For logs of jobs. From any thread. Errors:
/// Failed; a thing that is no regular file.
[[nodiscard]] base::Result<base::Descriptor> open_as_user(const job::Owner& owner,
                                                          const std::string& path);

}  // namespace goban::live::engine::local
