// ElasticFlow's simulator: small traces by hand, and the published log of edf, map by map and row
// by row, where the data is present.
#include "study/rivals/elasticflow.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "study/rivals/node_classes.hpp"

namespace goban::study::rivals {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> map_lines(const ElasticRun& run) {
  std::vector<std::string> lines;
  for (const Decision& map : run.maps) {
    lines.emplace_back();
    append_decision(lines.back(), map);
    lines.back().pop_back();
  }
  return lines;
}

std::string rows(const ElasticRun& run, const ElasticInputs& inputs) {
  const std::string csv = run.rows_csv(inputs.jobs);
  return csv.substr(csv.find('\n') + 1);
}

// Job 0 runs on its 4 GPUs until the slot's end at 240 s, with 40 steps left. Job 1 has the earlier
// deadline and takes all 8 for 150 s; job 0 goes on after that slot.
TEST(ElasticFlow, EdfByHand) {
  ElasticInputs inputs;
  inputs.num_nodes = 1;
  inputs.jobs = {{.submit_s = 0,
                  .iterations = 1000,
                  .model = "m",
                  .deadline_s = 1000,
                  .batch = 4,
                  .gpus = 1,
                  .duration_s = 1},
                 {.submit_s = 100,
                  .iterations = 1200,
                  .model = "m",
                  .deadline_s = 500,
                  .batch = 8,
                  .gpus = 1,
                  .duration_s = 1}};
  for (const int32_t gpus : {1, 2, 4}) inputs.rates.add("m", 4, gpus, gpus);
  for (const int32_t gpus : {1, 2, 4, 8}) inputs.rates.add("m", 8, gpus, gpus);
  const auto run = run_elastic_edf(inputs);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_THAT(map_lines(*run), ElementsAre("[0, [[0, [0, 1, 2, 3]]], []]",
                                           "[240, [[1, [0, 1, 2, 3, 4, 5, 6, 7]]], []]",
                                           "[480, [[0, [0, 1, 2, 3]]], [1]]", "[490, [], [0]]"));
  EXPECT_EQ(rows(*run, inputs),
            "480,1,8,100,240,390,500,150,290,140,0,0,0\n"
            "490,0,4,0,0,490,1000,490,490,0,0,0,0\n");
  EXPECT_EQ(run->makespan_s, 490);
  EXPECT_EQ(run->mean_jct_s, 390);
}

ElasticInputs two_whole_nodes(double second_submit_s, double first_s, double second_s) {
  ElasticInputs inputs;
  inputs.num_nodes = 1;
  inputs.jobs = {{.submit_s = 0,
                  .iterations = 10'000,
                  .model = "m",
                  .deadline_s = 0,
                  .batch = 8,
                  .gpus = 8,
                  .duration_s = first_s},
                 {.submit_s = second_submit_s,
                  .iterations = 10'000,
                  .model = "m",
                  .deadline_s = 0,
                  .batch = 8,
                  .gpus = 8,
                  .duration_s = second_s}};
  inputs.rates.add("m", 8, 8, 1);
  return inputs;
}

// Job 0 pays 10 s when job 1 is still to come and is at 90 s when it comes. It keeps the node, for
// 340 s is no whole minute, ends 30 s before the decision, and job 1 ends 140 s before its last.
TEST(ElasticFlow, GandivaByHand) {
  const ElasticInputs inputs = two_whole_nodes(100, 300, 100);
  const auto run = run_elastic_gandiva(inputs);
  ASSERT_TRUE(run) << run.error().text();
  const std::string all = "[0, 1, 2, 3, 4, 5, 6, 7]";
  EXPECT_THAT(map_lines(*run),
              ElementsAre("[0, [[0, " + all + "]], []]", "[100, [[0, " + all + "]], []]",
                          "[340, [[1, " + all + "]], [0]]", "[580, [], [1]]"));
  EXPECT_EQ(rows(*run, inputs),
            "340,0,8,0,0,310,0,310,310,0,0,0,0\n"
            "580,1,8,100,100,440,0,340,340,0,0,0,0\n");
}

// Equal jobs get equal shares, and the first one the first lease; the other one, which has waited,
// the second.
TEST(ElasticFlow, ThemisByHand) {
  const ElasticInputs inputs = two_whole_nodes(0, 300, 200);
  const auto run = run_elastic_themis(inputs);
  ASSERT_TRUE(run) << run.error().text();
  const std::string all = "[0, 1, 2, 3, 4, 5, 6, 7]";
  EXPECT_THAT(map_lines(*run),
              ElementsAre("[0, [[0, " + all + "]], []]", "[240, [[1, " + all + "]], []]",
                          "[480, [[0, " + all + "]], [1]]", "[720, [], [0]]"));
  ASSERT_EQ(run->shares.size(), 3U);
  EXPECT_NEAR(run->shares[0].shares[0], 0.5, 1e-12);
  EXPECT_NEAR(run->shares[1].shares[0], 0.488 / 0.988, 1e-12);
  EXPECT_NEAR(run->shares[1].shares[1], 0.5 / 0.988, 1e-12);
  EXPECT_THAT(run->shares[2].shares, ElementsAre(testing::DoubleNear(1, 1e-12)));
  ASSERT_EQ(run->rows.size(), 2U);
  EXPECT_EQ(run->rows[0].end_s, 440);
  EXPECT_EQ(run->rows[1].end_s, 540);
}

TEST(ElasticFlow, SmallJobsFillTheNodesOfOthers) {
  const std::vector<PlacedJob> jobs = {{0, 1}, {1, 16}, {2, 4}, {3, 2}, {4, 4}};
  // 16 on two nodes; 4 and 4 share the third, 2 and 1 the fourth.
  const auto placed = place_elastic(jobs, 4);
  ASSERT_TRUE(placed);
  const std::vector<Holding> expected = {
      {0, {26}},
      {1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
      {2, {16, 17, 18, 19}},
      {3, {24, 25}},
      {4, {20, 21, 22, 23}}};
  EXPECT_EQ(*placed, expected);
  EXPECT_FALSE(place_elastic(jobs, 3));
}

TEST(ElasticFlow, RefusesWhatItCannotReplay) {
  ElasticInputs inputs = two_whole_nodes(0, 300, 200);
  EXPECT_THAT(run_elastic_edf(inputs).error().message, HasSubstr("on 1 GPUs, which job 0 needs"));
  inputs.jobs[1].gpus = 3;
  EXPECT_THAT(run_elastic_gandiva(inputs).error().message, HasSubstr("job 1: no node sets for 3"));
  EXPECT_THAT(run_elastic_themis(inputs).error().message, HasSubstr("job 1: no node sets for 3"));
}

/// The published trace; skips where it is absent.
class PublishedElasticFlow : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = base::test_data("rivals/elasticflow");
    if (!folder) GTEST_SKIP() << folder.error().text();
    folder_ = *folder;
    inputs_.jobs = parse_elasticflow_trace(text("trace.csv"), "trace.csv").value();
    inputs_.rates = parse_rates(text("rates_a100.csv"), "rates_a100.csv").value();
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    return base::read_text_file(folder_ + "/" + file).value();
  }
  [[nodiscard]] bool has(const std::string& file) const {
    return std::filesystem::exists(folder_ + "/" + file);
  }
  /// Every map.
  void expect_equal(const std::string& policy, const ElasticRun& run) const {
    const std::string published = text(policy + ".maps.jsonl.gz");
    size_t map = 0;
    for (size_t from = 0; from < published.size(); ++map) {
      const size_t end = published.find('\n', from);
      ASSERT_LT(map, run.maps.size());
      nlohmann::json own = nlohmann::json::array();
      for (const Holding& each : run.maps[map].holdings) own.push_back({each.job, each.gpus});
      const auto line = nlohmann::json::parse(published.substr(from, end - from));
      ASSERT_EQ(std::stod(line[0].get<std::string>()), run.maps[map].now_s) << map;
      ASSERT_EQ(line[1], own) << map;
      from = end + 1;
    }
    EXPECT_EQ(map, run.maps.size());
  }
  std::string folder_;
  ElasticInputs inputs_;
};

