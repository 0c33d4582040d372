// The commands and options of a CLI11 program as plain values: for completion and man pages.
#pragma once

#include <string>
#include <vector>

#include "cli/shell/options.hpp"

namespace goban::cli {

struct CommandOption {
  std::vector<std::string> names{};  ///< with dashes; empty: a positional argument
  std::string value{};               ///< placeholder of its value; empty: a flag
  std::string group{};
  std::string help{};
};

struct CommandNode {
  std::vector<std::string> path{};  ///< without the program: {"trace", "generate"}
  std::string help{};
  std::string footer{};
  std::vector<CommandOption> options{};
  std::vector<std::string> children{};
};

/// The program and all its commands, each before its subcommands.
[[nodiscard]] std::vector<CommandNode> command_tree(const Command& program);

/// Completion scripts, for `eval` or for the shell's completion folder.
[[nodiscard]] std::string bash_completion(const std::vector<CommandNode>& tree);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandNode>& tree);
[[nodiscard]] std::string fish_completion(const std::vector<CommandNode>& tree);

/// "goban", "goban-trace-generate".
[[nodiscard]] std::string man_name(const CommandNode& node);
/// The page in roff (man macros), section 1.
[[nodiscard]] std::string man_page(const std::vector<CommandNode>& tree, const CommandNode& node,
                                   const std::string& version);

}  // namespace goban::cli
