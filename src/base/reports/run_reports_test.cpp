#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/reports/run_reports_json.hpp"

namespace goban::base::reports {
namespace {

using nlohmann::json;

template <typename T>
T read(const json& from) {
  T out;
  FieldReader in(from, "");
  read_fields(in, out);
  EXPECT_TRUE(in.good()) << in.status().error().text();
  return out;
}

template <typename T>
std::string problem(const char* text) {
  const json from = json::parse(text);
  T out;
  FieldReader in(from, "");
  read_fields(in, out);
  return in.good() ? "none" : in.status().error().text();
}

const RunProgress kProgress = {
    .latest = {.epoch = 1.3,
               .epochs = 4,
               .step = 130,
               .steps = 400,
               .samples_per_s = 1e3 / 3,
               .loss = -0.7,
               .busy_s = 6.1,
               .input_stall_pct = 2.5},
    .checkpoint_step = 120,
    .ranks = {{.rank = 0, .ranks = 2, .steps = 40, .busy_s = 3.3, .wait_s = 0.7, .data_s = 0},
              {.rank = 1, .ranks = 2, .steps = 41, .busy_s = 3.9, .wait_s = 0.1}},
    .pace = {.steps = {.done = 40, .over_s = 4.1}, .epochs = {.done = 0.3, .over_s = 4}}};

const RunUsage kUsage = {.cpu_s = 12.125,
                         .mem_bytes_max = 3'221'225'472,
                         .gpu_mem_bytes_max = 9'007'199'254'740'993,
                         .gpu_util_pct = 63.3F,
                         .memory_busy_pct = 21.7F,
                         .dram_util_pct = 11.1F,
                         .fu_util_pct = 0,
                         .energy_j = 0.1};

TEST(RunReports, AreReadBackToTheBit) {
  EXPECT_EQ(read<RunProgress>(json::parse(to_json(kProgress).dump())), kProgress);
  EXPECT_EQ(read<RunUsage>(json::parse(to_json(kUsage).dump())), kUsage);
  EXPECT_EQ(read<RunProgress>(to_json(RunProgress{})), RunProgress{});
  EXPECT_EQ(read<RunUsage>(to_json(RunUsage{})), RunUsage{});
}

TEST(RunReports, HaveTheFieldNamesOfTheApi) {
  EXPECT_EQ(to_json(RunUsage{.cpu_s = 1, .mem_bytes_max = 2, .gpu_util_pct = 0, .energy_j = 3}),
            json::parse(R"({"cpu_s":1.0,"mem_bytes_max":2,"gpu_util_pct":0.0,"energy_j":3.0})"));
  EXPECT_EQ(to_json(kProgress).dump(),
            R"({"busy_s":6.1,"checkpoint_step":120,"checkpointed":false,"epoch":1.3,"epochs":4.0,)"
            R"("input_stall_pct":2.5,"loss":-0.7,)"
            R"("pace":{"epochs":0.3,"epochs_s":4.0,"steps":40.0,"steps_s":4.1},)"
            R"("ranks":[{"busy_s":3.3,"data_s":0.0,"rank":0,"ranks":2,"steps":40,"wait_s":0.7},)"
            R"({"busy_s":3.9,"rank":1,"ranks":2,"steps":41,"wait_s":0.1}],)"
            R"("samples_per_s":333.3333333333333,"step":130,"steps":400})");
}

TEST(RunReports, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(to_json(RunUsage{}), json::object());
  EXPECT_EQ(to_json(ProgressReport{}), json::parse(R"({"checkpointed":false})"));
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_json(RunUsage{.cpu_s = inf, .energy_j = -0.5}), json::object());
}

// As the journal of release 0.1 has them.
TEST(RunReports, OlderShortNamesAreRead) {
  EXPECT_EQ(read<RunUsage>(json::parse(
                R"({"cpu_s":12.125,"dram":11.100000381469727,"energy":0.1,"fu":0.0,)"
                R"("gpu_mem":9007199254740993,"mem":3221225472,"mem_busy":21.700000762939453,)"
                R"("util":63.29999923706055})")),
            kUsage);
  EXPECT_EQ(read<RunUsage>(
                json::parse(R"({"cpu_s":-1.0,"energy":-1.0,"gpu_mem":-1,"mem":-1,"util":-1.0})")),
            RunUsage{});
  const auto said = read<ProgressReport>(
      json::parse(R"({"busy_s":6.1,"epoch":1.3,"epochs":4.0,"loss":0.7,"samples_per_s":3.5,)"
                  R"("saved":true,"stall":2.5,"step":130,"steps":400})"));
  EXPECT_TRUE(said.checkpointed);
  EXPECT_EQ(said.input_stall_pct, 2.5);
  EXPECT_EQ(said.step, 130);
}

// As the files of runs of release 0.1 have them.
TEST(RunReports, OlderListsAreRead) {
  const json file = json::parse(
      R"({"busy_s":6.1,"checkpoint_step":120,"epoch":1.3,"epochs":4.0,"input_stall_pct":2.5,)"
      R"("loss":-0.7,"pace":[40.0,4.1,0.3,4.0],)"
      R"("ranks":[[0,2,40,3.3,0.7,0.0],[1,2,41,3.9,0.1]],)"
      R"("samples_per_s":333.3333333333333,"step":130,"steps":400})");
  EXPECT_EQ(read<RunProgress>(file), kProgress);
}

TEST(RunReports, ProblemsNameTheField) {
  EXPECT_EQ(problem<RunUsage>(R"({"cpu_s":"much"})"), "cpu_s: must be a number");
  EXPECT_EQ(problem<RunUsage>(R"({"dram":101})"), "dram: must be from -1 to 100");
  EXPECT_EQ(problem<RunProgress>(R"({"ranks":[[0,2,40,3.3]]})"), "ranks: has too few numbers");
  EXPECT_EQ(problem<RunProgress>(R"({"pace":[1,2,3]})"), "pace: has too few numbers");
  EXPECT_EQ(problem<RunProgress>(R"({"ranks":[{"rank":-1}]})"),
            "ranks.rank: must be from 0 to 2147483647");
}

}  // namespace
}  // namespace goban::base::reports
