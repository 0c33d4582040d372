#include "base/command_line/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <type_traits>

#include "base/command_line/help.hpp"
#include "base/command_line/unknown_words.hpp"
#include "base/text.hpp"

namespace goban::base::command_line {
namespace {

/// What the help adds about the values that may be given: nothing if it names them all.
std::string remark_on(const std::vector<std::string>& values, const std::string& help) {
  const bool names_all = std::ranges::all_of(
      values, [&help](const std::string& value) { return help.find(value) != std::string::npos; });
  return names_all ? std::string{} : alternatives(values);
}

/// Positional arguments are in capitals, as their placeholders are.
std::string with_capital_positional(const std::string& names) {
  return names.starts_with('-') ? names : uppered(names);
}

template <typename T>
struct ValueOf {
  using Type = T;
};
template <typename T>
struct ValueOf<std::optional<T>> : ValueOf<T> {};
template <typename T>
struct ValueOf<std::vector<T>> : ValueOf<T> {};

/// What a value must be, as in "is not ...".
template <typename Number>
constexpr const char* kind_of() {
  if (std::is_floating_point_v<Number>) return "a number";
  return std::is_unsigned_v<Number> ? "an integer of at least 0" : "an integer";
}

/// The problem with a value that is read as a number and must satisfy `fits`.
template <typename Number>
auto number_check(std::function<bool(Number)> fits, std::string range) {
  return [fits = std::move(fits), range = std::move(range)](const std::string& text) {
    Number value{};
    // The library takes -1 for the largest unsigned number.
    const bool is_negative = text.starts_with('-') && std::is_unsigned_v<Number>;
    const bool is_number = !is_negative && CLI::detail::lexical_cast(text, value);
    if (is_number && fits(value)) return std::string{};
    return fmt::format("'{}' is not {}{}", text, kind_of<Number>(), range);
  };
}

template <typename Number>
void check_range(CLI::Option& option, Number least, Number most) {
  option.check(number_check<Number>([=](Number value) { return value >= least && value <= most; },
                                    fmt::format(" from {} to {}", least, most)),
               fmt::format("{} to {}", least, most));
}

}  // namespace

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
  check_range(option_, least, most);
  return this;
}
Option* Option::range(int64_t least, int64_t most) {
  check_range(option_, least, most);
  return this;
}
Option* Option::range(double least, double most) {
  check_range(option_, least, most);
  return this;
}
Option* Option::positive() {
  option_.check(number_check<double>([](double value) { return value > 0; }, " above 0"),
                "above 0");
  return this;
}
Option* Option::one_of(const std::vector<std::string>& values) {
  option_.check(CLI::IsMember(values).description(remark_on(values, option_.get_description())));
  return this;
}
Option* Option::check(std::function<std::string(const std::string&)> problem_of,
                      const std::string& remark) {
  option_.check(std::move(problem_of), remark);
  return this;
}
size_t Option::count() const { return option_.count(); }
std::string Option::name() const { return option_.get_name(); }

Command::Command(const std::string& help)
    : owned_(std::make_unique<CLI::App>(help)), app_(owned_.get()) {
  app_->formatter(help_formatter());
}
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
  CLI::Option* option = app_->add_option(with_capital_positional(names), value, help);
  using Value = typename ValueOf<T>::Type;
  if constexpr (std::is_arithmetic_v<Value>) {
    option->check(number_check<Value>([](Value) { return true; }, {}), "");
  }
  return keep(option);
}

Option* Command::add_option_function(const std::string& names,
                                     std::function<void(const std::vector<std::string>&)> take,
                                     const std::string& help) {
  return keep(app_->add_option(
      with_capital_positional(names),
      [take = std::move(take)](const CLI::results_t& values) {
        take(values);
        return true;
      },
      help));
}

Option* Command::add_choice_by_index(const std::string& names,
                                     const std::vector<std::string>& words,
                                     const std::string& initial, std::function<void(size_t)> take,
                                     const std::string& help) {
  CLI::Option* option = app_->add_option(
      names,
      [take = std::move(take), words](const CLI::results_t& values) {
        const auto found = std::ranges::find(words, values.front());
        if (found == words.end()) return false;
        take(static_cast<size_t>(found - words.begin()));
        return true;
      },
      help);
  option->transform(CLI::IsMember(words, CLI::ignore_case).description(remark_on(words, help)));
  if (app_->option_defaults()->get_always_capture_default()) option->default_str(initial);
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
void Command::show_defaults() { app_->option_defaults()->always_capture_default(); }
void Command::set_version_flag(const std::string& names, const std::string& version) {
  app_->set_version_flag(names, version);
}

void Command::suggest(std::map<std::string, std::string> elsewhere) {
  elsewhere_ = std::move(elsewhere);
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
Command* Command::prefix_command(const std::string& words) {
  app_->prefix_command();
  app_->formatter(help_formatter(words));
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

namespace {

/// The problem in words of ours where those of the library are none of a user's.
std::string text_of(const CLI::ParseError& error) {
  constexpr std::string_view kTooMany = ": At Most 1 required but received ";
  std::string text = error.what();
  const size_t at = text.find(kTooMany);
  if (at == std::string::npos) return text;
  return fmt::format("{} is given {} times; give it once", text.substr(0, at),
                     text.substr(at + kTooMany.size()));
}

}  // namespace

int Command::parse(int argc, const char* const* argv) {
  constexpr int kUsage = 2;
  const auto refuse_unknown = [this] {  // or a command without the one that it needs below
    std::string problem = unknown_word(*app_, elsewhere_);
    if (problem.empty()) problem = missing_command(*app_);
    if (!problem.empty()) app_->exit(CLI::ParseError(problem, CLI::ExitCodes::ExtrasError));
    return !problem.empty();
  };
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& success) {
    const std::string unknown = unknown_word(*app_, elsewhere_);
    if (unknown.empty()) return app_->exit(success);
    app_->exit(CLI::ParseError(unknown, CLI::ExitCodes::ExtrasError));
    return kUsage;
  } catch (const CLI::ParseError& error) {
    // A mistyped word is often the reason for what else is missing.
    if (refuse_unknown()) return kUsage;
    const std::string text = text_of(error);
    if (text == error.what()) {
      app_->exit(error);
    } else {
      app_->exit(CLI::ParseError(text, CLI::ExitCodes::ArgumentMismatch));
    }
    return kUsage;
  }
  return -1;
}

std::string Command::parse_words(std::vector<std::string> words) {
  std::ranges::reverse(words);  // CLI11 takes them from the end
  try {
    app_->parse(std::move(words));
  } catch (const CLI::ParseError& problem) {
    std::string text = unknown_word(*app_, elsewhere_);
    if (text.empty()) text = missing_command(*app_);
    return text.empty() ? text_of(problem) : text;
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
