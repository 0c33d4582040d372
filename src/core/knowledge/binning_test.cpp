#include "core/knowledge/binning.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "core/knowledge/scores_file.hpp"

namespace goban::core::knowledge {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(Binning, GroupsGpusOfEqualSpeed) {
  const Binning binning = bin_scores({1.0, 1.02, 0.98, 2.0, 2.04, 1.96});
  EXPECT_EQ(binning.k1, 2u);
  EXPECT_TRUE(binning.outliers.empty());
  EXPECT_GT(binning.silhouette, 0.9);
  // Centroids 1 and 2; median 1.5.
  EXPECT_THAT(binning.scores.bin_values, ElementsAre(DoubleEq(1 / 1.5), DoubleEq(2 / 1.5)));
  EXPECT_THAT(binning.scores.bin, ElementsAre(0, 0, 0, 1, 1, 1));
}

TEST(Binning, CountsOutliersIntoTheNumberOfBins) {
  std::vector<double> raw;
  for (int i = 0; i < 10; ++i) raw.insert(raw.end(), {1.0, 1.1});
  raw.push_back(9.0);
  const Binning binning = bin_scores(raw);
  EXPECT_THAT(binning.outliers, ElementsAre(GpuId(20U)));
  EXPECT_EQ(binning.k1, 2u);
  EXPECT_EQ(binning.scores.bin_values.size(), 3u);
  EXPECT_EQ(binning.inertia, 0);
}

TEST(Binning, TheArtifactAlwaysTakesTwo) {
  const std::vector<double> raw = {1.0, 1.001, 1.5, 1.501, 2.0, 2.001};
  EXPECT_EQ(bin_scores(raw).k1, 3u);
  const Binning artifact = bin_scores(raw, {.k1_rule = K1Rule::Artifact, .fixed_k = {}});
  EXPECT_EQ(artifact.k1, 2u);
  EXPECT_EQ(artifact.scores.bin_values.size(), 2u);
}

TEST(Binning, ANumberOfBinsCanBeFixed) {
  const std::vector<double> raw = {1.0, 1.001, 1.5, 1.501, 2.0, 2.001};
  for (const uint32_t k : {1U, 2U, 3U, 6U}) {
    EXPECT_EQ(bin_scores(raw, {.k1_rule = {}, .fixed_k = k}).scores.bin_values.size(), k);
  }
  EXPECT_EQ(bin_scores(raw, {.k1_rule = {}, .fixed_k = 100}).scores.bin_values.size(), 6u);
  EXPECT_THAT(bin_scores(raw, {.k1_rule = {}, .fixed_k = 1}).scores.bin_values, ElementsAre(1.0));
}

TEST(Binning, FewOrEqualScores) {
  for (const size_t size : {1U, 2U, 3U, 64U}) {
    for (const double score : {1.0, 0.1, 1e6, 1e-300}) {
      const Binning binning = bin_scores(std::vector<double>(size, score));
      EXPECT_THAT(binning.scores.bin_values, ElementsAre(1.0)) << size << " x " << score;
      EXPECT_TRUE(binning.outliers.empty());
    }
  }
  EXPECT_EQ(bin_scores({1, 2}).scores.bin_values.size(), 2u);
  EXPECT_EQ(bin_scores({1, 2, 2}).k1, 2u);
}

TEST(Binning, NeverMoreBinsThanAByteCounts) {
  std::vector<double> raw;
  for (int i = 0; i < 400; ++i) raw.push_back(1 + i * 0.01);
  const Binning binning = bin_scores(raw, {.k1_rule = {}, .fixed_k = 400});
  EXPECT_EQ(binning.scores.bin_values.size(), Binning::kBinsMax);
}

TEST(Binning, RulesHaveNames) {
  EXPECT_EQ(parse_k1_rule("artifact"), K1Rule::Artifact);
  EXPECT_EQ(parse_k1_rule("silhouette"), K1Rule::Silhouette);
  ASSERT_FALSE(parse_k1_rule("elbow"));
  EXPECT_THAT(parse_k1_rule("elbow").error().text(), testing::HasSubstr("silhouette, artifact"));
}

RC_GTEST_PROP(Binning, BinsFollowTheScores, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 80);
  std::vector<double> raw;
  for (size_t i = 0; i < size; ++i) raw.push_back(*rc::gen::inRange(1, 400) / 100.0);
  BinningOptions options;
  options.k1_rule = *rc::gen::element(K1Rule::Silhouette, K1Rule::Artifact);
  const ClassScores scores = bin_scores(raw, options).scores;
  RC_ASSERT(scores.raw == raw);
  RC_ASSERT(std::ranges::is_sorted(scores.bin_values));
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) {
      if (raw[i] <= raw[j]) RC_ASSERT(scores.bin[i] <= scores.bin[j]);
    }
  }
}