TEST_F(PublishedElasticFlow, EdfIsEqual) {
  const auto run = run_elastic_edf(inputs_);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->maps.size(), 195U);
  expect_equal("edf", *run);
  EXPECT_EQ(run->rows_csv(inputs_.jobs), text("edf.jobs.csv"));
}

// The logs of these two may be added to the folder, those of themis with the shares.
TEST_F(PublishedElasticFlow, GandivaIsEqual) {
  if (!has("gandiva.maps.jsonl.gz")) GTEST_SKIP() << "no gandiva.maps.jsonl.gz";
  expect_equal("gandiva", run_elastic_gandiva(inputs_).value());
}

TEST_F(PublishedElasticFlow, ThemisWithRecordedSharesIsEqual) {
  if (!has("themis.maps.jsonl.gz")) GTEST_SKIP() << "no themis.maps.jsonl.gz";
  inputs_.shares = parse_shares(text("themis.shares.jsonl.gz"), "shares").value();
  expect_equal("themis", run_elastic_themis(inputs_).value());
}

// Without their logs; the numbers of maps are stated in docs/studies/rivals.md.
TEST_F(PublishedElasticFlow, TheOthersHaveAsManyMapsAsPublished) {
  const auto gandiva = run_elastic_gandiva(inputs_);
  ASSERT_TRUE(gandiva) << gandiva.error().text();
  EXPECT_EQ(gandiva->maps.size(), 5733U - 195U - 3086U);
  EXPECT_EQ(gandiva->rows.size(), 100U);
  const auto themis = run_elastic_themis(inputs_);
  ASSERT_TRUE(themis) << themis.error().text();
  EXPECT_EQ(themis->maps.size(), 3086U);
  EXPECT_EQ(themis->rows.size(), 100U);
}

}  // namespace
}  // namespace goban::study::rivals
