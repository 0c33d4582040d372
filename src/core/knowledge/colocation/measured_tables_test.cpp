// The published measurements: EaCO's tables against the model, and Gavel's throughputs.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/knowledge/colocation/eaco_tables.hpp"
#include "core/knowledge/colocation/gavel_throughputs.hpp"
#include "core/knowledge/energy/power_presets.hpp"

namespace goban::core::knowledge {
namespace {

TEST(EacoTables, TheModelMeetsTheStatedErrors) {
  const auto preset = make_power_preset("v100");
  const auto result = replay_eaco(eaco_rows(), preset->models[0]);
  ASSERT_TRUE(result) << result.error().text();
  // Stated with two digits; measured 1.85, 4.25, 3.44 and 7.19 %.
  EXPECT_NEAR(result->curve.mean, 0.0185, 0.0001);
  EXPECT_NEAR(result->curve.max, 0.0425, 0.0001);
  EXPECT_NEAR(result->composition.mean, 0.0344, 0.0001);
  EXPECT_NEAR(result->composition.max, 0.0719, 0.0001);
  for (const EacoReplay& replay : result->rows) {
    EXPECT_DOUBLE_EQ(replay.lookup_w, replay.row.node_w) << replay.row.set;
    EXPECT_DOUBLE_EQ(replay.lookup_jct_h, replay.row.jct_h) << replay.row.set;
  }
}

TEST(EacoTables, SavingsAreThoseOfTheTables) {
  const auto preset = make_power_preset("v100");
  const auto result = replay_eaco(eaco_rows(), preset->models[0]);
  ASSERT_TRUE(result);
  // EaCO, Tables 1 to 4, recomputed from the rows.
  const std::vector<double> saved_pct = {29.8, 31.4, 31.7, 44.5, 42.4, 42.1};
  for (size_t i = 0; i < saved_pct.size(); ++i) {
    const EacoReplay& replay = result->rows[4 + i];
    EXPECT_NEAR(100 * (1 - replay.row.energy_kwh / replay.alone_kwh), saved_pct[i], 0.06);
  }
}

TEST(EacoTables, TheConstantsAreTheRetypedTables) {
  std::vector<EacoRow> rows;
  for (const char* name : {"eaco_table1_2_isolated.csv", "eaco_table3_4_colocated.csv"}) {
    const auto path = base::test_data(std::string("colocation/eaco_tables/") + name);
    if (!path) GTEST_SKIP() << path.error().text();
    const auto table = parse_eaco_table(base::read_text_file(*path).value(), name);
    ASSERT_TRUE(table) << table.error().text();
    rows.insert(rows.end(), table->begin(), table->end());
  }
  const auto constants = eaco_rows();
  ASSERT_EQ(rows.size(), constants.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].set, constants[i].set);
    EXPECT_EQ(rows[i].model, constants[i].model);
    EXPECT_EQ(rows[i].node_w, constants[i].node_w);
    EXPECT_EQ(rows[i].energy_kwh, constants[i].energy_kwh);
    EXPECT_EQ(rows[i].jct_h, constants[i].jct_h);
    EXPECT_EQ(rows[i].util_pct, constants[i].util_pct);
  }
}

TEST(EacoTables, Problems) {
  auto rows = eaco_rows();
  rows.erase(rows.begin());
  EXPECT_EQ(eaco_history(rows).error().text(),
            "J1+J3: J1 was not measured alone (give every member exactly one row alone)");
  rows.push_back(rows.back());
  EXPECT_THAT(eaco_history(rows).error().text(), testing::HasSubstr("is listed twice"));
  EXPECT_EQ(parse_eaco_table("job,model,avg_power_w,total_energy_kwh,jct_h,avg_gpu_util_pct\n"
                             "J1,AlexNet,-712,1,1,1\n",
                             "t.csv")
                .error()
                .text(),
            "t.csv:2:12: avg_power_w: '-712' is not a number above 0 and at most 1000000 (give the "
            "value of the paper's table)");
}

const char* const kGavel = R"doc({"v100": {
  "('ResNet-18 (batch size 16)', 1)": {"null": 10.0, "('A3C', 1)": [5.0, 8.0],
    "('ResNet-18 (batch size 16)', 1)": [4.0, 4.0], "('A3C', 2)": [0.0, 0.0]},
  "('A3C', 1)": {"null": 9.0, "('ResNet-18 (batch size 16)', 1)": [8.0, 5.0],
    "('A3C', 1)": [0.0, 0.0]},
  "('A3C', 2)": {"null": 17.0}},
 "v100_unconsolidated": {}})doc";

