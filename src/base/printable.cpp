#include "base/printable.hpp"

#include <fmt/format.h>

namespace goban::base {

size_t utf8_bytes(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    if (!follows(1) || !follows(2)) return 0;
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first < 0xf0 || first > 0xf4 || !follows(1) || !follows(2) || !follows(3)) return 0;
  const bool overlong = first == 0xf0 && byte(1) < 0x90;
  const bool too_large = first == 0xf4 && byte(1) >= 0x90;
  return overlong || too_large ? 0 : 4;
}

size_t unsafe_bytes(std::string_view text) {
  const size_t bytes = utf8_bytes(text);
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (bytes == 0) return 1;
  if (bytes == 1) return byte(0) < ' ' || byte(0) == 0x7f ? 1 : 0;
  // U+0080 to U+009F, which some terminals interpret as control characters, and U+061C.
  if (bytes == 2) {
    const bool is_c1 = byte(0) == 0xc2 && byte(1) < 0xa0;
    return is_c1 || (byte(0) == 0xd8 && byte(1) == 0x9c) ? 2 : 0;
  }
  if (bytes != 3 || byte(0) != 0xe2) return 0;
  // U+200E, U+200F, U+2028 to U+202E, and U+2066 to U+2069.
  const bool is_mark = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f);
  const bool is_separator_or_override = byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae;
  const bool is_isolate = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return is_mark || is_separator_or_override || is_isolate ? 3 : 0;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool stays = text[0] == '\n' || text[0] == '\t';
    const size_t unsafe = stays ? 0 : unsafe_bytes(text);
    for (size_t i = 0; i < unsafe; ++i) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    }
    const size_t shown = unsafe > 0 ? 0 : utf8_bytes(text);
    out += text.substr(0, shown);
    text.remove_prefix(unsafe + shown);
  }
  return out;
}

}  // namespace goban::base
