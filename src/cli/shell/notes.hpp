// Notes about inputs and results, on stderr.
#pragma once

#include <vector>

#include "study/results/note.hpp"

namespace goban::cli {

/// Prints `goban: note: ...` and `goban: warning: ...` to stderr.
void print_notes(const std::vector<study::results::Note>& notes);

}  // namespace goban::cli
