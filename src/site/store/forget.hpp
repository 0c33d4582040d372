// Removes a user's identity from a store: the jobs remain in all sums, but not their owner.
#pragma once

#include <string>
#include <string_view>

#include "site/store/sql.hpp"

namespace goban::site::store {

struct Forgotten {
  int64_t jobs = 0;        ///< jobs whose names, command lines, groups and software were removed
  int64_t days = 0;        ///< rows of daily sums of years that are reduced to sums
  std::string name_now{};  ///< random, the same for all of them; empty = no such user
};

/// Counts jobs and sums under a user's name. Changes nothing. Errors: Failed.
[[nodiscard]] base::Result<Forgotten> find_user_records(SqlConnection& connection,
                                                        std::string_view user);
/// Replaces the user's name by a random one, and removes the job names, command lines, details,
/// groups, reservations and software of the user's jobs. All or nothing; SQLite overwrites the
/// deleted content. Errors: Failed.
[[nodiscard]] base::Result<Forgotten> forget_user(SqlConnection& connection, std::string_view user);

}  // namespace goban::site::store
