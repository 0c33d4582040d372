#include "live/engine/engines.hpp"

#include <array>
#include <gmock/gmock.h>

namespace goban::live::engine {
namespace {

using testing::HasSubstr;

struct CloudOptions {
  std::string region;
  int64_t nodes = 0;
};

CloudOptions read_cloud(base::TableReader& table) {
  return {.region = table.text("region"), .nodes = table.whole("nodes", 1, 9, 1)};
}

constexpr std::array kTwo = {EngineKind{.name = "local"},
                             EngineKind{.name = "cloud", .check = [](base::TableReader& table) {
                                          (void)read_cloud(table);
                                        }}};

/// Reads a configuration; the message of the first problem, or nothing.
std::string problem_of(std::string_view toml, EngineChoice& choice) {
  const auto document = base::parse_config(toml, "goban.toml").value();
  base::ConfigProblems problems("goban.toml");
  base::TableReader root(document, "", problems);
  choice = read_engine(root, kTwo);
  root.finish();
  const base::Status status = problems.status();
  return status ? "" : status.error().text();
}

TEST(ReadEngine, IsLocalWithoutAKey) {
  EngineChoice choice;
  EXPECT_EQ(problem_of("", choice), "");
  EXPECT_EQ(choice, EngineChoice());
}

TEST(ReadEngine, HandsTheTableOfTheChosenEngineOver) {
  EngineChoice choice;
  ASSERT_EQ(problem_of("engine = 'cloud'\n[local]\n[cloud]\nregion = 'north'\nnodes = 3\n", choice),
            "");
  EXPECT_EQ(choice.name, "cloud");
  EXPECT_EQ(choice.file, "goban.toml");
  base::ConfigProblems problems(choice.file);
  base::TableReader table(choice.table, choice.name, problems);
  const CloudOptions options = read_cloud(table);
  EXPECT_EQ(options.region, "north");
  EXPECT_EQ(options.nodes, 3);
}

TEST(ReadEngine, RefusesWhatNoEngineKnows) {
  EngineChoice choice;
  EXPECT_THAT(
      problem_of("engine = 'clod'\n", choice),
      HasSubstr("goban.toml:1:10: engine: unknown engine clod (known engines: local, cloud)"));
  EXPECT_THAT(problem_of("[cloud]\nnodes = 10\n", choice),
              HasSubstr("goban.toml:2:9: cloud.nodes"));
  EXPECT_THAT(problem_of("[cloud]\nnode = 1\n", choice), HasSubstr("nodes"));
  EXPECT_THAT(problem_of("[local]\nnodes = 1\n", choice), HasSubstr("goban.toml:2:1: local.nodes"));
}

TEST(ReadEngine, TablesWithOtherValuesAreOtherChoices) {
  EngineChoice one;
  EngineChoice moved;
  EngineChoice other;
  ASSERT_EQ(problem_of("engine = 'cloud'\n[cloud]\nnodes = 3\n", one), "");
  ASSERT_EQ(problem_of("engine = 'cloud'\n\n\n[cloud]\nnodes = 3\n", moved), "");
  ASSERT_EQ(problem_of("engine = 'cloud'\n[cloud]\nnodes = 4\n", other), "");
  EXPECT_EQ(one, moved);
  EXPECT_FALSE(one == other);
}

}  // namespace
}  // namespace goban::live::engine
