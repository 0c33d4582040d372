#include "live/engine/local/login_shell.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/shell_word.hpp"
#include "live/engine/local/job_start.hpp"

namespace goban::live::engine::local {
namespace {

/// Shells that read `case ... esac` and have login files.
bool is_shell(std::string_view path) {
  constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "dash", "ksh", "zsh"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::ranges::find(kShells, name) != kShells.end();
}

/// "-l", "--login", or letters such as "-el".
bool is_login_word(std::string_view word) {
  if (word == "--login") return true;
  return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.find('l') != word.npos;
}

bool starts_login_shell(const ScriptCommand& command) {
  bool shell = is_shell(command.interpreter);
  bool login = false;
  std::string_view rest = command.argument;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // As in "/usr/bin/env -S bash -l".
    if (!shell) {
      shell = is_shell(word);
    } else {
      login = login || is_login_word(word);
    }
  }
  return shell && login;
}

}  // namespace

std::string with_shims(std::string_view script, const std::string& folder) {
  const bool is_usable = folder.starts_with('/') && folder.find('\n') == folder.npos;
  if (!is_usable || !starts_login_shell(script_command(script))) return std::string(script);
  const std::string word = base::shell_quoted(folder);
  const std::string_view rest = script.substr(std::min(script.find('\n'), script.size()));
  return fmt::format("case \":$PATH:\" in :{0}:*) ;; *) export PATH={0}:\"$PATH\" ;; esac{1}", word,
                     rest);
}

}  // namespace goban::live::engine::local
