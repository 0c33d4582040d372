#include "core/model/import/slurm_text.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"

namespace goban::core::model {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Length of the key if the word is Key=..., else 0.
size_t key_length(std::string_view word) {
  size_t length = 0;
  while (length < word.size() &&
         ((base::lowered(word[length]) >= 'a' && base::lowered(word[length]) <= 'z') ||
          word[length] == '_')) {
    ++length;
  }
  return length < word.size() && word[length] == '=' ? length : 0;
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return base::lowered(a) == base::lowered(b);
}

const SlurmRecord::Field* SlurmRecord::find(std::string_view key) const {
  const auto found =
      std::ranges::find_if(fields, [&](const Field& field) { return same_word(field.key, key); });
  return found == fields.end() ? nullptr : &*found;
}

std::string_view SlurmRecord::value(std::string_view key) const {
  const Field* field = find(key);
  return field == nullptr ? std::string_view{} : std::string_view(field->value);
}

base::Result<int64_t> SlurmRecord::whole(std::string_view key) const {
  const Field* field = find(key);
  if (field == nullptr || field->value == "N/A") return 0;
  const auto number = base::parse_int(field->value);
  constexpr int64_t kMost = int64_t{1} << 40;
  if (!number || *number < 0 || *number > kMost) {
    return base::bad_data({place.file, field->line, 0, field->key},
                          fmt::format("\"{}\" must be an integer", field->value.substr(0, 80)),
                          "pass the output of scontrol unmodified");
  }
  return *number;
}

base::Result<std::vector<SlurmRecord>> parse_slurm_records(
    std::string_view text, const std::string& file,
    const std::vector<std::string_view>& first_keys) {
  std::vector<SlurmRecord> records;
  int line = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view rest = text.substr(begin, end - begin);
    begin = end + 1;
    ++line;
    bool first_word = true;
    while (!rest.empty()) {
      while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
      if (rest.empty() || (first_word && rest.front() == '#')) break;
      first_word = false;
      size_t length = 0;
      while (length < rest.size() && !is_space(rest[length])) ++length;
      const std::string_view word = rest.substr(0, length);
      rest.remove_prefix(length);
      const size_t key = key_length(word);
      const bool starts = key > 0 && std::ranges::any_of(first_keys, [&](std::string_view first) {
                            return same_word(word.substr(0, key), first);
                          });
      if (starts) records.push_back({.fields = {}, .place = {file, line, 0, ""}});
      if (records.empty()) {
        return base::bad_data({file, line, 0, ""},
                              fmt::format("\"{}\" is unexpected", word.substr(0, 80)),
                              fmt::format("records begin with {}=", first_keys.front()));
      }
      std::vector<SlurmRecord::Field>& fields = records.back().fields;
      if (key > 0) {
        fields.push_back(
            {std::string(word.substr(0, key)), std::string(word.substr(key + 1)), line});
      } else {
        fields.back().value += ' ';
        fields.back().value += word;
      }
    }
  }
  return records;
}

}  // namespace goban::core::model
