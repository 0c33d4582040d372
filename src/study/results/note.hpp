// Notes for the reader of results.
#pragma once

#include <cstdint>
#include <string>

namespace goban::study::results {

enum class NoteLevel : uint8_t { Info, Warning, Error };

/// Something the reader of results has to know.
struct Note {
  NoteLevel level = NoteLevel::Info;
  std::string text;
};

}  // namespace goban::study::results
