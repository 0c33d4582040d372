#include "base/command_line/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::base::command_line {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CommandLine, ListsAreSplitAtTheirDelimiter) {
  Command program;
  std::vector<int64_t> sizes = {1};
  std::vector<double> rates;
  program.add_option("--size", sizes, "")->delimiter(',');
  program.add_option("--rate", rates, "")->delimiter(',');
  EXPECT_EQ(program.parse_words({"--size", "10,20", "--rate", "0.5,1e-3"}), "");
  EXPECT_THAT(sizes, ElementsAre(10, 20));
  EXPECT_THAT(rates, ElementsAre(0.5, 1e-3));
  EXPECT_THAT(program.parse_words({"--size", "10,x"}), HasSubstr("--size"));
}

TEST(CommandLine, ChoicesAreTheirNamesInAnyCase) {
  enum class Shape { Round, Square };
  Command program;
  Shape shape = Shape::Round;
  program.add_choice("--shape", shape, {{"round", Shape::Round}, {"square", Shape::Square}}, "");
  EXPECT_EQ(program.parse_words({"--shape", "SQUARE"}), "");
  EXPECT_EQ(shape, Shape::Square);
  EXPECT_THAT(program.parse_words({"--shape", "oval"}), HasSubstr("oval"));
}

TEST(CommandLine, CommandsAreFoundByTheirNames) {
  Command program;
  Command* const below = program.add_subcommand("below", "");
  below->add_subcommand("deeper", "");
  EXPECT_EQ(program.find_subcommand("below"), below);
  EXPECT_EQ(program.find_subcommand("deeper"), nullptr);
}

TEST(CommandLine, ChecksSayWhatIsWrong) {
  Command program;
  std::string word;
  program.add_option("--word", word, "")
      ->check([](const std::string& text) { return text == "good" ? "" : text + " is bad"; },
              "GOOD");
  EXPECT_EQ(program.parse_words({"--word", "good"}), "");
  EXPECT_THAT(program.parse_words({"--word", "odd"}), HasSubstr("odd is bad"));
}

TEST(CommandLine, AnOptionThatIsGivenTwiceIsNamed) {
  Command program;
  std::string word;
  program.add_option("--word", word, "");
  EXPECT_EQ(program.parse_words({"--word", "a", "--word", "b"}),
            "--word is given 2 times; give it once");
}

TEST(CommandLine, WrongNumbersNameTheOptionAndWhatIsExpected) {
  Command program;
  int32_t jobs = 0;
  std::optional<uint32_t> seed;
  double share = 0;
  std::vector<double> rates;
  uint64_t wide = 0;
  program.add_option("--wide", wide, "");
  program.add_option("--jobs", jobs, "")->range(1, 20);
  program.add_option("--seed", seed, "");
  program.add_option("--share", share, "")->positive();
  program.add_option("--rate", rates, "")->delimiter(',');
  EXPECT_EQ(program.parse_words({"--jobs", "x"}), "--jobs: 'x' is not an integer");
  EXPECT_EQ(program.parse_words({"--jobs", "21"}), "--jobs: '21' is not an integer from 1 to 20");
  EXPECT_EQ(program.parse_words({"--seed", "vm"}), "--seed: 'vm' is not an integer of at least 0");
  EXPECT_EQ(program.parse_words({"--wide", "-1"}), "--wide: '-1' is not an integer of at least 0");
  EXPECT_EQ(program.parse_words({"--share", "0"}), "--share: '0' is not a number above 0");
  EXPECT_EQ(program.parse_words({"--rate", "1,y"}), "--rate: 'y' is not a number");
  EXPECT_EQ(program.parse_words({"--jobs", "20", "--seed", "7", "--share", "1e-3"}), "");
}

/// A program with one command in each of two levels, and an option that is required.
struct TwoLevels {
  Command program{"test"};
  std::string policy;

  TwoLevels() {
    program.name("goban");
    program.require_subcommand(1);
    Command* simulate = program.add_subcommand("simulate", "");
    simulate->add_option("--policy", policy, "");
    simulate->add_option("--cluster", policy, "")->required();
    Command* nodes = program.add_subcommand("nodes", "");
    nodes->require_subcommand(1);
    nodes->add_subcommand("drain", "");
  }

  std::string problem(std::vector<std::string> words) {
    return program.parse_words(std::move(words));
  }
};

