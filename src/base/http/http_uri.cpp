#include "base/http/http_uri.hpp"

#include <algorithm>
#include <cstdint>

#include "base/printable.hpp"

namespace goban::base::http {

namespace {
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool decode(std::string_view text, bool plus_is_blank, std::string& out) {
  constexpr int kBase = 16;
  for (size_t i = 0; i < text.size(); ++i) {
    if (plus_is_blank && text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return false;
      const int high = digit_of(text[i + 1]);
      const int low = digit_of(text[i + 2]);
      if (high < 0 || low < 0) return false;
      out += static_cast<char>(high * kBase + low);
      i += 2;
    }
  }
  return is_plain_text(out);
}
}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    if (first < ' ' || first == 0x7f) return false;
    // C1 control characters: U+0080 to U+009F.
    if (first == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0)
      return false;
    const size_t size = utf8_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::optional<Target> parse_target(std::string_view target) {
  Target out;
  const size_t mark = target.find('?');
  out.path = target.substr(0, mark);
  if (mark == std::string_view::npos) return out;
  std::string_view query = target.substr(mark + 1);
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    std::string name;
    std::string value;
    if (!decode(part.substr(0, equals), true, name)) return std::nullopt;
    if (equals != std::string_view::npos && !decode(part.substr(equals + 1), true, value)) {
      return std::nullopt;
    }
    out.query[std::move(name)] = std::move(value);
  }
  return out;
}

std::optional<std::vector<std::string>> path_segments(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  std::vector<std::string> segments;
  for (size_t begin = 1; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    std::string segment;
    if (!decode(path.substr(begin, end - begin), false, segment)) return std::nullopt;
    if (segment == "." || segment == ".." || segment.find('/') != std::string::npos) {
      return std::nullopt;
    }
    segments.push_back(std::move(segment));
    begin = end + 1;
  }
  return segments;
}

}  // namespace goban::base::http
