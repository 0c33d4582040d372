// What a reader has to say about a history.
#pragma once

#include <string>
#include <vector>

#include "study/history/job_reader.hpp"
#include "study/results/note.hpp"

namespace goban::cli {

/// Notes on the history `path`, and a warning if records were refused; `rejects` is where they are,
/// or empty.
[[nodiscard]] std::vector<study::results::Note> read_notes(const study::history::ReadResult& read,
                                                           const std::string& path,
                                                           const std::string& rejects);

/// Prints `goban: note: ...` and `goban: warning: ...` to stderr.
void print_notes(const std::vector<study::results::Note>& notes);

/// Both.
void print_read_notes(const study::history::ReadResult& read, const std::string& path,
                      const std::string& rejects);

}  // namespace goban::cli
