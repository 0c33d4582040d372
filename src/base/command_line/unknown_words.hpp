// Words of a command line that no command knows.
#pragma once

#include <map>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}  // namespace CLI

namespace goban::base::command_line {

/// The first word that the last parse() did not recognize, as a message with the nearest known
/// name; empty if there is none. Words behind a command that takes them as they are do not count.
/// `elsewhere`: names of commands of other programs, and what they are called here.
[[nodiscard]] std::string unknown_word(const CLI::App& program,
                                       const std::map<std::string, std::string>& elsewhere = {});

/// "goban trace: a command is missing: inspect, convert or generate", if the last parse() ended at
/// a command that needs one below it; otherwise empty.
[[nodiscard]] std::string missing_command(const CLI::App& program);

}  // namespace goban::base::command_line
