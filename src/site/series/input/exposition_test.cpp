#include "site/series/input/exposition.hpp"

#include <gmock/gmock.h>

namespace goban::site::series {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Exposition, NameLabelsValueTime) {
  const auto line = parse_exposition_line(R"(up{job="a b",path="C:\\x\"\n"} 1.5 1554076800.25)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "up");
  EXPECT_THAT(line->labels, ElementsAre(Pair("job", "a b"), Pair("path", "C:\\x\"\n")));
  EXPECT_EQ(line->value, 1.5);
  EXPECT_EQ(line->time_ms, 1'554'076'800'250);
}

TEST(Exposition, MillisecondsOfPrometheusAndSecondsOfOpenMetrics) {
  EXPECT_EQ(parse_exposition_line("a 0 1554076800123")->time_ms, 1'554'076'800'123);
  EXPECT_EQ(parse_exposition_line("a 0 1554076800")->time_ms, 1'554'076'800'000);
  EXPECT_FALSE(parse_exposition_line("a 0")->time_ms);
}

TEST(Exposition, OtherForms) {
  EXPECT_EQ(parse_exposition_line(R"({__name__="a",b="c"} 1 1554076800123)")->name, "a");
  EXPECT_EQ(parse_exposition_line(R"({"a.b",c="d"} 1)")->name, "a.b");
  EXPECT_EQ(parse_exposition_line("a{} 1 # {trace=\"x\"} 2")->value, 1);
  EXPECT_EQ(parse_exposition_line("  a \t 1e3 ")->value, 1000);
  EXPECT_TRUE(std::isnan(parse_exposition_line("a NaN")->value));
  EXPECT_TRUE(std::isinf(parse_exposition_line("a +Inf")->value));
}

TEST(Exposition, Refused) {
  for (const char* line :
       {"", "a", "{} 1", "a{b} 1", "a{b=c} 1", "a{b=\"c} 1", "a{b=\"c\"", "a 1 2 3", "a x", "1a 1",
        "a{b=\"c\"x=\"d\"} 1", "a 1 NaN", "a 1 1e300", "a{b=\"\\"}) {
    EXPECT_FALSE(parse_exposition_line(line)) << line;
  }
  EXPECT_TRUE(is_comment("# EOF"));
  EXPECT_TRUE(is_comment("  "));
  EXPECT_FALSE(is_comment("a 1"));
}

TEST(Exposition, WrittenLabelsReadBack) {
  std::string text = "a{b=";
  append_label_value(text, "x\\\"\ny");
  const auto line = parse_exposition_line(text + "} 1");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->labels[0].second, "x\\\"\ny");
}

}  // namespace
}  // namespace goban::site::series
