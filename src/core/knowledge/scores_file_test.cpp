#include "core/knowledge/scores_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"

namespace goban::core::knowledge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text, std::optional<uint32_t> num_gpus = std::nullopt) {
  const auto scores = parse_scores(text, "s.csv", num_gpus);
  return scores ? "no error" : scores.error().text();
}

TEST(ScoresFile, TakesRowsInAnyOrderAndBinsAsTheyAre) {
  const auto scores = parse_scores(
      "x,bin_classA,GPU_ID,PerfVar_classA\n"
      ",2,1,1.7\n"
      ",0.5,0,3\n"
      ",2,2,1.1\n",
      "s.csv", 3);
  ASSERT_TRUE(scores) << scores.error().text();
  const ClassScores& a = scores->of({0});
  EXPECT_THAT(a.raw, ElementsAre(3, 1.7, 1.1));
  EXPECT_THAT(a.bin_values, ElementsAre(0.5, 2));
  EXPECT_THAT(a.bin, ElementsAre(0, 1, 1));
}

TEST(ScoresFile, BinsAClassThatHasNoBins) {
  const auto scores =
      parse_scores("GPU_ID,PerfVar_classA,PerfVar_classB,bin_classB\n0,1,1,7\n1,1,1,7\n2,2,1,8\n",
                   "s.csv", 3, {.k1_rule = K1Rule::Artifact, .fixed_k = {}});
  ASSERT_TRUE(scores) << scores.error().text();
  EXPECT_THAT(scores->of({0}).bin, ElementsAre(0, 0, 1));
  EXPECT_THAT(scores->of({1}).bin_values, ElementsAre(7, 8));
}

TEST(ScoresFile, ReadsBackWhatItWrote) {
  const auto scores = parse_scores(
      "GPU_ID,PerfVar_classA,PerfVar_classB\n0,0.1,1\n1,1.25,1\n2,0.30000000000000004,1.5\n",
      "s.csv", 3);
  ASSERT_TRUE(scores) << scores.error().text();
  const std::string text = to_csv(*scores);
  EXPECT_THAT(text, StartsWith("GPU_ID,PerfVar_classA,PerfVar_classB,bin_classA,bin_classB\n0,"));
  const auto again = parse_scores(text, "again.csv", 3);
  ASSERT_TRUE(again) << again.error().text();
  for (const uint8_t c : {uint8_t{0}, uint8_t{1}}) {
    EXPECT_EQ(again->of({c}).raw, scores->of({c}).raw);
    EXPECT_EQ(again->of({c}).bin, scores->of({c}).bin);
    EXPECT_EQ(again->of({c}).bin_values, scores->of({c}).bin_values);
  }
  EXPECT_EQ(to_csv(*again), text);
}

TEST(ScoresFile, RefusesBadScoresWithTheirPlace) {
  for (const char* bad : {"0", "-1", "nan", "inf", "", "x", "1e7", "1e-7", "1 "}) {
    const std::string text = std::string("GPU_ID,PerfVar_classA\n0,1\n1,") + bad + "\n";
    EXPECT_THAT(error_of(text), StartsWith("s.csv:3:3: PerfVar_classA: '")) << bad;
  }
  EXPECT_THAT(error_of("GPU_ID,PerfVar_classA\n0\n"), StartsWith("s.csv:2: PerfVar_classA: ''"));
  EXPECT_THAT(error_of("GPU_ID,PerfVar_classA,bin_classA\n0,1,0\n"),
              StartsWith("s.csv:2:5: bin_classA: '0' is not a bin value"));
}

TEST(ScoresFile, EveryGpuHasOneRow) {
  const std::string header = "GPU_ID,PerfVar_classA\n";
  EXPECT_THAT(error_of(header + "0,1\n0,1\n"),
              StartsWith("s.csv:3:1: GPU_ID: duplicate row for GPU 0, first in line 2"));
  EXPECT_THAT(error_of(header + "0,1\n2,1\n"), StartsWith("s.csv: GPU_ID: GPU 1 of 3 has no row"));
  EXPECT_THAT(error_of(header + "0,1\n", 2), StartsWith("s.csv: GPU_ID: GPU 1 of 2 has no row"));
  EXPECT_THAT(error_of(header + "0,1\n1,1\n", 1), HasSubstr("the cluster has 1 GPUs"));
  EXPECT_THAT(error_of(header), StartsWith("s.csv: GPU_ID: GPU 0 of 0 has no row"));
  for (const char* bad : {"-1", "1.0", "", "4000000000"}) {
    EXPECT_THAT(error_of(header + bad + ",1\n"), StartsWith("s.csv:2:1: GPU_ID: '")) << bad;
  }
}

TEST(ScoresFile, ClassesFollowEachOtherFromA) {
  EXPECT_THAT(error_of(""), StartsWith("s.csv: the file is empty"));
  EXPECT_THAT(error_of("gpu\n1\n"), StartsWith("s.csv:1: GPU_ID: missing column"));
  EXPECT_THAT(error_of("GPU_ID\n0\n"), StartsWith("s.csv:1: PerfVar_classA: missing column"));
  EXPECT_THAT(error_of("GPU_ID,PerfVar_classA,PerfVar_classC\n0,1,1\n"),
              StartsWith("s.csv:1: PerfVar_classC: class C is present, but class B is not"));
  EXPECT_THAT(error_of("GPU_ID,PerfVar_classB\n0,1\n"), HasSubstr("but class A is not"));
  EXPECT_THAT(error_of("GPU_ID,PerfVar_classA,PerfVar_classA\n0,1,1\n"),
              HasSubstr("2 columns have this name"));
  EXPECT_THAT(error_of("GPU_ID,PerfVar_classA,bin_classB\n0,1,1\n"),
              StartsWith("s.csv:1: bin_classB: has no column of raw scores"));
}

TEST(ScoresFile, RefusesTooManyBins) {
  std::string text = "GPU_ID,PerfVar_classA,bin_classA\n";
  for (int i = 0; i < 256; ++i) {
    text += std::to_string(i) + ",1," + std::to_string(i + 1) + "\n";
  }
  EXPECT_THAT(error_of(text), StartsWith("s.csv: bin_classA: has more than 255"));
}

TEST(ScoresFile, ReadsATableOfACluster) {
  const auto path = base::test_data("pal/profiles/32gpu-variability.csv");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto scores = parse_scores(base::read_text_file(*path).value(), *path, 32);
  ASSERT_TRUE(scores) << scores.error().text();
  EXPECT_EQ(scores->num_classes(), 4u);
  EXPECT_EQ(scores->of({0}).raw[0], 1.014469743078943);
  EXPECT_GE(scores->of({0}).bin_values.size(), 2u);
  EXPECT_FALSE(parse_scores(base::read_text_file(*path).value(), *path, 64));
}

}  // namespace
}  // namespace goban::core::knowledge
