// Lines of Key=Value words, as scontrol prints them and as Slurm's configuration files hold them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::core::model {

/// One record: the words from one `first_key=` to the next. Values run to the next word that has a
/// key, so "OS=Linux 5.10 x86_64" is one value. `#` begins a comment at the start of a line.
struct SlurmRecord {
  struct Field {
    std::string key;
    std::string value;
    int line = 0;
  };
  std::vector<Field> fields;
  base::Place place;

  /// The field of that name in any case, or null.
  [[nodiscard]] const Field* find(std::string_view key) const;
  [[nodiscard]] std::string_view value(std::string_view key) const;
  /// A whole number, 0 if absent. Errors: BadData with line and key.
  [[nodiscard]] base::Result<int64_t> whole(std::string_view key) const;
};

/// Splits a text into records that begin with one of `first_keys`. Errors: BadData if it begins
/// with anything else.
[[nodiscard]] base::Result<std::vector<SlurmRecord>> parse_slurm_records(
    std::string_view text, const std::string& file,
    const std::vector<std::string_view>& first_keys);

/// Equal in any case.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

}  // namespace goban::core::model
