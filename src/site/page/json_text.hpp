// Strings as JSON that may stand anywhere, also inside of HTML.
#pragma once

#include <string>
#include <string_view>

namespace goban::site::page {

/// JSON text with '<', '>' and '&' in its strings (they occur nowhere else) written as escapes, so
/// that no content can end a <script> element or begin a comment.
[[nodiscard]] std::string html_safe(std::string_view json);

/// `text` as a JSON string of ASCII letters alone, html_safe(). Bytes that are not UTF-8 become
/// U+FFFD.
[[nodiscard]] std::string json_quoted(std::string_view text);

/// "[a, b, ...]" of what `text` gives for each item.
template <typename Items, typename Text>
[[nodiscard]] std::string json_list(const Items& items, const Text& text,
                                    const char* between = ", ") {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += between;
    out += text(item);
  }
  return out + "]";
}

}  // namespace goban::site::page
