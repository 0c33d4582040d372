// The parts of `goban history`.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/shell/command.hpp"

namespace goban::cli {

inline constexpr const char* kStoreHelp =
    "History store: SQLite file, mariadb://USER@HOST/DATABASE or postgresql://...";
inline constexpr const char* kSaltHelp =
    "File with the key of the pseudonyms (default: the store's own key)";
inline constexpr const char* kPlainHelp = "Write the real names of users, accounts and groups";

/// A date or time of an option; none if the text is empty. Errors: Usage, naming the option.
[[nodiscard]] base::Result<std::optional<base::TimeNs>> parse_day(const std::string& text,
                                                                  const char* option);

/// The finished jobs of a daemon.
void add_history_jobs(Command& history, Action& action);
/// status, prune, forget and sums.
void add_history_keeping(Command& history, Action& action);

}  // namespace goban::cli
