// The only file that sees toml++. Compiled here rather than taken from the shared library, whose
// assertions abort on some malformed documents.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_MAX_NESTED_VALUES 16
#include <algorithm>
#include <toml++/toml.h>

#include "base/config.hpp"

namespace goban::base {
namespace {

constexpr size_t kDotsMax = 16;

/// Where the first key with more than kDotsMax dots stands, if there is one. Such keys nest tables
/// without bound, and freeing those takes the stack. Strings and comments are passed over.
class DotScan {
 public:
  explicit DotScan(std::string_view text) : text_(text) {}

  /// Line of the key, or 0.
  int run() {
    size_t dots = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        if (c == '\n') ++line_;
        if (c == '.' && ++dots > kDotsMax) return line_;
        if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
        ++at_;
      }
    }
    return 0;
  }

 private:
  void skip_string(char quote) {
    const std::string triple(3, quote);
    const bool is_long = text_.substr(at_, 3) == triple;
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        at_ += 2;
      } else if (is_long ? text_.substr(at_, 3) == triple : c == quote) {
        at_ += is_long ? 3 : 1;
        return;
      } else if (c == '\n' && !is_long) {
        return;  // an error the parser will name
      } else {
        if (c == '\n') ++line_;
        ++at_;
      }
    }
    at_ = text_.size();
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

ConfigValue convert(const toml::node& node);

ConfigValue::Array convert_array(const toml::array& array) {
  ConfigValue::Array out;
  out.reserve(array.size());
  for (const toml::node& item : array) out.push_back(convert(item));
  return out;
}

ConfigValue::Table convert_table(const toml::table& table) {
  ConfigValue::Table out;
  for (const auto& [key, node] : table) {
    const toml::source_position at = key.source().begin;
    out.push_back({std::string(key.str()), static_cast<int>(at.line), static_cast<int>(at.column),
                   convert(node)});
  }
  return out;
}

ConfigValue convert(const toml::node& node) {
  ConfigValue out;
  out.line = static_cast<int>(node.source().begin.line);
  out.column = static_cast<int>(node.source().begin.column);
  if (const auto* table = node.as_table()) {
    out.value = convert_table(*table);
  } else if (const auto* array = node.as_array()) {
    out.value = convert_array(*array);
  } else if (const auto* text = node.as_string()) {
    out.value = text->get();
  } else if (const auto* whole = node.as_integer()) {
    out.value = whole->get();
  } else if (const auto* real = node.as_floating_point()) {
    out.value = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    out.value = flag->get();
  }
  return out;
}

}  // namespace

Result<ConfigValue> parse_config(std::string_view toml, const std::string& file) {
  if (const int line = DotScan(toml).run(); line > 0) {
    return bad_data({file, line, 0, {}}, "a key has too many dots", "at most 16");
  }
  const toml::parse_result parsed = toml::parse(toml, file);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    const toml::source_position at = error.source().begin;
    return bad_data({file, static_cast<int>(at.line), static_cast<int>(at.column), {}},
                    std::string(error.description()), "the file must be valid TOML");
  }
  return convert(parsed.table());
}

}  // namespace goban::base
