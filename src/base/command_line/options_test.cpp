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

}  // namespace
}  // namespace goban::base::command_line
