// Man pages in roff.
#include <algorithm>
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/shell/command_tree.hpp"

namespace goban::cli {
namespace {

/// Escapes text so that roff prints it unchanged.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string full_name(const CommandNode& node) {
  std::string name = "goban";
  for (const std::string& word : node.path) name += " " + word;
  return name;
}

std::string first_sentence(const std::string& help) {
  std::string line = help;
  std::replace(line.begin(), line.end(), '\n', ' ');
  if (const size_t end = line.find(": "); end != std::string::npos) line.resize(end);
  if (line.ends_with('.')) line.pop_back();
  return line;
}

std::string synopsis(const CommandNode& node) {
  std::string out = "\\fB" + roff(full_name(node)) + "\\fR [\\fIOPTIONS\\fR]";
  for (const CommandOption& option : node.options) {
    if (option.names.empty()) out += fmt::format(" [\\fI{}\\fR]", roff(option.value));
  }
  if (!node.children.empty()) out += " \\fICOMMAND\\fR ...";
  if (full_name(node) == "goban submit") out += " [\\fISCRIPT\\fR [\\fIARGUMENTS\\fR...]]";
  if (full_name(node) == "goban run") out += " \\fICOMMAND\\fR [\\fIARGUMENTS\\fR...]";
  return out;
}

std::string option_text(const CommandOption& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  }
  if (!option.value.empty()) {
    names += fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", roff(option.value));
  }
  return fmt::format(".TP\n{}\n{}\n", names, roff(option.help));
}

std::string options_text(const CommandNode& node) {
  std::vector<std::string> groups;
  for (const CommandOption& option : node.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string out = node.options.empty() ? "" : ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (groups.size() > 1) out += fmt::format(".SS \"{}\"\n", roff(group));
    for (const CommandOption& option : node.options) {
      if (option.group == group) out += option_text(option);
    }
  }
  return out;
}

/// The footer as sections: notes, examples, exit codes.
std::string footer_text(const std::string& footer) {
  std::string notes = footer;
  std::string exits;
  if (const size_t at = notes.find("Exit codes:"); at != std::string::npos) {
    exits = notes.substr(at + std::string_view("Exit codes:").size());
    notes.resize(at);
  }
  std::string out;
  const size_t at = std::min(notes.find("Example"), notes.size());
  const auto is_blank = [](const std::string& text) {
    return text.find_first_not_of(" \n") == std::string::npos;
  };
  if (const std::string before = notes.substr(0, at); !is_blank(before)) {
    out += ".SH NOTES\n.nf\n" + roff(before) + (before.ends_with('\n') ? "" : "\n") + ".fi\n";
  }
  if (std::string examples = notes.substr(at); !is_blank(examples)) {
    examples.erase(0, std::min(examples.find('\n') + 1, examples.size()));
    out +=
        ".SH EXAMPLES\n.nf\n" + roff(examples) + (examples.ends_with('\n') ? "" : "\n") + ".fi\n";
  }
  if (!exits.empty()) {
    exits.erase(0, exits.find_first_not_of(' '));
    out += ".SH \"EXIT STATUS\"\n" + roff(exits) + "\n";
  }
  return out;
}

std::string see_also(const std::vector<CommandNode>& tree, const CommandNode& node) {
  std::string out;
  for (const CommandNode& other : tree) {
    const bool parent = !node.path.empty() && std::equal(other.path.begin(), other.path.end(),
                                                         node.path.begin(), node.path.end() - 1);
    const bool child = other.path.size() == node.path.size() + 1 &&
                       std::equal(node.path.begin(), node.path.end(), other.path.begin());
    if (!parent && !child) continue;
    out += fmt::format("{}.BR {} (1)", out.empty() ? "" : ",\n", roff(man_name(other)));
  }
  return out.empty() ? "" : ".SH \"SEE ALSO\"\n" + out + "\n";
}

}  // namespace

std::string man_name(const CommandNode& node) {
  std::string name = "goban";
  for (const std::string& word : node.path) name += "-" + word;
  return name;
}

std::string man_page(const std::vector<CommandNode>& tree, const CommandNode& node,
                     const std::string& version) {
  const std::string title = base::uppered(man_name(node));
  return fmt::format(
      ".TH \"{}\" 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n"
      ".SH DESCRIPTION\n{}\n{}{}{}",
      roff(title), roff(version), roff(man_name(node)), roff(first_sentence(node.help)),
      synopsis(node), roff(node.help), options_text(node), footer_text(node.footer),
      see_also(tree, node));
}

}  // namespace goban::cli
