// Copies an SQLite store that is in use.
#pragma once

#include <string>

#include "base/result.hpp"

namespace goban::site::store {

/// Copies the database file `from` to the new file `to`, as of one point in time; writers are not
/// blocked. Errors: Failed if one of them cannot be opened or is not a database, or a disk is full.
[[nodiscard]] base::Status copy_sqlite(const std::string& from, const std::string& to);

}  // namespace goban::site::store
