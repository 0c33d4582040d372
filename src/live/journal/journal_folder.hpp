// The files of a journal's folder, and their joint content.
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

/// The content of a generation.
struct JournalContents {
  Recovered recovered{};
  std::string tail{};                 ///< bytes after the last intact record
  std::vector<MadeWith> made_with{};  ///< the inputs of decisions, by record
};
/// Reads the snapshot of a generation and its records. If the snapshot is missing or damaged, the
/// previous generation is used instead. Errors: BadData if that is impossible or the journal is
/// damaged; Failed if a file cannot be read.
[[nodiscard]] base::Result<JournalContents> read_generation(const std::string& folder,
                                                            Generation generation);

/// Adds the inputs of later records, unless they equal those of the records before.
void add_made_with(std::vector<MadeWith>& all, MadeWith next);

/// The text of a snapshot file.
[[nodiscard]] std::string snapshot_text(Generation generation, const std::string& build,
                                        std::string_view snapshot);
/// The snapshot in such a text. Errors: BadData if it is damaged or of a newer version.
[[nodiscard]] base::Result<std::string> parse_snapshot(std::string_view text,
                                                       const std::string& file);

}  // namespace goban::live::journal