TEST(GavelThroughputs, BecomesAHistory) {
  const auto import = parse_gavel_throughputs(kGavel, "g.json");
  ASSERT_TRUE(import) << import.error().text();
  EXPECT_EQ(import->alone, 2);
  EXPECT_EQ(import->pairs, 2);
  EXPECT_EQ(import->never, 1);
  EXPECT_EQ(import->multi_gpu, 2);
  EXPECT_EQ(import->unconsolidated, 1);
  const auto again = parse_colocation(to_csv(import->history), "h.csv");
  ASSERT_TRUE(again) << again.error().text();
  const ColocationPredictor predictor(*again);
  const GpuTypeId v100 = again->find_gpu_type("V100");
  const std::vector<AppId> pair = {again->find_app("ResNet-18", "batch 16"),
                                   again->find_app("A3C", "")};
  const auto prediction = predictor.predict(v100, pair);
  EXPECT_EQ(prediction.level, PredictionLevel::Measured);
  EXPECT_EQ(prediction.mean[0], 2);
  EXPECT_EQ(prediction.mean[1], 9.0 / 8);
  const std::vector<AppId> never = {pair[1], pair[1]};
  EXPECT_FALSE(predictor.predict(v100, never).packable());
}

TEST(GavelThroughputs, Problems) {
  const auto problem = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    const auto import = parse_gavel_throughputs(text, "g.json");
    return import ? "" : import.error().text();
  };
  EXPECT_THAT(
      problem(kGavel, "[8.0, 5.0]", "[8.0, 2.0]"),
      testing::HasSubstr("ResNet-18@batch 16 is slowed 2 times here, 5 times in an earlier"));
  EXPECT_THAT(problem(kGavel, "[8.0, 5.0]", "[8.0, -5.0]"),
              testing::HasSubstr("must be a pair of rates"));
  EXPECT_THAT(problem(kGavel, "\"null\": 9.0", "\"null\": \"x\""),
              testing::HasSubstr("no rate alone"));
  EXPECT_THAT(problem(kGavel, "('A3C', 2)\": {", "A3C\": {"),
              testing::HasSubstr("is not a job type"));
  EXPECT_THAT(problem(kGavel, "{\"v100\"", "[\"v100\""), testing::HasSubstr("cannot be read"));
}

/// Value at a quantile of the sorted values, interpolated.
double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

TEST(GavelThroughputs, RealDataHasTheStatedDistribution) {
  const auto path = base::test_data("colocation/gavel/simulation_throughputs.json");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto import = parse_gavel_throughputs(base::read_text_file(*path).value(), "gavel");
  ASSERT_TRUE(import) << import.error().text();
  EXPECT_EQ(import->alone, 3 * 26);
  EXPECT_EQ(import->pairs + import->never, 3 * 26 * 27 / 2);
  const auto again = parse_colocation(to_csv(import->history), "h.csv");
  ASSERT_TRUE(again) << again.error().text();
  const GpuTypeId v100 = again->find_gpu_type("V100");
  const ColocationPredictor predictor(*again);
  std::vector<double> sums;       // counting ordered pairs
  std::vector<double> resnet_50;  // with itself at any batch size
  int never = 0;
  for (const MeasuredSet& set : again->sets()) {
    if (set.gpu_type != v100 || set.size != 2) continue;
    const int ordered = set.apps[0] == set.apps[1] ? 1 : 2;
    if (set.never) {
      never += ordered;
      continue;
    }
    const double sum = predictor.predict(v100, set.members()).sum_of_rates();
    for (int i = 0; i < ordered; ++i) sums.push_back(sum);
    const auto is_resnet_50 = [&](AppId app) {
      return again->app_name(app).starts_with("ResNet-50@");
    };
    if (std::ranges::all_of(set.members(), is_resnet_50)) {
      for (int i = 0; i < ordered; ++i) resnet_50.push_back(sum);
    }
  }
  EXPECT_EQ(never, 40);
  EXPECT_EQ(sums.size(), 676u - 40u);
  EXPECT_NEAR(quantile(sums, 0.05), 0.54, 0.01);
  EXPECT_NEAR(quantile(sums, 0.25), 1.14, 0.006);
  EXPECT_NEAR(quantile(sums, 0.50), 1.37, 0.006);
  EXPECT_NEAR(quantile(sums, 0.75), 1.58, 0.006);
  EXPECT_NEAR(quantile(sums, 0.95), 1.95, 0.006);
  double total = 0;
  for (const double sum : resnet_50) total += sum;
  EXPECT_NEAR(total / static_cast<double>(resnet_50.size()), 0.77, 0.01);
}

}  // namespace
}  // namespace goban::core::knowledge
