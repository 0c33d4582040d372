// What lies in a journal's folder, and what it amounts to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/journal/journal_text.hpp"
#include "live/journal/record_log.hpp"

namespace goban::live::journal {

[[nodiscard]] std::string journal_path(const std::string& folder, Generation generation);
[[nodiscard]] std::string snapshot_path(const std::string& folder, Generation generation);

/// Journals or snapshots of a folder, ascending. Errors: Failed if it cannot be read.
[[nodiscard]] base::Result<std::vector<Generation>> generations_in(const std::string& folder);

/// A generation as it was read.
struct JournalContents {
  Recovered recovered{};
  std::string tail{};                 ///< bytes behind the last whole record
  std::vector<MadeWith> made_with{};  ///< the records
};
/// The snapshot of a generation and its records. Where the snapshot is missing or damaged, it is
/// made up for by the generation before. Errors: BadData if that is impossible or the journal is
/// damaged; Failed if a file cannot be read.
[[nodiscard]] base::Result<JournalContents> read_generation(const std::string& folder,
                                                            Generation generation);

/// Adds what records from then on are made with, unless those before were made with the same.
void add_made_with(std::vector<MadeWith>& all, MadeWith next);

/// The text of a snapshot file.
[[nodiscard]] std::string snapshot_text(Generation generation, const std::string& build,
                                        std::string_view snapshot);
/// The snapshot in such a text. Errors: BadData if it is damaged or of a newer version.
[[nodiscard]] base::Result<std::string> parse_snapshot(std::string_view text,
                                                       const std::string& file);

}  // namespace goban::live::journal
