#include "study/what_if.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <vector>

#include "base/time.hpp"
#include "site/store/job_store.hpp"

namespace goban::study {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr base::TimeNs kNow = 1'700'000'000 * base::kSecond;

struct WhatIfTest : testing::Test {
  WhatIfTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "goban_if_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    site.store = folder + "/store.sqlite";
    core::model::ClusterBuilder builder("here");
    builder.add_gpu_model({.name = "virtual"});
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = "n0";
    placed.node.num_gpus = 2;
    builder.add_node(std::move(placed));
    cluster = builder.build().value();
  }
  ~WhatIfTest() override { std::filesystem::remove_all(folder); }

  /// A job that held both GPUs for 100 s and waited for `wait_s`.
  void put(int number, double days_ago, double wait_s, const std::string& model = {}) {
    const std::string id = std::to_string(number);
    site::records::AccountingRecord record;
    record.id = id;
    record.job_number = number;
    record.user = "ann";
    record.submit_ns = kNow - static_cast<base::TimeNs>(days_ago * static_cast<double>(base::kDay));
    record.start_ns = record.submit_ns + base::from_seconds(wait_s);
    record.end_ns = record.start_ns + 100 * base::kSecond;
    record.state = site::records::RecordedState::Completed;
    record.num_gpus = 2;
    record.model = model;
    auto store = site::store::JobStore::open(site.store, true);
    ASSERT_TRUE(store) << store.error().text();
    const auto written = store->append({&record, 1}, "test");
    ASSERT_TRUE(written) << written.error().text();
  }
  base::Result<std::string> ask(const std::string& question, WhatIfLimits limits = {}) {
    WhatIf what_if(site, limits);
    what_if.wall_clock = [] { return kNow; };
    return what_if.answer(question, cluster, core::knowledge::PmScores::uniform(2));
  }

  std::string folder;
  core::model::Cluster cluster;
  WhatIfSite site;
};

TEST_F(WhatIfTest, ReplaysTheLastDays) {
  put(1, 30, 0);  // before the period
  put(2, 2, 500);
  put(3, 2, 700);
  const auto answer = ask(R"({"policies": ["fifo+packed", "las+pal"], "days": 7})");
  ASSERT_TRUE(answer) << answer.error().text();
  const json found = json::parse(*answer);
  EXPECT_EQ(found["jobs"], 2);
  EXPECT_EQ(found["left_out"], 0);
  ASSERT_EQ(found["policies"].size(), 3U);
  EXPECT_EQ(found["policies"][0]["policy"], "as recorded");
  EXPECT_EQ(found["policies"][0]["avg_wait_s"], 600);
  EXPECT_EQ(found["policies"][0]["avg_jct_s"], 700);
  EXPECT_EQ(found["policies"][1]["policy"], "fifo+packed");
  // The first starts immediately, the second after it: 0 and 100 s.
  EXPECT_EQ(found["policies"][1]["avg_wait_s"], 50);
  EXPECT_EQ(found["policies"][1]["avg_jct_s"], 150);
  EXPECT_NEAR(found["policies"][1]["gpu_hours"].get<double>(), 400.0 / 3600, 1e-9);
  EXPECT_FALSE(found["policies"][1].contains("jobs_kwh")) << "power is unknown";
}

TEST_F(WhatIfTest, EnergyFollowsFromAPowerModel) {
  put(1, 1, 0);
  site.energy = "v100";
  const auto answer = ask(R"({"policies": ["fifo+packed"]})");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_GT(json::parse(*answer)["policies"][1]["jobs_kwh"].get<double>(), 0);
}

TEST_F(WhatIfTest, SharesAsTheDaemonDoes) {
  put(1, 1, 0, "a");
  put(2, 1, 0, "b");
  site.colocation = folder + "/pairs.csv";
  std::ofstream(site.colocation) << "gpu_type,members,slowdowns\nvirtual,a,\nvirtual,b,\n"
                                    "virtual,a + b,1.1 + 1.1\n";
  const auto wait_s = [&] {
    const auto answer = ask(R"({"policies": ["best-pair"]})");
    EXPECT_TRUE(answer) << answer.error().text();
    return answer ? json::parse(*answer)["policies"][1]["avg_wait_s"].get<double>() : -1;
  };
  EXPECT_EQ(wait_s(), 50) << "neither allows co-location: 0 and 100 s";
  site.sharing = {"everyone=1", "within_account=0"};
  EXPECT_EQ(wait_s(), 0);
}

TEST_F(WhatIfTest, RefusesWhatMakesNoSense) {
  put(1, 1, 0);
  for (const char* question :
       {"{}", "[]", R"({"policies": []})", R"({"policies": [1]})", R"({"policies": "fifo"})",
        R"({"policies": ["fifo"], "days": 0})", R"({"policies": ["fifo"], "days": 1e9})",
        R"({"policies": ["fifo"], "weeks": 1})", R"({"policies": ["no such policy"]})"}) {
    const auto answer = ask(question);
    ASSERT_FALSE(answer) << question;
    EXPECT_NE(answer.error().code, base::ErrorCode::Failed) << question;
  }
  const auto none = ask(R"({"policies": ["fifo"], "days": 0.5})");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("0.5 days"));
}

TEST_F(WhatIfTest, GivesUpInTime) {
  for (int i = 1; i <= 50; ++i) put(i, 1, 0);
  const auto answer = ask(R"({"policies": ["fifo+packed"]})", {.time_s = 0});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().text(), HasSubstr("took longer than 0 s"));
  EXPECT_EQ(answer.error().code, base::ErrorCode::Failed);
}

}  // namespace
}  // namespace goban::study
