// JSON strings that are safe inside HTML.
#pragma once

#include <string>
#include <string_view>

namespace goban::site::page {

/// JSON text with '<', '>' and '&' in its strings (they occur nowhere else) escaped, so that no
/// content can end a <script> element or begin a comment.
[[nodiscard]] std::string html_safe(std::string_view json);

/// `text` as an ASCII-only JSON string, html_safe(). Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_quoted(std::string_view text);

/// "[a, b, ...]", the results of `text` for each item.
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
