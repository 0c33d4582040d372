// Notes for the reader of results.
#pragma once

#include <cstdint>
#include <string>

namespace goban::study::results {

enum class NoteLevel : uint8_t { Info, Warning, Error };

/// One note, with its level.
struct Note {
  NoteLevel level = NoteLevel::Info;
  std::string text;
};

}  // namespace goban::study::results
