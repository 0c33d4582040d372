#include "site/series/input/exposition.hpp"

#include <charconv>
#include <cmath>
#include <limits>

namespace goban::site::series {
namespace {

bool is_name_char(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  return letter || (!first && c >= '0' && c <= '9');
}

/// Parses a line from left to right.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t'))
      text_.remove_prefix(1);
  }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool at_end() const { return text_.empty(); }
  [[nodiscard]] bool at(char c) const { return !text_.empty() && text_.front() == c; }

  std::string_view name() {
    size_t size = 0;
    while (size < text_.size() && is_name_char(text_[size], size == 0)) ++size;
    return remove(size);
  }
  std::string_view word() { return remove(std::min(text_.find_first_of(" \t"), text_.size())); }
  std::optional<std::string> quoted() {
    if (!take('"')) return std::nullopt;
    std::string value;
    while (!text_.empty()) {
      char c = text_.front();
      text_.remove_prefix(1);
      if (c == '"') return value;
      if (c == '\\') {
        if (text_.empty()) return std::nullopt;
        c = text_.front() == 'n' ? '\n' : text_.front();
        text_.remove_prefix(1);
      }
      value.push_back(c);
    }
    return std::nullopt;
  }

 private:
  std::string_view remove(size_t size) {
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }
  std::string_view text_;
};

/// Numbers in Prometheus' notation, including NaN, +Inf, -Inf.
std::optional<double> parse_value(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return value;
  return std::nullopt;
}

bool parse_labels(Cursor& cursor, ExpositionLine& line) {
  cursor.skip_blanks();
  while (!cursor.take('}')) {
    std::string name(cursor.name());
    if (name.empty()) {
      auto quoted = cursor.quoted();
      if (!quoted) return false;
      name = std::move(*quoted);
    }
    cursor.skip_blanks();
    if (cursor.take('=')) {
      cursor.skip_blanks();
      auto value = cursor.quoted();
      if (!value) return false;
      if (name == "__name__") {
        line.name = std::move(*value);
      } else {
        line.labels.emplace_back(std::move(name), std::move(*value));
      }
    } else if (line.name.empty()) {
      line.name = std::move(name);
    } else {
      return false;
    }
    cursor.skip_blanks();
    if (!cursor.take(',') && !cursor.at('}')) return false;
    cursor.skip_blanks();
  }
  return true;
}

}  // namespace

bool is_comment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos || line[first] == '#';
}

std::optional<ExpositionLine> parse_exposition_line(std::string_view line) {
  Cursor cursor(line);
  cursor.skip_blanks();
  ExpositionLine result;
  result.name = cursor.name();
  cursor.skip_blanks();
  if (cursor.take('{') && !parse_labels(cursor, result)) return std::nullopt;
  if (result.name.empty()) return std::nullopt;
  cursor.skip_blanks();
  const auto value = parse_value(cursor.word());
  if (!value) return std::nullopt;
  result.value = *value;
  cursor.skip_blanks();
  if (cursor.at_end() || cursor.at('#')) return result;
  const auto time = parse_value(cursor.word());
  constexpr double kFirstMilliseconds = 1e11;
  constexpr double kTimeMax = 9e12;  // year 2255, in milliseconds
  if (!time || !std::isfinite(*time)) return std::nullopt;
  const double time_ms = std::abs(*time) < kFirstMilliseconds ? *time * 1000 : *time;
  if (std::abs(time_ms) > kTimeMax) return std::nullopt;
  result.time_ms = std::llround(time_ms);
  cursor.skip_blanks();
  if (!cursor.at_end() && !cursor.at('#')) return std::nullopt;
  return result;
}

void append_label_value(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

}  // namespace goban::site::series
