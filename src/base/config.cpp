#include "base/config.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/nearest.hpp"
#include "base/number.hpp"
#include "base/units.hpp"

namespace goban::base {

std::string_view ConfigValue::kind() const {
  constexpr std::string_view kKinds[] = {"a date or time", "a boolean", "an integer", "a number",
                                         "a string",       "an array",  "a table"};
  return kKinds[value.index()];
}

bool operator==(const ConfigValue& one, const ConfigValue& other) {
  return one.value == other.value;
}

void ConfigProblems::refuse(int line, int column, std::string field, std::string message,
                            std::string remedy) {
  if (first_) return;
  first_ = Error{.code = ErrorCode::BadData,
                 .message = std::move(message),
                 .place = {file_, line, column, std::move(field)},
                 .remedy = std::move(remedy)};
}

Status ConfigProblems::status() const {
  if (first_) return failure(*first_);
  return {};
}

TableReader::TableReader(const ConfigValue& table, std::string path, ConfigProblems& problems)
    : table_(&table), path_(std::move(path)), problems_(&problems) {}

const ConfigValue* TableReader::find(std::string_view key) const {
  const auto& entries = std::get<ConfigValue::Table>(table_->value);
  const auto found = std::ranges::find(entries, key, &ConfigValue::Entry::key);
  return found == entries.end() ? nullptr : &found->value;
}

const ConfigValue* TableReader::ask(std::string_view key) {
  known_.push_back(key);
  return find(key);
}

std::string TableReader::field(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void TableReader::refuse(std::string_view key, std::string message, std::string remedy) {
  const ConfigValue* value = find(key);
  const ConfigValue& at = value == nullptr ? *table_ : *value;
  problems_->refuse(at.line, at.column, field(key), std::move(message), std::move(remedy));
}

void TableReader::require(std::string_view key, std::string_view remedy) {
  if (!has(key)) refuse(key, "is missing", std::string(remedy));
}

void TableReader::wrong_kind(std::string_view key, const ConfigValue& value,
                             std::string_view wanted) {
  problems_->refuse(value.line, value.column, field(key),
                    fmt::format("must be {}, not {}", wanted, value.kind()), {});
}

std::string TableReader::checked_text(std::string_view key, const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) {
    wrong_kind(key, value, "a string");
    return {};
  }
  const bool has_control = std::ranges::any_of(
      *text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (text->empty() || has_control) {
    problems_->refuse(value.line, value.column, field(key),
                      text->empty() ? "is empty" : "contains a control character",
                      "use printable characters");
    return {};
  }
  return *text;
}

std::string TableReader::text(std::string_view key, std::string fallback) {
  const ConfigValue* value = ask(key);
  return value == nullptr ? std::move(fallback) : checked_text(key, *value);
}

int64_t TableReader::whole(std::string_view key, int64_t least, int64_t most, int64_t fallback) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return fallback;
  const auto* number = std::get_if<int64_t>(&value->value);
  if (number == nullptr) {
    wrong_kind(key, *value, "an integer");
    return fallback;
  }
  if (*number < least || *number > most) {
    refuse(key, fmt::format("{} is out of range", *number), fmt::format("{} to {}", least, most));
    return fallback;
  }
  return *number;
}

double TableReader::number(std::string_view key, double least, double most, double fallback) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return fallback;
  double number = 0;
  if (const auto* integer = std::get_if<int64_t>(&value->value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value->value)) {
    number = *real;
  } else {
    wrong_kind(key, *value, "a number");
    return fallback;
  }
  if (!(number >= least && number <= most)) {
    refuse(key, fmt::format("{} is out of range", number_text(number)),
           fmt::format("{} to {}", number_text(least), number_text(most)));
    return fallback;
  }
  return number;
}

template <typename T>
T TableReader::take(std::string_view key, Result<T> parsed, T fallback) {
  if (parsed) return *parsed;
  refuse(key, parsed.error().message, parsed.error().remedy);
  return fallback;
}

