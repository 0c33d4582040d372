#include "cli/shell/notes.hpp"

#include <cstdio>
#include <fmt/format.h>

#include "base/printable.hpp"

namespace goban::cli {

void print_notes(const std::vector<study::results::Note>& notes) {
  for (const study::results::Note& note : notes) {
    fmt::print(stderr, "goban: {}: {}\n",
               note.level == study::results::NoteLevel::Info ? "note" : "warning",
               base::printable(note.text));
  }
}

}  // namespace goban::cli
