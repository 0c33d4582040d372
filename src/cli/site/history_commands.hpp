// The parts of `goban history`.
#pragma once

#include "cli/shell/command.hpp"

namespace goban::cli {

inline constexpr const char* kStoreHelp =
    "History store: SQLite file, mariadb://USER@HOST/DATABASE or postgresql://...";
inline constexpr const char* kSaltHelp =
    "File with the key of the pseudonyms (default: the store's own key)";
inline constexpr const char* kPlainHelp = "Write the real names of users, accounts and groups";

/// status, prune, forget and sums.
void add_history_keeping(Command& history, Action& action);

}  // namespace goban::cli
