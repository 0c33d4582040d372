#include "base/config.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

/// Reads `toml` with `read` and returns the text of the error, or "".
template <typename Read>
std::string problem(std::string_view toml, Read read) {
  const auto document = parse_config(toml, "a.toml");
  if (!document) return document.error().text();
  ConfigProblems problems("a.toml");
  TableReader root(*document, "", problems);
  read(root);
  root.finish();
  const Status status = problems.status();
  return status ? "" : status.error().text();
}

TEST(Config, ReadsEveryKind) {
  const auto text = problem(
      "name = \"x\"\ncount = 3\nratio = 0.5\nsize = \"2 KiB\"\nspan = \"1h\"\nrate = \"8 Gb/s\"\n"
      "list = [\"a\", \"b\"]\none = \"c\"\n[[part]]\nid = 1\n[[part]]\nid = 2\n",
      [](TableReader& root) {
        EXPECT_EQ(root.text("name"), "x");
        EXPECT_EQ(root.whole("count", 1, 9, 0), 3);
        EXPECT_EQ(root.number("ratio", 0, 1, 0), 0.5);
        EXPECT_EQ(root.bytes("size"), 2048);
        EXPECT_EQ(root.duration("span"), 3600 * kSecond);
        EXPECT_EQ(root.bandwidth("rate"), 1e9);
        EXPECT_EQ(root.texts("list"), (std::vector<std::string>{"a", "b"}));
        EXPECT_EQ(root.texts("one"), (std::vector<std::string>{"c"}));
        EXPECT_EQ(root.text("absent", "fallback"), "fallback");
        auto parts = root.tables("part");
        ASSERT_EQ(parts.size(), 2u);
        EXPECT_EQ(parts[1].whole("id", 0, 9, 0), 2);
      });
  EXPECT_EQ(text, "");
}

TEST(Config, ProblemsNamePlaceFieldAndRemedy) {
  const auto memory = [](TableReader& root) { root.bytes("memory"); };
  EXPECT_EQ(problem("\nmemroy = 1", memory),
            "a.toml:2:1: memroy: unknown key (did you mean memory?)");
  EXPECT_EQ(problem("zzzzzzzz = 1", memory),
            "a.toml:1:1: zzzzzzzz: unknown key (known keys: memory)");
  EXPECT_EQ(problem("memory = \"1 XB\"", memory),
            "a.toml:1:10: memory: \"1 XB\" is not a valid size (such as \"16 GiB\" or a number of "
            "bytes)");
  EXPECT_EQ(problem("memory = true", memory),
            "a.toml:1:10: memory: must be a size such as \"16 GiB\", not a boolean");
  EXPECT_EQ(problem("memory = -5", memory),
            "a.toml:1:10: memory: \"-5\" is negative (such as \"16 GiB\" or a number of bytes)");
  EXPECT_EQ(problem("memory = 12:00:00", memory),
            "a.toml:1:10: memory: must be a size such as \"16 GiB\", not a date or time");
  const auto parts = [](TableReader& root) {
    for (TableReader& part : root.tables("part")) {
      part.require("id", "give a number");
      part.whole("id", 1, 5, 1);
      part.finish();
    }
  };
  EXPECT_EQ(problem("[[part]]\nid = 9", parts), "a.toml:2:6: part.id: 9 is out of range (1 to 5)");
  EXPECT_EQ(problem("[[part]]\nid = 1.5", parts),
            "a.toml:2:6: part.id: must be an integer, not a number");
  EXPECT_EQ(problem("[[part]]\n", parts), "a.toml:1:1: part.id: is missing (give a number)");
  EXPECT_EQ(problem("part = 3", parts),
            "a.toml:1:8: part: must be an array of tables [[part]], not an integer");
  const auto name = [](TableReader& root) { root.text("name"); };
  EXPECT_EQ(problem("name = \"\"", name), "a.toml:1:8: name: is empty (use printable characters)");
  EXPECT_EQ(problem("name = \"a\\nb\"", name),
            "a.toml:1:8: name: contains a control character (use printable characters)");
}

TEST(Config, MalformedTomlIsAnError) {
  for (const char* toml : {"=", "a = ", "a = [1,", "[a", "a = \"x", "a = 1\na = 2", "\xff\xfe",
                           "a = 0x", "a = 1979-13-01", "a = {b = 1", "[[a]]\n[a]"}) {
    const auto document = parse_config(toml, "a.toml");
    ASSERT_FALSE(document) << toml;
    EXPECT_GT(document.error().place.line, 0) << toml;
  }
}

TEST(Config, DeepNestingIsRefused) {
  std::string keys = "a";
  for (int i = 0; i < 100'000; ++i) keys += ".a";
  EXPECT_EQ(parse_config("x = 1\n" + keys + " = 1", "a.toml").error().text(),
            "a.toml:2: a key has more than 16 dots (the file must be valid TOML)");
  EXPECT_FALSE(parse_config("[" + keys + "]", "a.toml"));
  std::string quoted = "a";
  for (int i = 0; i < 100'000; ++i) quoted += ".\"=\"";
  EXPECT_FALSE(parse_config(quoted + " = 1", "a.toml"));
  EXPECT_FALSE(parse_config("a = " + std::string(100'000, '['), "a.toml"));
  EXPECT_TRUE(parse_config("a = \"1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9\" # a.b.c.d", "a.toml"));
}

TEST(Config, AnyCharacterMayStandInQuotes) {
  const auto name = [](TableReader& root) { EXPECT_EQ(root.text("a"), "\u6771\ufcbf"); };
  EXPECT_EQ(problem("\uFEFFa = \"\u6771\ufcbf\" # \u6771", name), "");
  EXPECT_EQ(problem("a = \"\"\"\u6771\\\n\ufcbf\"\"\"", name), "");
  for (const char* toml : {"\ufcbf", "a\ufcbf = 1", "a = 8\ufcbf", "[a\ufcbf]", "a = 1 \ufcbf"}) {
    EXPECT_FALSE(parse_config(toml, "a.toml")) << toml;
  }
}

TEST(Config, ReadsOneTableAndListsOfNumbers) {
  const auto document = parse_config("list = [1, 2.5]\none = 4\n[part]\nname = \"a\"\n", "a.toml");
  ASSERT_TRUE(document);
  ConfigProblems problems("a.toml");
  TableReader root(*document, "", problems);
  EXPECT_EQ(root.numbers("list", 0, 10), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(root.numbers("one", 0, 10), (std::vector<double>{4}));
  EXPECT_TRUE(root.numbers("absent", 0, 10).empty());
  auto part = root.table("part");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->text("name"), "a");
  EXPECT_FALSE(root.table("nothing"));
  part->finish();
  root.finish();
  EXPECT_FALSE(problems.any());
}

TEST(Config, RefusesNumbersOutOfRangeAndTablesThatAreNone) {
  const auto document = parse_config("list = [1, 20]\npart = 3\n", "a.toml");
  ASSERT_TRUE(document);
  for (const bool list : {true, false}) {
    ConfigProblems problems("a.toml");
    TableReader root(*document, "", problems);
    if (list) {
      EXPECT_TRUE(root.numbers("list", 0, 10).empty());
      EXPECT_EQ(problems.status().error().text(),
                "a.toml:1:12: list: 20 is out of range (use numbers from 0 to 10)");
    } else {
      EXPECT_FALSE(root.table("part"));
      EXPECT_EQ(problems.status().error().text(),
                "a.toml:2:8: part: must be a table [part], not an integer");
    }
  }
}

}  // namespace
}  // namespace goban::base
