// A user's wish to be forgotten: the jobs stay in all sums, and nothing says whose they were.
#pragma once

#include <string>
#include <string_view>

#include "site/store/sql.hpp"

namespace goban::site::store {

struct Forgotten {
  int64_t jobs = 0;        ///< whose names, command lines, groups and software are gone
  int64_t days = 0;        ///< rows of sums of years whose jobs are gone
  std::string name_now{};  ///< a random one, the same for all of them; empty = nobody was there
};

/// Jobs and sums that stand under a user's name. Nothing is changed. Errors: Failed.
[[nodiscard]] base::Result<Forgotten> find_user_records(SqlConnection& connection,
                                                        std::string_view user);
/// Gives them a random name that nothing else tells about, and removes names and command lines of
/// the jobs, their groups, reservations and software. All or nothing; SQLite overwrites what it
/// held. Errors: Failed.
[[nodiscard]] base::Result<Forgotten> forget_user(SqlConnection& connection, std::string_view user);

}  // namespace goban::site::store
