// How an option is described in the help and in man pages: the name of its value, and its meaning
// with range, default and conditions in words.
#pragma once

#include <memory>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class FormatterBase;
class Option;
}  // namespace CLI

namespace goban::base::command_line {

/// The placeholder of an option's value, such as FILE or N; empty for a flag. An option without a
/// name of its own for it has N, NUMBER, or its long name in capitals.
[[nodiscard]] std::string value_name(const CLI::Option& option);

/// The description of an option, followed by its range, its default unless the description states
/// one, whether it is required, and the options that it requires or excludes.
[[nodiscard]] std::string option_help(const CLI::Option& option);

/// Prints the help of commands.
/// `words`: what follows the options in the line "Usage".
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter(const std::string& words = {});

}  // namespace goban::base::command_line
