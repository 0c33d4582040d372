#include "base/command_line/help.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace goban::base::command_line {
namespace {

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// CLI11 puts what checks say behind the type: "INT:1 to 255".
std::string type_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  return text.substr(0, text.find(':'));
}
std::string checks_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const size_t mark = text.find(':');
  return mark == std::string::npos ? std::string{} : text.substr(mark + 1);
}

/// Whether the last parentheses of a description begin with its default.
bool ends_with_default(std::string_view help) {
  if (!help.ends_with(')')) return false;
  int depth = 0;
  for (size_t at = help.size(); at-- > 0;) {
    if (help[at] == ')') ++depth;
    if (help[at] == '(' && --depth == 0) return help.substr(at + 1).starts_with("default");
  }
  return false;
}

/// CLI11 prints lists as [a,b].
std::string default_of(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string words) : words_(std::move(words)) {
    label("SUBCOMMAND", "COMMAND");
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string text = Formatter::make_usage(app, std::move(name));
    if (!words_.empty()) text.insert(text.find_last_not_of('\n') + 1, " " + words_);
    return text;
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = Formatter::make_help(app, std::move(name), mode);
    replace_all(text, "\n\n\n", "\n\n");
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (!option->nonpositional()) return option->get_items_expected_max() > 1 ? " ..." : "";
    const std::string value = value_name(*option);
    return value.empty() ? "" : " " + value;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return option_help(*option);
  }

 private:
  std::string words_;
};

}  // namespace

std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  if (!option.nonpositional()) return option.get_name(true);
  std::string name = type_of(option);
  if (name == "INT" || name == "UINT") {
    name = "N";
  } else if (name == "FLOAT") {
    name = "NUMBER";
  } else if (name.empty() || name == "TEXT" || name == "ENUM") {
    name = option.get_lnames().empty() ? "VALUE" : uppered(option.get_lnames().front());
  }
  if (option.get_items_expected_max() > 1 && !name.ends_with("...")) {
    name += option.get_delimiter() == '\0' ? " ..." : fmt::format("{}...", option.get_delimiter());
  }
  return name;
}

std::string option_help(const CLI::Option& option) {
  const std::string& help = option.get_description();
  std::vector<std::string> remarks;
  const auto add = [&remarks](std::string_view what, const std::string& text) {
    if (!text.empty()) remarks.push_back(fmt::format("{}{}", what, text));
  };
  add("", checks_of(option));
  if (help.find("default") == std::string::npos) add("default ", default_of(option));
  if (option.get_required() && option.nonpositional()) add("", "required");
  add("requires ", names_of(option.get_needs()));
  add("not with ", names_of(option.get_excludes()));
  if (remarks.empty()) return help;
  std::string text = fmt::format("{}", fmt::join(remarks, "; "));
  if (help.empty()) return text;
  return ends_with_default(help) ? fmt::format("{}; {})", help.substr(0, help.size() - 1), text)
                                 : fmt::format("{} ({})", help, text);
}

std::shared_ptr<CLI::FormatterBase> help_formatter(const std::string& words) {
  return std::make_shared<HelpFormatter>(words);
}

}  // namespace goban::base::command_line
