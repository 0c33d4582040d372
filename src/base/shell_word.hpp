// Words of a command line that a POSIX shell reads.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// The text as one word, always in single quotes: "it's" as 'it'\''s'.
[[nodiscard]] std::string shell_quoted(std::string_view text);
/// The same, without quotes where none of its characters means anything to a shell.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace goban::base
