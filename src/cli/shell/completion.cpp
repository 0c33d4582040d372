// Completion scripts: one case per command, generated from the commands' options.
#include <algorithm>
#include <fmt/ranges.h>

#include "base/shell_word.hpp"
#include "cli/shell/command_tree.hpp"

namespace goban::cli {
namespace {

/// The path of a command as the scripts build it: " trace generate".
std::string spaced(const CommandNode& node) {
  std::string out;
  for (const std::string& word : node.path) out += " " + word;
  return out;
}

std::string option_names(const CommandNode& node) {
  std::vector<std::string> names;
  for (const CommandOption& option : node.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

bool takes_jobs(const CommandNode& node) {
  constexpr std::string_view kNames[] = {"show",  "cancel",  "hold",   "release", "requeue",
                                         "alter", "suspend", "resume", "logs",    "wait"};
  return node.path.size() == 1 &&
         std::find(std::begin(kNames), std::end(kNames), node.path[0]) != std::end(kNames);
}

/// The command that lists the job numbers, for any shell.
constexpr const char* kListJobs =
    R"sed(goban queue --json 2>/dev/null | sed -n 's/.*"id": "\([0-9_]*\)".*/\1/p')sed";

/// One line in single quotes, for a shell.
std::string quoted_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return base::shell_quoted(text);
}

/// For zsh's _describe, where a colon ends the word.
std::string described(const std::string& word, const std::string& help) {
  std::string escaped;
  for (const char c : word) {
    if (c == ':') escaped += '\\';
    escaped += c;
  }
  return quoted_line(escaped + ":" + help);
}

std::string paths_case(const std::vector<CommandNode>& tree) {
  std::string paths;
  for (const CommandNode& node : tree) {
    if (!node.path.empty())
      paths += fmt::format("{}\"{}\"", paths.empty() ? "" : "|", spaced(node));
  }
  return paths;
}

const CommandNode* find(const std::vector<CommandNode>& tree,
                        const std::vector<std::string>& path) {
  const auto found = std::find_if(tree.begin(), tree.end(),
                                  [&](const CommandNode& node) { return node.path == path; });
  return found == tree.end() ? nullptr : &*found;
}

}  // namespace

std::string bash_completion(const std::vector<CommandNode>& tree) {
  std::string out =
      "# bash completion of goban: eval \"$(goban completion bash)\"\n"
      "_goban() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} command= commands= options= jobs= i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$command ${COMP_WORDS[i]}\" in\n";
  out += fmt::format("      {}) command+=\" ${{COMP_WORDS[i]}}\" ;;\n", paths_case(tree));
  out +=
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n";
  for (const CommandNode& node : tree) {
    out += fmt::format("    \"{}\") commands={} options={}{} ;;\n", spaced(node),
                       quoted_line(fmt::format("{}", fmt::join(node.children, " "))),
                       quoted_line(option_names(node)), takes_jobs(node) ? " jobs=1" : "");
  }
  out += fmt::format(
      "  esac\n"
      "  if [[ $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
      "  elif [[ $jobs ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$({})\" -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o default -F _goban goban\n",
      kListJobs);
  return out;
}

std::string zsh_completion(const std::vector<CommandNode>& tree) {
  std::string out =
      "#compdef goban\n"
      "# zsh completion of goban: goban completion zsh > ~/.zfunc/_goban\n"
      "_goban() {\n"
      "  local command= jobs= i\n"
      "  local -a commands options\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    case \"$command ${words[i]}\" in\n";
  out += fmt::format("      {}) command+=\" ${{words[i]}}\" ;;\n", paths_case(tree));
  out +=
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n";
  for (const CommandNode& node : tree) {
    out += fmt::format("    \"{}\")\n", spaced(node));
    std::string commands;
    for (const std::string& child : node.children) {
      auto path = node.path;
      path.push_back(child);
      const CommandNode* below = find(tree, path);
      commands += " " + described(child, below == nullptr ? "" : below->help);
    }
    std::string options;
    for (const CommandOption& option : node.options) {
      for (const std::string& name : option.names) options += " " + described(name, option.help);
    }
    out += fmt::format("      commands=({})\n      options=({})\n", commands, options);
    out += takes_jobs(node) ? "      jobs=1 ;;\n" : "      ;;\n";
  }
  out += fmt::format(
      "  esac\n"
      "  if [[ ${{words[CURRENT]}} == -* ]]; then\n"
      "    _describe -o option options\n"
      "  elif [[ -n $jobs ]]; then\n"
      "    compadd -- $({})\n"
      "  elif (( $#commands )); then\n"
      "    _describe command commands\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}}\n"
      "compdef _goban goban\n",
      kListJobs);
  return out;
}

std::string fish_completion(const std::vector<CommandNode>& tree) {
  std::string out =
      "# fish completion of goban: goban completion fish > ~/.config/fish/completions/goban.fish\n";
  for (const CommandNode& node : tree) {
    std::string condition = "__fish_use_subcommand";
    for (const std::string& word : node.path) {
      condition = condition == "__fish_use_subcommand"
                      ? fmt::format("__fish_seen_subcommand_from {}", word)
                      : fmt::format("{}; and __fish_seen_subcommand_from {}", condition, word);
    }
    for (const std::string& child : node.children) {
      auto path = node.path;
      path.push_back(child);
      const CommandNode* below = find(tree, path);
      out += fmt::format("complete -c goban -n {} -f -a {} -d {}\n", quoted_line(condition), child,
                         quoted_line(below == nullptr ? "" : below->help));
    }
    for (const CommandOption& option : node.options) {
      if (option.names.empty()) continue;
      std::string words;
      for (const std::string& name : option.names) {
        words += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      out += fmt::format("complete -c goban -n {}{}{} -d {}\n", quoted_line(condition), words,
                         option.value.empty() ? "" : " -r", quoted_line(option.help));
    }
    if (takes_jobs(node)) {
      out += fmt::format("complete -c goban -n {} -f -a {}\n", quoted_line(condition),
                         quoted_line(fmt::format("({})", kListJobs)));
    }
  }
  return out;
}

}  // namespace goban::cli
