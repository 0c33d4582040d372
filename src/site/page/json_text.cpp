#include "site/page/json_text.hpp"

#include <nlohmann/json.hpp>

namespace goban::site::page {

std::string html_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_quoted(std::string_view text) {
  return html_safe(
      nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

}  // namespace goban::site::page
