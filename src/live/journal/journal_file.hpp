// The journal in a folder (docs/journal.md). A generation is a snapshot and the records since. The
// newest generation is valid; the previous one is kept as a backup.
#pragma once

#include <memory>
#include <string>

#include "live/journal/file_calls.hpp"
#include "live/journal/journal_folder.hpp"
#include "live/journal/record_log.hpp"

namespace goban::live::journal {

struct JournalOptions {
  std::string build = "unknown";  ///< goban's version, for information
  InputFacts made_with{};         ///< inputs of decisions from now on
  FileCalls* calls = nullptr;     ///< null: the system's; outlives the journal
};

struct OpenJournal {
  std::unique_ptr<RecordLog> log{};
  Recovered recovered{};
  uint64_t epoch = 0;                 ///< of the writer from now on
  std::vector<MadeWith> made_with{};  ///< as found
};

/// Opens the journal in `folder` for writing, or creates one. Earlier writers are fenced: their
/// next commit fails. The content found is copied to a new generation; a torn tail is stored in
/// `journal-<epoch>-<generation>.torn`. Errors: BadData if a file is damaged (nothing is changed;
/// the message has a remedy); Failed if the folder cannot be read or written.
[[nodiscard]] base::Result<OpenJournal> open_journal(const std::string& folder,
                                                     const JournalOptions& options);

/// Reads a journal without changing anything. `path` is a folder or one of its journals. Errors:
/// those of open_journal(); Failed if there is no journal.
[[nodiscard]] base::Result<Recovered> read_journal(const std::string& path);
/// The same, with the inputs of its decisions.
[[nodiscard]] base::Result<JournalContents> read_journal_contents(const std::string& path);
/// The journals of a folder, oldest first. Errors: Failed if it cannot be read or has none.
[[nodiscard]] base::Result<std::vector<std::string>> journals_in(const std::string& folder);

}  // namespace goban::live::journal
