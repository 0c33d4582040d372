// The parts of `goban history`.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/shell/command.hpp"
#include "site/store/job_store.hpp"
#include "site/store/pseudonyms.hpp"

namespace goban::cli {

inline constexpr const char* kStoreHelp =
    "The store: a SQLite file, mariadb://USER@HOST/DATABASE or postgresql://...";
inline constexpr const char* kSaltHelp =
    "File with the key of the pseudonyms; left out, the store's own";
inline constexpr const char* kPlainHelp = "Write the names of users, accounts and groups";

/// Pseudonyms with the key in a file, or the store's own; none if names are to be plain.
[[nodiscard]] base::Result<std::optional<site::store::Pseudonyms>> open_pseudonyms(
    site::store::JobStore& jobs, bool plain, const std::string& salt_file);

/// status, prune, forget and sums.
void add_history_keeping(Command& history, Action& action);

}  // namespace goban::cli
