#include "live/job/stage_paths.hpp"

#include <gtest/gtest.h>

#include "live/job/submit_directives.hpp"

namespace goban::live::job {
namespace {

TEST(StagePaths, WrongOnesAreNamed) {
  EXPECT_EQ(stage_path_problem("/lustre/images"), "");
  EXPECT_EQ(stage_path_problem("images/..v2/x."), "") << "these are names";
  EXPECT_EQ(stage_path_problem(""), "is empty");
  EXPECT_NE(stage_path_problem("/a/../b"), "");
  EXPECT_NE(stage_path_problem(".."), "");
  EXPECT_NE(stage_path_problem("/a/.."), "");
  EXPECT_EQ(stage_path_problem(std::string_view("/a\0b", 4)), "contains a NUL character");
  EXPECT_EQ(stage_path_problem("/a\nb"), "contains a control character");
  EXPECT_EQ(stage_path_problem(std::string(4'097, 'a')), "is longer than 4096 bytes");
}

TEST(StagePaths, ResultsHaveTwoPaths) {
  const auto out = parse_stage_out("results:/lustre/out-%j");
  ASSERT_TRUE(out);
  EXPECT_EQ(*out, (StageOut{.from = "results", .to = "/lustre/out-%j"}));
  for (const char* wrong : {"results", "a:b:c", ":b", "a:", "a:../b", ""}) {
    EXPECT_FALSE(parse_stage_out(wrong)) << wrong;
  }
}

TEST(StagePaths, PatternsAreFilledIn) {
  JobSpec spec;
  spec.name = "train/3";
  EXPECT_EQ(stage_path("out-%j/./%x", "/home/ann", JobId(6U), spec), "/home/ann/out-7/train_3");
  EXPECT_EQ(stage_path("/lustre//x/", "/home/ann", JobId(6U), spec), "/lustre/x");
}

TEST(StagePaths, DirectivesNameThem) {
  const auto read = read_directives(
      "#!/bin/sh\n"
      "#GOBAN --stage-in /lustre/images --stage-in words.txt\n"
      "#GOBAN --stage-out=results:/lustre/out --stage-out-on always\n",
      "job.sh");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->spec.stage_in, (std::vector<std::string>{"/lustre/images", "words.txt"}));
  ASSERT_EQ(read->spec.stage_out.size(), 1U);
  EXPECT_EQ(read->spec.stage_out[0].from, "results");
  EXPECT_TRUE(read->spec.stage_out_always);
  const auto wrong = read_directives("#GOBAN --stage-in ../x\n", "job.sh");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().place.line, 1);
  EXPECT_FALSE(read_directives("#GOBAN --stage-out-on never\n", "job.sh"));
}

TEST(StagePaths, WordsOfOtherQueuesAreRead) {
  JobSpec spec;
  EXPECT_EQ(
      read_stage_words("note;stage-in=/a b;stage-in=/c;stage-out=r:/o;stage-out-on=always", spec),
      "");
  EXPECT_EQ(spec.stage_in, (std::vector<std::string>{"/a b", "/c"}));
  EXPECT_EQ(spec.stage_out, (std::vector<StageOut>{{.from = "r", .to = "/o"}}));
  EXPECT_TRUE(spec.stage_out_always);
  const JobSpec before = spec;
  for (const char* wrong : {"stage-in=a", "stage-in=/a/..", "stage-out=r", "stage-out=r:o",
                            "stage-out-on=never", "stage-in="}) {
    EXPECT_NE(read_stage_words(wrong, spec), "") << wrong;
    EXPECT_EQ(spec, before);
  }
  EXPECT_EQ(read_stage_words("held", spec), "");
  EXPECT_TRUE(spec.stage_in.empty());
}

}  // namespace
}  // namespace goban::live::job
