// goban completion and goban man: generated from the commands themselves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/output_file.hpp"
#include "cli/shell/command_tree.hpp"
#include "cli/shell/commands.hpp"

namespace goban::cli {
namespace {

int print_completion(const Command& program, const std::string& shell) {
  const auto tree = command_tree(program);
  fmt::print("{}", shell == "bash"  ? bash_completion(tree)
                   : shell == "zsh" ? zsh_completion(tree)
                                    : fish_completion(tree));
  return 0;
}

/// "goban 0.1.0": a page is the same for all builds of a release.
std::string release_of(const Command& program) {
  const std::string version = program.version();
  return version.substr(0, version.find(" ("));
}

int print_page(const Command& program, const std::vector<std::string>& words) {
  const auto tree = command_tree(program);
  for (const CommandNode& node : tree) {
    if (node.path != words) continue;
    fmt::print("{}", man_page(tree, node, release_of(program)));
    return 0;
  }
  return report_error({.code = base::ErrorCode::Usage,
                       .message = fmt::format("unknown command {}", fmt::join(words, " ")),
                       .place = {},
                       .remedy = "goban --help lists the commands"});
}

int write_pages(const Command& program, const std::string& folder) {
  const auto tree = command_tree(program);
  for (const CommandNode& node : tree) {
    const std::string path = fmt::format("{}/{}.1", folder, man_name(node));
    auto file = base::OutputFile::create(path);
    if (!file) return report_error(file.error());
    file->buffer() = man_page(tree, node, release_of(program));
    if (const auto written = file->commit(); !written) return report_error(written.error());
  }
  fmt::print(stderr, "wrote {} pages to {}\n", tree.size(), folder);
  return 0;
}

}  // namespace

void add_shell_help(Command& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  Command* completion = app.add_subcommand("completion", "Print a shell completion script");
  completion->add_option("SHELL", *shell, "Shell: bash, zsh or fish")
      ->required()
      ->one_of({"bash", "zsh", "fish"});
  completion->footer(
      "Examples:\n"
      "  eval \"$(goban completion bash)\"\n"
      "  goban completion zsh > ~/.zfunc/_goban\n"
      "  goban completion fish > ~/.config/fish/completions/goban.fish\n"
      "Exit codes: 0 success, 2 usage error.");
  completion->callback(
      [shell, &app, &action] { action = [shell, &app] { return print_completion(app, *shell); }; });

  auto words = std::make_shared<std::vector<std::string>>();
  auto folder = std::make_shared<std::string>();
  Command* man =
      app.add_subcommand("man", "Print the man page of a command, or write all man pages");
  man->add_option("COMMAND", *words,
                  "Command, such as submit or trace generate (default: goban itself)");
  man->add_option("--out", *folder, "Write the man pages of all commands to this folder")
      ->type_name("DIR");
  man->footer(
      "Examples:\n"
      "  goban man submit | man -l -\n"
      "  goban man --out ~/.local/share/man/man1\n"
      "Exit codes: 0 success, 1 cannot write, 2 usage error.");
  man->callback([words, folder, &app, &action] {
    action = [words, folder, &app] {
      return folder->empty() ? print_page(app, *words) : write_pages(app, *folder);
    };
  });

  // main() reads these two as --version and --help; they are here for the help and completion.
  app.add_subcommand("version", "Print version, commit and build");
  auto of = std::make_shared<std::vector<std::string>>();
  app.add_subcommand("help", "Describe goban or a command")
      ->add_option("COMMAND", *of, "Command, such as submit or trace generate");
}

}  // namespace goban::cli
