// Configuration files (TOML): a parsed document, and readers of its tables that refuse what they
// do not know. toml++ stays inside config_parse.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::base {

/// One value and where it stands.
struct ConfigValue {
  struct Entry;
  using Array = std::vector<ConfigValue>;
  using Table = std::vector<Entry>;  ///< in the order of the names
  /// A date or time is kept as nothing (monostate): no reader wants one.
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Table> value;
  int line = 0;
  int column = 0;

  /// "a string", "a table", ...
  [[nodiscard]] std::string_view kind() const;
};

struct ConfigValue::Entry {
  std::string key;
  int key_line = 0;
  int key_column = 0;
  ConfigValue value;
};

/// Parses a document; the result holds a table. Errors: BadData with line and column, also for
/// nesting deeper than any configuration needs.
[[nodiscard]] Result<ConfigValue> parse_config(std::string_view toml, const std::string& file);

/// The file a set of readers reads, and the first problem any of them met.
class ConfigProblems {
 public:
  explicit ConfigProblems(std::string file) : file_(std::move(file)) {}
  void refuse(int line, int column, std::string field, std::string message, std::string remedy);
  [[nodiscard]] bool any() const { return first_.has_value(); }
  /// Fine, or the first problem.
  [[nodiscard]] Status status() const;

 private:
  std::string file_;
  std::optional<Error> first_;
};

/// Reads the fields of one table. Each call names a known key; after the last one, finish() refuses
/// the keys nobody asked for. A field that is absent or wrong yields the fallback; problems gather
/// in ConfigProblems. The value and the problems must outlive the reader.
class TableReader {
 public:
  /// `path` is how messages name the table, such as "nodes"; empty for the document.
  TableReader(const ConfigValue& table, std::string path, ConfigProblems& problems);

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Refuses the table if the key is not there; `remedy` says what to write.
  void require(std::string_view key, std::string_view remedy);

  /// A string that is not empty, without control characters.
  std::string text(std::string_view key, std::string fallback = {});
  int64_t whole(std::string_view key, int64_t least, int64_t most, int64_t fallback);
  /// Finite, from `least` to `most`.
  double number(std::string_view key, double least, double most, double fallback);
  /// Quantities as in units.hpp, or plain numbers of bytes, seconds, bytes a second.
  int64_t bytes(std::string_view key, int64_t fallback = 0);
  TimeNs duration(std::string_view key, TimeNs fallback = 0);
  double bandwidth(std::string_view key, double fallback = 0);
  /// A string, or a number as its text.
  std::string text_or_number(std::string_view key);
  /// A list of strings that are not empty; a single string counts as a list of one.
  std::vector<std::string> texts(std::string_view key);
  /// A list of numbers; a single number counts as a list of one.
  std::vector<double> numbers(std::string_view key, double least, double most);
  /// The table under [key]; nothing if absent.
  std::optional<TableReader> table(std::string_view key);
  /// The tables under [[key]]; empty if absent.
  std::vector<TableReader> tables(std::string_view key);

  /// Refuses unknown keys, naming the nearest known one.
  void finish();

  /// Refuses the value of a key (or the table, if the key is absent) for a reason of the caller.
  void refuse(std::string_view key, std::string message, std::string remedy);

 private:
  [[nodiscard]] const ConfigValue* find(std::string_view key) const;
  const ConfigValue* ask(std::string_view key);
  [[nodiscard]] std::string field(std::string_view key) const;
  void wrong_kind(std::string_view key, const ConfigValue& value, std::string_view wanted);
  template <typename T>
  T take(std::string_view key, Result<T> parsed, T fallback);
  std::string checked_text(std::string_view key, const ConfigValue& value);

  const ConfigValue* table_;
  std::string path_;
  ConfigProblems* problems_;
  std::vector<std::string_view> known_;
};

}  // namespace goban::base