TEST(CommandLine, UnknownCommandsAreNamedWithTheNearest) {
  TwoLevels it;
  EXPECT_EQ(it.problem({"nosuch"}), "unknown command nosuch (goban --help lists the commands)");
  EXPECT_EQ(it.problem({"simulte", "x"}), "unknown command simulte (did you mean simulate?)");
  EXPECT_EQ(it.problem({"nodes", "drian"}), "unknown command drian (did you mean drain?)");
  EXPECT_EQ(it.problem({"drain", "n0"}), "unknown command drain (did you mean goban nodes drain?)");
}

TEST(CommandLine, UnknownWordsComeBeforeWhatIsRequiredAndBeforeHelp) {
  TwoLevels it;
  EXPECT_EQ(it.problem({"simulate", "--polcy", "x"}),
            "unknown option --polcy (did you mean --policy?)");
  EXPECT_EQ(it.problem({"simulate", "--cluster", "c", "--token=secret"}), "unknown option --token");
  EXPECT_EQ(it.problem({"simulate", "--cluster", "c", "more"}), "unexpected argument more");
  EXPECT_THAT(it.problem({"drain", "--help"}), HasSubstr("unknown command drain"));
  EXPECT_EQ(it.problem({"simulate"}), "--cluster is required");
  const char* const help_of_none[] = {"goban", "nosuch", "--help"};
  EXPECT_EQ(it.program.parse(3, help_of_none), 2);
}

TEST(CommandLine, BeginningsAndNamesOfOtherProgramsAreUnderstood) {
  TwoLevels it;
  it.program.suggest({{"squeue", "goban queue"}});
  EXPECT_EQ(it.problem({"sim"}), "unknown command sim (did you mean simulate?)");
  EXPECT_EQ(it.problem({"squeue", "-u"}), "unknown command squeue (did you mean goban queue?)");
  EXPECT_EQ(it.problem({"simulate", "--clu", "x"}),
            "unknown option --clu (did you mean --cluster?)");
}

TEST(CommandLine, AMissingCommandIsNamedWithTheChoices) {
  TwoLevels it;
  EXPECT_EQ(it.problem({"nodes"}), "goban nodes: a command is missing: drain");
  EXPECT_EQ(it.problem({}), "goban: a command is missing: simulate or nodes");
}

TEST(CommandLine, WordsOfAUsersCommandAreNotUnknown) {
  Command program;
  program.name("goban");
  Command* run = program.add_subcommand("run", "");
  run->prefix_command("COMMAND [ARGUMENT ...]");
  std::string needed;
  run->add_option("--gpus", needed, "")->required();
  EXPECT_EQ(program.parse_words({"run", "python", "--epochs"}), "--gpus is required");
  const char* const words[] = {"goban", "run", "--help"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(program.parse(3, words), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("goban run [OPTIONS] COMMAND [ARGUMENT ...]\n"));
}

TEST(CommandLine, HelpStatesValuesRangesAndConditionsInWords) {
  Command program("Tests.");
  program.name("test");
  int64_t number = 7;
  double share = 0.5;
  std::string text;
  Option* first = program.add_option("--num-jobs", number, "Number of jobs")
                      ->range(1, 255)
                      ->capture_default_str();
  program.add_option("--share", share, "Share (default: half (of all))")
      ->range(0.0, 1.0)
      ->excludes(first);
  program.add_option("--policy", text, "Policy")->required()->needs(first)->group("Other");
  program.add_option("--mode", text, "Mode: fast or slow")->one_of({"fast", "slow"});
  program.add_option("--form", text, "Form")->one_of({"a", "b", "c"});
  program.add_option("file", text, "A file");
  testing::internal::CaptureStdout();
  const char* const words[] = {"test", "--help"};
  EXPECT_EQ(program.parse(2, words), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "Tests.\n"
            "Usage: test [OPTIONS] [FILE]\n\n"
            "Positionals:\n"
            "  FILE                        A file\n\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  --num-jobs N                Number of jobs (1 to 255; default 7; not with --share)\n"
            "  --share NUMBER              Share (default: half (of all); 0 to 1; not with "
            "--num-jobs)\n"
            "  --mode MODE                 Mode: fast or slow\n"
            "  --form FORM                 Form (a, b or c)\n\n"
            "Other:\n"
            "  --policy POLICY             Policy (required; requires --num-jobs)\n");
}

}  // namespace
}  // namespace goban::base::command_line
