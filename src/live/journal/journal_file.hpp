// The journal in a folder (docs/journal.md): generations of a snapshot and the records since, of
// which the newest counts and the one before is kept as a back-up.
#pragma once

#include <memory>
#include <string>

#include "live/journal/file_calls.hpp"
#include "live/journal/journal_folder.hpp"
#include "live/journal/record_log.hpp"

namespace goban::live::journal {

struct JournalOptions {
  std::string build = "unknown";  ///< goban's version, for whoever reads the file
  InputFacts made_with{};         ///< what decisions are made with from now on
  FileCalls* calls = nullptr;     ///< null: the system's; outlives the journal
};

struct OpenJournal {
  std::unique_ptr<RecordLog> log{};
  Recovered recovered{};
  uint64_t epoch = 0;                 ///< that its writer has from now on
  std::vector<MadeWith> made_with{};  ///< what was found
};

/// Opens the journal in `folder` for writing, or makes one. Whoever wrote to it before is shut out:
/// its next commit fails. What is found goes into a generation of its own; a torn tail is kept in
/// `journal-<epoch>-<generation>.torn`. Errors: BadData if a file is damaged (nothing is lost: the
/// message says what to do); Failed if the folder cannot be read or written.
[[nodiscard]] base::Result<OpenJournal> open_journal(const std::string& folder,
                                                     const JournalOptions& options);

/// The same for reading only; nothing is changed. `path` is a folder or one of its journals.
/// Errors: as open_journal(); Failed if there is none.
[[nodiscard]] base::Result<Recovered> read_journal(const std::string& path);
/// The same with what its decisions were made with.
[[nodiscard]] base::Result<JournalContents> read_journal_contents(const std::string& path);
/// The journals of a folder, oldest first. Errors: Failed if it cannot be read or has none.
[[nodiscard]] base::Result<std::vector<std::string>> journals_in(const std::string& folder);

}  // namespace goban::live::journal
