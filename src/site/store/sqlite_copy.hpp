// A copy of an SQLite store while others write it.
#pragma once

#include <string>

#include "base/result.hpp"

namespace goban::site::store {

/// Copies the database file `from` to the new file `to`, as of one moment; writers go on meanwhile.
/// Errors: Failed if one of them cannot be opened, is no database, or a disk is full.
[[nodiscard]] base::Status copy_sqlite(const std::string& from, const std::string& to);

}  // namespace goban::site::store
