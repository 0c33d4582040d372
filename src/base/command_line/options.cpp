#include "base/command_line/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

namespace goban::base::command_line {

Option* Option::required() {
  option_.required();
  return this;
}
Option* Option::capture_default_str() {
  option_.capture_default_str();
  return this;
}
Option* Option::type_name(const std::string& name) {
  option_.type_name(name);
  return this;
}
Option* Option::group(const std::string& name) {
  option_.group(name);
  return this;
}
Option* Option::delimiter(char separator) {
  option_.delimiter(separator);
  return this;
}
Option* Option::one_word() {
  option_.allow_extra_args(false);
  return this;
}
Option* Option::expected(int least, int most) {
  option_.expected(least, most);
  return this;
}
Option* Option::excludes(const Option* other) {
  option_.excludes(&other->option_);
  return this;
}
Option* Option::needs(const Option* other) {
  option_.needs(&other->option_);
  return this;
}
Option* Option::range(int least, int most) {
  option_.check(CLI::Range(least, most));
  return this;
}
Option* Option::range(int64_t least, int64_t most) {
  option_.check(CLI::Range(least, most));
  return this;
}
Option* Option::range(double least, double most) {
  option_.check(CLI::Range(least, most));
  return this;
}
Option* Option::positive() {
  option_.check(CLI::PositiveNumber);
  return this;
}
Option* Option::one_of(const std::vector<std::string>& values) {
  option_.check(CLI::IsMember(values));
  return this;
}
Option* Option::check(std::function<std::string(const std::string&)> problem_of,
                      const std::string& name) {
  option_.check(std::move(problem_of), name);
  return this;
}
size_t Option::count() const { return option_.count(); }
std::string Option::name() const { return option_.get_name(); }

Command::Command(const std::string& help)
    : owned_(std::make_unique<CLI::App>(help)), app_(owned_.get()) {}
Command::Command(CLI::App& app) : app_(&app) {}
Command::~Command() = default;

Option* Command::keep(CLI::Option* option) { return &options_.emplace_back(*option); }

Command* Command::add_subcommand(const std::string& name, const std::string& help) {
  commands_.push_back(std::unique_ptr<Command>(new Command(*app_->add_subcommand(name, help))));
  return commands_.back().get();
}

Command* Command::find_subcommand(std::string_view name) const {
  const auto found = std::ranges::find_if(
      commands_, [name](const auto& command) { return command->app_->get_name() == name; });
  return found == commands_.end() ? nullptr : found->get();
}

template <typename T>
Option* Command::add_option(const std::string& names, T& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}

Option* Command::add_option_function(const std::string& names,
                                     std::function<void(const std::vector<std::string>&)> take,
                                     const std::string& help) {
  return keep(app_->add_option(
      names,
      [take = std::move(take)](const CLI::results_t& values) {
        take(values);
        return true;
      },
      help));
}

Option* Command::add_choice_by_index(const std::string& names,
                                     const std::vector<std::string>& words,
                                     std::function<void(size_t)> take, const std::string& help) {
  CLI::Option* option = app_->add_option(
      names,
      [take = std::move(take), words](const CLI::results_t& values) {
        const auto found = std::ranges::find(words, values.front());
        if (found == words.end()) return false;
        take(static_cast<size_t>(found - words.begin()));
        return true;
      },
      help);
  option->transform(CLI::IsMember(words, CLI::ignore_case));
  return keep(option);
}

Option* Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return keep(app_->add_flag(names, value, help));
}
Option* Command::add_flag(const std::string& names, const std::string& help) {
  return keep(app_->add_flag(names, help));
}
Option* Command::add_flag_callback(const std::string& names, std::function<void()> call,
                                   const std::string& help) {
  return keep(app_->add_flag_callback(names, std::move(call), help));
}
void Command::set_version_flag(const std::string& names, const std::string& version) {
  app_->set_version_flag(names, version);
}

Command* Command::callback(std::function<void()> call) {
  app_->callback(std::move(call));
  return this;
}
Command* Command::footer(const std::string& text) {
  app_->footer(text);
  return this;
}
Command* Command::name(const std::string& name) {
  app_->name(name);
  return this;
}
Command* Command::group(const std::string& name) {
  app_->group(name);
  return this;
}
Command* Command::require_subcommand(int least, int most) {
  app_->require_subcommand(static_cast<size_t>(least), static_cast<size_t>(most));
  return this;
}
Command* Command::add_group_of_one(const std::string& name) {
  CLI::App* group = app_->add_option_group(name);
  group->require_option(0, 1);
  commands_.push_back(std::unique_ptr<Command>(new Command(*group)));
  return commands_.back().get();
}
Command* Command::prefix_command() {
  app_->prefix_command();
  return this;
}
std::vector<std::string> Command::remaining() const { return app_->remaining(); }
std::string Command::version() const { return app_->version(); }
bool Command::has_subcommand() const { return !app_->get_subcommands().empty(); }
size_t Command::count(const std::string& option) const { return app_->count(option); }

std::vector<std::pair<std::string, std::string>> Command::given() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const CLI::Option* option : static_cast<const CLI::App*>(app_)->get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    for (const std::string& value : option->results()) {
      out.emplace_back(option->get_lnames().front(), value);
    }
  }
  return out;
}

int Command::parse(int argc, const char* const* argv) {
  constexpr int kUsage = 2;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app_->exit(success);
  } catch (const CLI::ParseError& error) {
    app_->exit(error);
    return kUsage;
  }
  return -1;
}

std::string Command::parse_words(std::vector<std::string> words) {
  std::ranges::reverse(words);  // CLI11 takes them from the end
  try {
    app_->parse(std::move(words));
  } catch (const CLI::ParseError& problem) {
    return problem.what();
  }
  return {};
}

void refuse_missing(const std::string& option) { throw CLI::RequiredError(option); }
void refuse_value(const std::string& option, const std::string& message) {
  throw CLI::ValidationError(option, message);
}

// The types of option values.
#define GOBAN_OPTION_TYPE(...) \
  template Option* Command::add_option(const std::string&, __VA_ARGS__&, const std::string&)
GOBAN_OPTION_TYPE(std::string);
GOBAN_OPTION_TYPE(int32_t);
GOBAN_OPTION_TYPE(int64_t);
GOBAN_OPTION_TYPE(uint32_t);
GOBAN_OPTION_TYPE(uint64_t);
GOBAN_OPTION_TYPE(double);
GOBAN_OPTION_TYPE(std::optional<std::string>);
GOBAN_OPTION_TYPE(std::optional<int32_t>);
GOBAN_OPTION_TYPE(std::optional<int64_t>);
GOBAN_OPTION_TYPE(std::optional<uint32_t>);
GOBAN_OPTION_TYPE(std::optional<double>);
GOBAN_OPTION_TYPE(std::vector<std::string>);
GOBAN_OPTION_TYPE(std::vector<int32_t>);
GOBAN_OPTION_TYPE(std::vector<int64_t>);
GOBAN_OPTION_TYPE(std::vector<double>);
#undef GOBAN_OPTION_TYPE

}  // namespace goban::base::command_line
