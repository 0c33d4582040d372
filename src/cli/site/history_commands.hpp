// The parts of `goban history`.
#pragma once

#include "cli/shell/command.hpp"

namespace goban::cli {

inline constexpr const char* kStoreHelp =
    "The store: a SQLite file, mariadb://USER@HOST/DATABASE or postgresql://...";
inline constexpr const char* kSaltHelp =
    "File with the key of the pseudonyms; left out, the store's own";
inline constexpr const char* kPlainHelp = "Write the names of users, accounts and groups";

/// status, prune, forget and sums.
void add_history_keeping(Command& history, Action& action);

}  // namespace goban::cli
