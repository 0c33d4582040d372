// Words of the records that scontrol prints: "Key=value Other=cpu=1,gres/gpu=2". Administrators
// write them, not users.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

#include "base/number.hpp"
#include "base/text.hpp"

namespace goban::live::engine::slurm {

/// The text up to `separator`, which is removed with it.
inline std::string_view cut(std::string_view& text, std::string_view separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + separator.size(), text.size()));
  return part;
}

/// The value of a word `key=...` in a line; empty if it has none.
inline std::string_view field(std::string_view line, std::string_view key) {
  const std::string word = fmt::format("{}=", key);
  for (size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    if (at > 0 && line[at - 1] != ' ' && line[at - 1] != '{') continue;
    const std::string_view rest = line.substr(at + word.size());
    return rest.substr(0, rest.find_first_of(" }"));
  }
  return {};
}

/// The value of "Name = value" in what scontrol show config printed; empty if it is not there.
inline std::string_view setting_of(std::string_view config, std::string_view name) {
  while (!config.empty()) {
    std::string_view line = cut(config, "\n");
    if (base::trimmed(cut(line, "=")) == name) return base::trimmed(line);
  }
  return {};
}

/// "nobody(65534)" -> nobody, 65534. Without a number, -1.
inline std::pair<std::string, int64_t> name_and_number(std::string_view text) {
  const size_t open = text.rfind('(');
  if (open == text.npos) return {std::string(text), -1};
  std::string_view number = text.substr(open + 1);
  return {std::string(text.substr(0, open)), base::parse_int(cut(number, ")")).value_or(-1)};
}

}  // namespace goban::live::engine::slurm
