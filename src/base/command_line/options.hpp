// The command line of a program: commands, options and their values. Wraps CLI11, whose headers
// take seconds to compile, so that few files include them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace goban::base::command_line {

/// An option or a positional argument. All setters return the option itself, for chaining.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option* required();
  /// Shows the current value of the variable as the default in the help.
  Option* capture_default_str();
  /// The placeholder of the value in the help.
  Option* type_name(const std::string& name);
  /// The heading under which the help lists it; empty hides it.
  Option* group(const std::string& name);
  /// Splits each value at this character.
  Option* delimiter(char separator);
  /// Takes exactly one word each time it is given.
  Option* one_word();
  /// The number of values that follow.
  Option* expected(int least, int most);
  Option* excludes(const Option* other);
  Option* needs(const Option* other);
  /// Numbers from `least` to `most`, both included; the help says so, as it does for what follows.
  Option* range(int least, int most);
  Option* range(int64_t least, int64_t most);
  Option* range(double least, double most);
  Option* positive();
  Option* one_of(const std::vector<std::string>& values);
  /// `problem_of` returns what is wrong with a value, or an empty string. The help ends with
  /// `remark`, if any.
  Option* check(std::function<std::string(const std::string&)> problem_of,
                const std::string& remark = {});

  /// The number of times it was given.
  [[nodiscard]] size_t count() const;
  [[nodiscard]] std::string name() const;

 private:
  CLI::Option& option_;
};

/// A command, with its options and the commands below it.
class Command {
 public:
  /// The root command of a program.
  explicit Command(const std::string& help = {});
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& help);
  /// `names`: "-n,--name", or "name" for a positional argument. T: a string, a number, an optional
  /// or a vector of those (the list is at the end of options.cpp).
  template <typename T>
  Option* add_option(const std::string& names, T& value, const std::string& help);
  /// Passes the values to `take` as text. `take` rejects invalid values with refuse_value().
  Option* add_option_function(const std::string& names,
                              std::function<void(const std::vector<std::string>&)> take,
                              const std::string& help);
  /// Sets `value` to the enumerator that `choices` gives for the word; ignores case.
  template <typename Enum>
  Option* add_choice(const std::string& names, Enum& value,
                     const std::vector<std::pair<std::string, Enum>>& choices,
                     const std::string& help) {
    std::vector<std::string> words;
    std::string initial;
    for (const auto& choice : choices) {
      words.push_back(choice.first);
      if (choice.second == value) initial = choice.first;
    }
    return add_choice_by_index(
        names, words, initial, [&value, choices](size_t index) { value = choices[index].second; },
        help);
  }
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  Option* add_flag(const std::string& names, const std::string& help);
  Option* add_flag_callback(const std::string& names, std::function<void()> call,
                            const std::string& help);
  /// From here on, the help shows the default of each option of this command and of the commands
  /// that are added below it: the value of its variable, if that is not empty.
  void show_defaults();
  /// Names of commands of other programs, and what to suggest for each; for the root command.
  void suggest(std::map<std::string, std::string> elsewhere);
  void set_version_flag(const std::string& names, const std::string& version);

  /// Calls `call` when the command was parsed.
  Command* callback(std::function<void()> call);
  /// Examples and notes below the options in the help.
  Command* footer(const std::string& text);
  Command* name(const std::string& name);
  Command* group(const std::string& name);
  Command* require_subcommand(int least, int most);
  Command* require_subcommand(int count) { return require_subcommand(count, count); }
  /// A group of options of which at most one may be given.
  Command* add_group_of_one(const std::string& name);
  /// Leaves everything from the first word that is not an option of this command unparsed; see
  /// remaining(). `words`: their names in the help, such as "[SCRIPT [ARGUMENT ...]]".
  Command* prefix_command(const std::string& words);
  [[nodiscard]] std::vector<std::string> remaining() const;
  /// The command of this name directly below this one; nullptr if there is none.
  [[nodiscard]] Command* find_subcommand(std::string_view name) const;
  /// Whether a command below this one was given.
  [[nodiscard]] bool has_subcommand() const;
  /// The number of times an option was given.
  [[nodiscard]] size_t count(const std::string& option) const;
  /// The options that were given and have a long name: the name without dashes, and each value.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> given() const;

  /// Parses main's arguments. Returns -1 to continue; otherwise help, version or an error was
  /// printed, and the program must exit with the returned code.
  [[nodiscard]] int parse(int argc, const char* const* argv);
  /// Parses words in order, without printing. Returns what is wrong with them, or an empty string.
  [[nodiscard]] std::string parse_words(std::vector<std::string> words);
  [[nodiscard]] std::string version() const;
  [[nodiscard]] CLI::App& inside() const { return *app_; }

 private:
  explicit Command(CLI::App& app);
  Option* keep(CLI::Option* option);
  Option* add_choice_by_index(const std::string& names, const std::vector<std::string>& words,
                              const std::string& initial, std::function<void(size_t)> take,
                              const std::string& help);

  std::unique_ptr<CLI::App> owned_{};
  CLI::App* app_ = nullptr;
  std::deque<Option> options_{};
  std::deque<std::unique_ptr<Command>> commands_{};
  std::map<std::string, std::string> elsewhere_{};
};

/// For callbacks of Command::callback() and Command::add_option_function(): rejects the command
/// line; the program exits with the message and exit code 2.
[[noreturn]] void refuse_missing(const std::string& option);
[[noreturn]] void refuse_value(const std::string& option, const std::string& message);

}  // namespace goban::base::command_line
