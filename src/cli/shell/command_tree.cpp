#include "cli/shell/command_tree.hpp"

#include <CLI/CLI.hpp>

#include "base/command_line/help.hpp"

namespace goban::cli {
namespace {

CommandOption option_of(const CLI::Option& option) {
  CommandOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.group = option.get_group();
  out.help = base::command_line::option_help(option);
  out.value = base::command_line::value_name(option);
  return out;
}

void add_node(const CLI::App& app, std::vector<std::string> path, std::vector<CommandNode>& out) {
  CommandNode node{.path = path,
                   .help = app.get_description(),
                   .footer = app.get_footer(),
                   .options = {},
                   .children = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) node.options.push_back(option_of(*option));
  }
  const auto children =
      app.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
  for (const CLI::App* child : children) node.children.push_back(child->get_name());
  out.push_back(std::move(node));
  for (const CLI::App* child : children) {
    path.push_back(child->get_name());
    add_node(*child, path, out);
    path.pop_back();
  }
}

}  // namespace

std::vector<CommandNode> command_tree(const Command& program) {
  std::vector<CommandNode> out;
  add_node(program.inside(), {}, out);
  return out;
}

}  // namespace goban::cli
