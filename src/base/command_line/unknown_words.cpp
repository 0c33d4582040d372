#include "base/command_line/unknown_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace goban::base::command_line {
namespace {

/// The commands directly below one; a group of options stands for its own.
std::vector<const CLI::App*> visible_below(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* below) {
    return !below->get_name().empty() && !below->get_group().empty();
  });
}

std::vector<const CLI::App*> option_groups(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* below) { return below->get_name().empty(); });
}

void add_option_names(const CLI::App& command, std::vector<std::string>& out) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  for (const CLI::App* group : option_groups(command)) add_option_names(*group, out);
}

std::string full_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : fmt::format("{} {}", full_name(*parent), command.get_name());
}

/// The command that was given below this one; null if there is none.
const CLI::App* given_below(const CLI::App& command) {
  const CLI::App* given = nullptr;
  for (const CLI::App* below : command.get_subcommands()) {
    if (!below->get_name().empty()) given = below;
  }
  return given;
}

/// The command of this name anywhere below.
const CLI::App* find_below(const CLI::App& command, std::string_view name) {
  for (const CLI::App* below : visible_below(command)) {
    if (below->get_name() == name) return below;
    if (const CLI::App* deeper = find_below(*below, name)) return deeper;
  }
  return nullptr;
}

/// The name that was meant: the only one that begins with the word, or the one with fewest edits.
std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  constexpr size_t kBeginning = 3;
  const auto begun = [&word](const std::string& name) { return name.starts_with(word); };
  if (word.size() >= kBeginning && std::ranges::count_if(known, begun) == 1) {
    return *std::ranges::find_if(known, begun);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  return std::string(nearest_name(word, names));
}

std::string unknown_command(const CLI::App& program, const CLI::App& command,
                            const std::string& word,
                            const std::map<std::string, std::string>& elsewhere) {
  std::vector<std::string> known;
  for (const CLI::App* below : visible_below(command)) known.push_back(below->get_name());
  const CLI::App* const deeper = find_below(program, word);
  const auto synonym = elsewhere.find(word);
  const std::string meant = deeper != nullptr            ? full_name(*deeper)
                            : synonym != elsewhere.end() ? synonym->second
                                                         : nearest(word, known);
  return meant.empty() ? fmt::format("unknown command {} ({} --help lists the commands)", word,
                                     full_name(command))
                       : fmt::format("unknown command {} (did you mean {}?)", word, meant);
}

std::string unknown_option(const CLI::App& command, const std::string& word) {
  // What follows "=" may be secret.
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  add_option_names(command, known);
  const std::string meant = nearest(name, known);
  return meant.empty() ? fmt::format("unknown option {}", name)
                       : fmt::format("unknown option {} (did you mean {}?)", name, meant);
}

}  // namespace

std::string unknown_word(const CLI::App& program,
                         const std::map<std::string, std::string>& elsewhere) {
  const CLI::App* command = &program;
  for (;;) {
    if (command->get_prefix_command()) return {};
    std::vector<std::string> words = command->remaining();
    std::erase(words, "--");
    if (!words.empty()) {
      const std::string& word = words.front();
      if (word.size() > 1 && word.starts_with('-')) return unknown_option(*command, word);
      if (!visible_below(*command).empty()) {
        return unknown_command(program, *command, word, elsewhere);
      }
      return fmt::format("unexpected argument {}", word);
    }
    command = given_below(*command);
    if (command == nullptr) return {};
  }
}

std::string missing_command(const CLI::App& program) {
  const CLI::App* command = &program;
  while (const CLI::App* next = given_below(*command)) command = next;
  std::vector<std::string> names;
  for (const CLI::App* below : visible_below(*command)) names.push_back(below->get_name());
  if (names.empty() || command->get_require_subcommand_min() == 0) return {};
  return fmt::format("{}: a command is missing: {}", full_name(*command), alternatives(names));
}

}  // namespace goban::base::command_line
