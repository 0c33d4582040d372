#include "cli/shell/command_tree.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace goban::cli {
namespace {

CommandOption option_of(const CLI::Option& option) {
  CommandOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.group = option.get_group();
  out.help = option.get_description();
  if (option.get_items_expected_max() == 0) return out;
  out.value = out.names.empty() ? option.get_name(true) : option.get_type_name();
  if (out.value.empty()) out.value = "TEXT";
  // Ranges and lists of choices are not part of the placeholder.
  if (const size_t mark = out.value.find_first_of(":{"); mark != std::string::npos && mark > 0) {
    out.value.resize(mark);
  }
  while (!out.value.empty() && out.value.back() == ' ') out.value.pop_back();
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