namespace {

/// The text of a quantity: the string itself, or a plain number in the base unit.
std::optional<std::string> quantity_text(const ConfigValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&value.value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value.value)) return number_text(*real);
  return std::nullopt;
}

}  // namespace

std::string TableReader::text_or_number(std::string_view key) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return {};
  if (auto text = quantity_text(*value)) return *text;
  wrong_kind(key, *value, "a string or a number");
  return {};
}

int64_t TableReader::bytes(std::string_view key, int64_t fallback) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return fallback;
  if (const auto text = quantity_text(*value)) return take(key, parse_bytes(*text), fallback);
  wrong_kind(key, *value, "a size such as \"16 GiB\"");
  return fallback;
}

TimeNs TableReader::duration(std::string_view key, TimeNs fallback) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return fallback;
  if (const auto text = quantity_text(*value)) return take(key, parse_duration(*text), fallback);
  wrong_kind(key, *value, "a duration such as \"72h\"");
  return fallback;
}

double TableReader::bandwidth(std::string_view key, double fallback) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return fallback;
  if (const auto text = quantity_text(*value)) return take(key, parse_bandwidth(*text), fallback);
  wrong_kind(key, *value, "a bandwidth such as \"12.5 GB/s\"");
  return fallback;
}

std::vector<std::string> TableReader::texts(std::string_view key) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return {};
  const auto* list = std::get_if<ConfigValue::Array>(&value->value);
  if (list == nullptr) return {checked_text(key, *value)};
  std::vector<std::string> out;
  for (const ConfigValue& item : *list) out.push_back(checked_text(key, item));
  return out;
}

std::vector<double> TableReader::numbers(std::string_view key, double least, double most) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return {};
  const auto* list = std::get_if<ConfigValue::Array>(&value->value);
  std::vector<double> out;
  for (const ConfigValue& item : list != nullptr ? *list : ConfigValue::Array{*value}) {
    const auto* whole = std::get_if<int64_t>(&item.value);
    const auto* real = std::get_if<double>(&item.value);
    if (whole == nullptr && real == nullptr) {
      wrong_kind(key, item, "an array of numbers such as [1, 2.5]");
      return {};
    }
    const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
    if (!(number >= least && number <= most)) {
      problems_->refuse(item.line, item.column, field(key),
                        fmt::format("{} is out of range", number),
                        fmt::format("use numbers from {} to {}", least, most));
      return {};
    }
    out.push_back(number);
  }
  return out;
}

std::optional<TableReader> TableReader::table(std::string_view key) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (!std::holds_alternative<ConfigValue::Table>(value->value)) {
    wrong_kind(key, *value, fmt::format("a table [{}]", key));
    return std::nullopt;
  }
  return TableReader(*value, field(key), *problems_);
}

std::vector<TableReader> TableReader::tables(std::string_view key) {
  const ConfigValue* value = ask(key);
  if (value == nullptr) return {};
  const auto* list = std::get_if<ConfigValue::Array>(&value->value);
  if (list == nullptr) {
    wrong_kind(key, *value, fmt::format("an array of tables [[{}]]", key));
    return {};
  }
  std::vector<TableReader> out;
  for (const ConfigValue& item : *list) {
    if (!std::holds_alternative<ConfigValue::Table>(item.value)) {
      wrong_kind(key, item, fmt::format("an array of tables [[{}]]", key));
      return {};
    }
    out.emplace_back(item, field(key), *problems_);
  }
  return out;
}

void TableReader::finish() {
  for (const auto& entry : std::get<ConfigValue::Table>(table_->value)) {
    if (std::ranges::find(known_, entry.key) != known_.end()) continue;
    const std::string_view meant = nearest_name(entry.key, known_);
    problems_->refuse(entry.key_line, entry.key_column, field(entry.key), "unknown key",
                      meant.empty() ? fmt::format("known keys: {}", fmt::join(known_, ", "))
                                    : fmt::format("did you mean {}?", meant));
    return;
  }
}

}  // namespace goban::base
