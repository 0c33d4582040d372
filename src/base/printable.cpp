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

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = utf8_bytes(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool is_c0 = first < ' ' && first != '\n' && first != '\t';
    // U+0080 to U+009F, which some terminals interpret as control characters.
    const bool is_c1 = bytes == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    const size_t taken = bytes == 0 ? 1 : bytes;
    if (bytes != 0 && !is_c0 && !is_c1 && first != 0x7f) {
      out += text.substr(0, taken);
    } else {
      for (size_t i = 0; i < taken; ++i) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
      }
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace goban::base
