// Completion and man pages of the program itself.
#include "cli/shell/command_tree.hpp"

#include <gmock/gmock.h>

#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What bash completes at the end of `words`.
std::string completed(const std::string& words) {
  return shell(
             R"sh(bash -c 'eval "$(GOBAN completion bash)"; COMP_WORDS=()sh" + words +
             R"sh( ""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _goban; echo "${COMPREPLY[*]}"')sh")
      .out;
}

TEST(Completion, BashKnowsCommandsAndOptions) {
  EXPECT_THAT(completed("goban"), HasSubstr("submit"));
  EXPECT_THAT(completed("goban"), Not(HasSubstr("measure-block")));
  EXPECT_THAT(completed("goban trace"), HasSubstr("generate"));
  const std::string options = shell(R"sh(bash -c 'eval "$(GOBAN completion bash)";
      COMP_WORDS=(goban submit --dep); COMP_CWORD=2; _goban; echo "${COMPREPLY[*]}"')sh")
                                  .out;
  EXPECT_EQ(options, "--dependency\n");
}

TEST(Completion, ScriptsAreValid) {
  EXPECT_EQ(shell("GOBAN completion bash | bash -n 2>&1").out, "");
  const std::string zsh = shell("GOBAN completion zsh").out;
  EXPECT_THAT(zsh, HasSubstr("#compdef goban\n"));
  EXPECT_THAT(zsh, HasSubstr("'submit:Submit a job"));
  const std::string fish = shell("GOBAN completion fish").out;
  EXPECT_THAT(fish, HasSubstr("-n '__fish_use_subcommand' -f -a submit -d "));
  EXPECT_THAT(fish, HasSubstr("-n '__fish_seen_subcommand_from nodes; and "
                              "__fish_seen_subcommand_from drain' -l reason -r -d "));
  EXPECT_EQ(shell("GOBAN completion tcsh 2>/dev/null").code, 2);
}

TEST(ManPages, EveryCommandHasOne) {
  const TestFolder folder("man");
  ASSERT_EQ(shell("GOBAN man --out " + folder.path() + " 2>/dev/null").code, 0);
  for (const char* name : {"goban", "goban-submit", "goban-trace-generate", "goban-nodes-drain"}) {
    const std::string page = TestFolder::read(folder.path() + "/" + name + ".1");
    for (const char* part : {".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n"}) {
      EXPECT_THAT(page, HasSubstr(part)) << name;
    }
  }
  EXPECT_THAT(TestFolder::read(folder.path() + "/goban-submit.1"), HasSubstr(".SH EXAMPLES\n"));
  // groff prints nothing about a valid page.
  EXPECT_EQ(shell("if command -v groff > /dev/null; then for page in " + folder.path() +
                  "/*.1; do groff -man -Tutf8 -ww -z $page 2>&1; done; fi")
                .out,
            "");
}

TEST(ManPages, WordsOfRoffAreEscaped) {
  CommandNode node{
      .path = {"x"}, .help = "Does\n.things -\\ so", .footer = {}, .options = {}, .children = {}};
  const std::string page = man_page({node}, node, "goban 1");
  EXPECT_THAT(page, HasSubstr("\n\\&.things \\-\\e so"));
  EXPECT_THAT(page, Not(HasSubstr("\n.things")));
}

}  // namespace
}  // namespace goban::cli