// Sum of squared distances of the raw scores to the mean of their bin.
double inertia_of(const ClassScores& scores) {
  std::vector<double> sum(scores.bin_values.size()), count(scores.bin_values.size());
  for (size_t gpu = 0; gpu < scores.raw.size(); ++gpu) {
    sum[scores.bin[gpu]] += scores.raw[gpu];
    count[scores.bin[gpu]] += 1;
  }
  double inertia = 0;
  for (size_t gpu = 0; gpu < scores.raw.size(); ++gpu) {
    const double off = scores.raw[gpu] - sum[scores.bin[gpu]] / count[scores.bin[gpu]];
    inertia += off * off;
  }
  return inertia;
}

struct ReferenceTable {
  const char* file;
  K1Rule rule;
  const char* local_optima;  ///< classes in which the reference is a local optimum
};

std::ostream& operator<<(std::ostream& out, const ReferenceTable& table) {
  return out << table.file;
}

class BinningReference : public testing::TestWithParam<ReferenceTable> {};

TEST_P(BinningReference, MatchesTheArtifactsBins) {
  const auto path = base::test_data(std::string("pal/reference/") + GetParam().file);
  if (!path) GTEST_SKIP() << path.error().text();
  const auto reference = parse_scores(base::read_text_file(*path).value(), *path, std::nullopt);
  ASSERT_TRUE(reference) << reference.error().text();
  ASSERT_EQ(reference->num_classes(), 4u);
  for (uint8_t c = 0; c < 4; ++c) {
    const model::AppClass app_class{c};
    const ClassScores& wanted = reference->of(app_class);
    const Binning binning = bin_scores(wanted.raw, {.k1_rule = GetParam().rule, .fixed_k = {}});
    if (std::string_view(GetParam().local_optima).find(app_class.letter()) !=
        std::string_view::npos) {
      EXPECT_EQ(binning.scores.bin_values.size(), wanted.bin_values.size());
      EXPECT_LE(binning.inertia, inertia_of(wanted)) << app_class.letter();
      continue;
    }
    EXPECT_EQ(binning.scores.bin, wanted.bin) << app_class.letter();
    ASSERT_EQ(binning.scores.bin_values.size(), wanted.bin_values.size()) << app_class.letter();
    for (size_t bin = 0; bin < wanted.bin_values.size(); ++bin) {
      EXPECT_NEAR(binning.scores.bin_values[bin], wanted.bin_values[bin], 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, BinningReference,
    testing::Values(
        ReferenceTable{"gpu_scores_16x4_binned_code_K2.csv", K1Rule::Artifact, ""},
        ReferenceTable{"gpu_scores_64x4_binned_code_K2.csv", K1Rule::Artifact, ""},
        ReferenceTable{"gpu_scores_16x4_binned_paper_silhouette.csv", K1Rule::Silhouette, ""},
        ReferenceTable{"gpu_scores_64x4_binned_paper_silhouette.csv", K1Rule::Silhouette, "BC"}),
    [](const auto& table) {
      std::string name = table.param.file;
      return name.substr(11, 4) + (table.param.rule == K1Rule::Artifact ? "K2" : "Silhouette");
    });

TEST(Binning, SilhouetteChoosesTheSpecsK1) {
  const auto path = base::test_data("pal/reference/gpu_scores_16x4_binned_code_K2.csv");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto scores = parse_scores(base::read_text_file(*path).value(), *path, 64);
  ASSERT_TRUE(scores) << scores.error().text();
  std::vector<uint32_t> k1;
  for (uint8_t c = 0; c < 4; ++c) k1.push_back(bin_scores(scores->of({c}).raw).k1);
  EXPECT_THAT(k1, ElementsAre(2, 4, 3, 2));
}

}  // namespace
}  // namespace goban::core::knowledge
