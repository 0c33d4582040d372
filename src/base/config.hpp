// Configuration files (TOML): a parsed document, and readers of its tables that reject unknown
// keys. Only config_parse.cpp uses toml++.
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

/// One value and its position in the file.
struct ConfigValue {
  struct Entry;
  using Array = std::vector<ConfigValue>;
  using Table = std::vector<Entry>;  ///< sorted by key
  /// monostate: a date or time, which no reader accepts.
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Table> value;
  int line = 0;
  int column = 0;

  /// "a string", "a table", ...
  [[nodiscard]] std::string_view kind() const;
  /// Equal values; their positions may differ.
  friend bool operator==(const ConfigValue& one, const ConfigValue& other);
};

struct ConfigValue::Entry {
  std::string key;
  int key_line = 0;
  int key_column = 0;
  ConfigValue value;
  friend bool operator==(const Entry& one, const Entry& other) {
    return one.key == other.key && one.value == other.value;
  }
};

/// Parses a document; the result is a table. Errors: BadData with line and column, also for
/// excessive nesting.
[[nodiscard]] Result<ConfigValue> parse_config(std::string_view toml, const std::string& file);

/// The file that a set of readers reads, and the first problem that any of them found.
class ConfigProblems {
 public:
  explicit ConfigProblems(std::string file) : file_(std::move(file)) {}
  void refuse(int line, int column, std::string field, std::string message, std::string remedy);
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool any() const { return first_.has_value(); }
  /// Success, or the first problem.
  [[nodiscard]] Status status() const;

 private:
  std::string file_;
  std::optional<Error> first_;
};

/// Reads the fields of one table. Each call names a known key; after the last one, finish() rejects
/// the keys that no call named. A field that is absent or invalid yields the fallback; problems are
/// collected in ConfigProblems. The value and the problems must outlive the reader.
class TableReader {
 public:
  /// `path` names the table in messages, such as "nodes"; empty for the document.
  TableReader(const ConfigValue& table, std::string path, ConfigProblems& problems);

  /// The table itself, for those who read it again later.
  [[nodiscard]] const ConfigValue& value() const { return *table_; }
  [[nodiscard]] const std::string& file() const { return problems_->file(); }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Rejects the table if the key is missing; `remedy` states what to write.
  void require(std::string_view key, std::string_view remedy);

  /// A non-empty string without control characters.
  std::string text(std::string_view key, std::string fallback = {});
  int64_t whole(std::string_view key, int64_t least, int64_t most, int64_t fallback);
  /// A finite number from `least` to `most`.
  double number(std::string_view key, double least, double most, double fallback);
  /// Quantities as in units.hpp, or plain numbers in bytes, seconds, bytes per second.
  int64_t bytes(std::string_view key, int64_t fallback = 0);
  TimeNs duration(std::string_view key, TimeNs fallback = 0);
  double bandwidth(std::string_view key, double fallback = 0);
  /// A string, or a number as its text.
  std::string text_or_number(std::string_view key);
  /// An array of non-empty strings; a single string is an array of one.
  std::vector<std::string> texts(std::string_view key);
  /// An array of numbers; a single number is an array of one.
  std::vector<double> numbers(std::string_view key, double least, double most);
  /// The table [key]; nullopt if absent.
  std::optional<TableReader> table(std::string_view key);
  /// The tables [[key]]; empty if absent.
  std::vector<TableReader> tables(std::string_view key);

  /// Rejects unknown keys and suggests the nearest known one.
  void finish();

  /// Rejects the value of a key (or the table, if the key is absent) with the caller's message.
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
