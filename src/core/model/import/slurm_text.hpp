// Lines of Key=Value words: the output of scontrol and Slurm's configuration files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::core::model {

/// One record: the words from one `first_key=` to the next. A value extends to the next word with a
/// key, so "OS=Linux 5.10 x86_64" is one field. `#` at the start of a line begins a comment.
struct SlurmRecord {
  struct Field {
    std::string key;
    std::string value;
    int line = 0;
  };
  std::vector<Field> fields;
  base::Place place;

  /// The field of this name, ignoring case, or null.
  [[nodiscard]] const Field* find(std::string_view key) const;
  [[nodiscard]] std::string_view value(std::string_view key) const;
  /// An integer; 0 if absent. Errors: BadData with line and key.
  [[nodiscard]] base::Result<int64_t> whole(std::string_view key) const;
};

/// Splits a text into records that begin with one of `first_keys`. Errors: BadData if the text
/// begins with anything else.
[[nodiscard]] base::Result<std::vector<SlurmRecord>> parse_slurm_records(
    std::string_view text, const std::string& file,
    const std::vector<std::string_view>& first_keys);

/// Equal, ignoring case.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

}  // namespace goban::core::model
