// What a reader has to say about a history, on stderr.
#pragma once

#include <string>

#include "history/job_reader.hpp"

namespace goban::cli {

/// Prints notes and refused records of the history `path`; `rejects` is where the latter are, or
/// empty.
void print_read_notes(const history::ReadResult& read, const std::string& path,
                      const std::string& rejects);

}  // namespace goban::cli
