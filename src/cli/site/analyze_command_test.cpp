// goban analyze, run as a program: generated years with known truth, public logs whose figures were
// computed by another program, and invalid input.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/test_data.hpp"
#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class AnalyzeTest : public testing::Test {
 protected:
  AnalyzeTest()
      : folder_(std::string("analyze_") +
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        dir_(folder_.path()) {}
  base::TestFolder folder_;
  std::string dir_;
};

json scalar(const json& report, const std::string& key) {
  for (const auto& item : report["scalars"]) {
    if (item["key"] == key) return item["value"];
  }
  return nullptr;
}
json table(const json& report, const std::string& id) {
  for (const auto& item : report["tables"]) {
    if (item["id"] == id) return item;
  }
  return nullptr;
}
/// The rows of table 2 by "kind nodes".
json walltimes(const json& report, const std::string& name) {
  const json table2 = table(report, "table2_walltime");
  for (const auto& row : table2["rows"]) {
    const auto nodes = row[1].get<std::string>();
    if (row[0].get<std::string>() + (nodes.empty() ? "" : " ") + nodes == name) return row;
  }
  return nullptr;
}

TEST_F(AnalyzeTest, AGeneratedYearGivesThePublishedFigures) {
  const Output run = shell(
      "GOBAN trace generate --like abci-2019 --seed 3 2>/dev/null | "
      "GOBAN analyze - --cluster abci --json 2>/dev/null");
  ASSERT_EQ(run.code, 0);
  const json report = json::parse(run.out);
  EXPECT_EQ(scalar(report, "analysed_jobs"), 497'730);
  EXPECT_NEAR(scalar(report, "one_gpu_share"), 49.42, 0.01);
  EXPECT_NEAR(scalar(report, "one_node_share"), 48.19, 0.01);
  EXPECT_NEAR(scalar(report, "multi_node_share"), 2.39, 0.01);
  EXPECT_NEAR(scalar(report, "whole_single_share"), 95, 0.01);
  EXPECT_NEAR(scalar(report, "two_nodes_share"), 55, 0.01);
  EXPECT_NEAR(scalar(report, "powers_of_two_share"), 90.7, 0.01);
  EXPECT_NEAR(scalar(report, "up_to_eight_share"), 80, 0.01);
  EXPECT_EQ(scalar(report, "submitters"), 389);
  EXPECT_NEAR(scalar(report, "top_share_jobs"), 80, 0.5);
  EXPECT_EQ(scalar(report, "exceeded_jobs"), 16'093);
  EXPECT_NEAR(scalar(report, "exceeded_share"), 3.23, 0.01);
  EXPECT_EQ(scalar(report, "beyond_rack_jobs"), 578);
  EXPECT_NEAR(scalar(report, "beyond_rack_share"), 0.12, 0.005);
  EXPECT_NEAR(scalar(report, "multi_within_day_share"), 98, 0.5);
  EXPECT_NEAR(scalar(report, "spearman_sample"), -0.386, 0.12) << "of one random sample";
  // Table 2: mean, sd, median, min, max in hours, as published.
  const std::vector<std::pair<std::string, std::vector<double>>> published = {
      {"G.small", {2.514, 7.533, .495, .083, 167.385}},
      {"G.large", {4.498, 10.072, .552, .084, 71.932}},
      {"Full 1", {2.848, 8.996, .393, .083, 72.006}},
      {"Full 2", {2.212, 3.040, 1.711, .084, 71.998}},
      {"Full 3-4", {6.024, 7.102, 4.013, .084, 53.502}},
      {"Full 5-8", {6.304, 11.034, 1.347, .084, 72.006}},
      {"Full 9-34", {5.538, 8.355, 1.582, .083, 70.662}},
      {"Full 35-68", {4.108, 10.779, .345, .085, 56.007}},
      {"Full 69-136", {.441, .902, .173, .084, 4.346}},
      {"Full 137-512", {.316, .364, .219, .084, 1.943}}};
  for (const auto& [name, values] : published) {
    const json row = walltimes(report, name);
    ASSERT_FALSE(row.is_null()) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(row[3 + i].get<double>(), values[i], 0.03 * values[i] + 0.002)
          << name << " " << i;
    }
  }
}

TEST_F(AnalyzeTest, ThePopulationOfAllCountsWhatWasGenerated) {
  const std::string jobs = dir_ + "/all.csv";
  ASSERT_EQ(
      shell("GOBAN trace generate --like abci-2019 --population all --jobs 40000 --out " + jobs)
          .code,
      0);
  const auto count = [&jobs](const std::string& pattern) {
    return std::stol(shell("grep -c '" + pattern + "' " + jobs).out);
  };
  const Output run = shell("GOBAN analyze " + jobs + " --cluster abci --json 2>/dev/null");
  ASSERT_EQ(run.code, 0);
  const json rows = table(json::parse(run.out), "funnel")["rows"];
  EXPECT_EQ(rows[0][3], 40'000);
  EXPECT_EQ(rows[3][5], count(",cpu$")) << "condition 1";
  EXPECT_EQ(rows[6][5], count(",short$")) << "condition 4";
  EXPECT_EQ(rows[7][7], count(",dl$") + count(",idle$")) << "without series, idle jobs stay";
}

TEST_F(AnalyzeTest, ThetaGpuHasTheFiguresOfTheSpecification) {
  const auto log = base::test_data("traces/alcf/data_thetagpu.csv.gz");
  if (!log) GTEST_SKIP() << log.error().text();
  const Output run = shell("GOBAN analyze " + *log + " --json 2>/dev/null");
  ASSERT_EQ(run.code, 0);
  const json report = json::parse(run.out);
  EXPECT_EQ(scalar(report, "analysed_jobs"), 13'175);
  const json all = walltimes(report, "all");
  EXPECT_EQ(all[2], 13'175);
  EXPECT_NEAR(all[3], 2.961, 0.0005) << "mean";
  EXPECT_NEAR(all[4], 4.010, 0.0005) << "sd by n - 1";
  EXPECT_NEAR(all[5], 1.001, 0.0005) << "median";
  EXPECT_NEAR(all[6], 0.08337, 0.00001) << "min";
  EXPECT_NEAR(all[7], 40.0007, 0.0001) << "max";
  const json users = table(report, "users")["rows"];
  double most = 0;
  for (const auto& user : users) most = std::max(most, user[1].get<double>());
  EXPECT_EQ(most, 10'928) << "one user has over 80 % of the jobs";
}

TEST_F(AnalyzeTest, PhillyAttemptsHaveTheFiguresOfTheSpecification) {
  const auto log = base::test_data("traces/philly/philly_df_schedule.csv.gz");
  if (!log) GTEST_SKIP() << log.error().text();
  const Output run = shell("GOBAN analyze " + *log + " --json 2>/dev/null");
  ASSERT_EQ(run.code, 0) << run.out.substr(0, 300);
  const json report = json::parse(run.out);
  EXPECT_EQ(scalar(report, "records"), 151'816);
  EXPECT_EQ(scalar(report, "analysed_jobs"), 95'418);
  std::map<int, int> counts;
  const json sizes = table(report, "gpu_counts");
  for (const auto& row : sizes["rows"]) counts[row[0].get<int>()] = row[1].get<int>();
  EXPECT_EQ(counts[1], 122'287);
  EXPECT_EQ(counts[2], 3'435);
  EXPECT_EQ(counts[4], 11'957);
  EXPECT_EQ(counts[8], 11'676);
  EXPECT_EQ(counts[16], 1'910);
}

TEST_F(AnalyzeTest, FilesAreWrittenAndAreTheSameTwice) {
  const std::string jobs = folder_.write(
      "jobs.csv", "job_id,submit_time,duration,num_gpus,user\n1,0,4000,1,u\n2,0,5000,8,v\n");
  const std::string out = dir_ + "/out";
  ASSERT_EQ(shell("GOBAN analyze --jobs " + jobs + " --out " + out).code, 0);
  ASSERT_EQ(shell("mv " + out + " " + dir_ + "/a").code, 0);
  ASSERT_EQ(shell("GOBAN analyze --out " + out + " - < " + jobs).code, 0);
  ASSERT_EQ(shell("mv " + out + " " + dir_ + "/b").code, 0);
  EXPECT_EQ(shell("diff -r " + dir_ + "/a " + dir_ + "/b").code, 0);
  EXPECT_THAT(base::TestFolder::read(dir_ + "/a/tables/table2_walltime.csv"),
              HasSubstr("kind,nodes,jobs,mean_h"));
  EXPECT_EQ(json::parse(base::TestFolder::read(dir_ + "/a/report.json"))["schema"],
            "goban-analysis/1");
}

TEST_F(AnalyzeTest, JapaneseLabelsHaveTheSameKeysAndNumbers) {
  const std::string jobs = folder_.write(
      "jobs.csv", "job_id,submit_time,duration,num_gpus,user\n1,0,4000,1,u\n2,0,5000,8,v\n");
  const json english = json::parse(shell("GOBAN analyze " + jobs + " --json 2>/dev/null").out);
  const json japanese =
      json::parse(shell("GOBAN analyze " + jobs + " --lang ja --json 2>/dev/null").out);
  EXPECT_THAT(japanese["title"].get<std::string>(),
              testing::StartsWith("ジョブ実行履歴の分析: 作成日 "));
  ASSERT_EQ(english["scalars"].size(), japanese["scalars"].size());
  for (size_t i = 0; i < english["scalars"].size(); ++i) {
    EXPECT_EQ(english["scalars"][i]["key"], japanese["scalars"][i]["key"]);
    EXPECT_EQ(english["scalars"][i]["value"], japanese["scalars"][i]["value"]);
  }
}

TEST_F(AnalyzeTest, AnOrganisationSeesItsOwnDataAndTheSizeItNeeds) {
  // Four simultaneous jobs of one hour on a whole node of two GPUs, and a job of another account.
  std::string jobs = "job_id,submit_time,duration,num_gpus,user,account\n";
  for (int i = 0; i < 4; ++i) jobs += std::to_string(i) + ",0,3600,2,u,a\n";
  jobs += "x,0,3600,2,v,b\n";
  const std::string file = folder_.write("jobs.csv", jobs);
  const auto nodes = [&](const std::string& target) {
    const Output run = shell("GOBAN analyze " + file + " --cluster 8x2 --org a --sizing " + target +
                             " --json 2>/dev/null");
    EXPECT_EQ(run.code, 0);
    const json report = json::parse(run.out);
    EXPECT_EQ(scalar(report, "records"), 4);
    EXPECT_EQ(run.out.find("\"v\""), std::string::npos) << "another organisation's user";
    EXPECT_EQ(scalar(report, "cloud_gpus"), 8);
    return scalar(report, "sizing_nodes").get<int>();
  };
  EXPECT_EQ(nodes("--wait-target 0s --wait-share 1"), 4) << "nobody waits";
  EXPECT_EQ(nodes("--wait-target 1h --wait-share 1"), 2) << "two after the other";
  EXPECT_EQ(nodes("--wait-target 3h --wait-share 1"), 1);
  EXPECT_EQ(nodes("--wait-target 2h --wait-share 0.75"), 1);
  EXPECT_EQ(shell("GOBAN analyze " + file + " --org c 2>/dev/null").code, 2);
}

TEST_F(AnalyzeTest, RefusedRecordsOfOthersAreNotWritten) {
  const std::string file = folder_.write("jobs.csv",
                                         "job_id,submit_time,duration,num_gpus,user,account\n"
                                         "1,0,3600,2,u,a\n"
                                         "x,soon,3600,2,stranger,b\n");
  const std::string rules = folder_.write("rules.toml", "hide_users = \"yes\"\n");
  const auto rejects = [&](const std::string& more) {
    EXPECT_EQ(shell("GOBAN analyze " + file + " --out " + dir_ + "/out" + more + " 2>&1").code, 3);
    return base::TestFolder::read(dir_ + "/out/rejects.csv");
  };
  EXPECT_THAT(rejects(""), HasSubstr("x,soon,3600,2,stranger,b"));
  for (const std::string& more : {std::string(" --org a"), " --rules " + rules}) {
    EXPECT_THAT(rejects(more), HasSubstr("line,reason,record\n3,\"submit_time \"\"soon")) << more;
    EXPECT_EQ(shell("grep -r stranger " + dir_ + "/out").out, "") << more;
  }
}

TEST_F(AnalyzeTest, GeneratedSeriesGiveTheirTruth) {
  ASSERT_EQ(shell("GOBAN trace generate --like abci-2019 --with-gpu-series " + dir_ +
                  "/syn --days 2 --nodes 32 2>/dev/null")
                .code,
            0);
  std::istringstream truth(base::TestFolder::read(dir_ + "/syn/truth.csv"));
  std::string line;
  std::getline(truth, line);
  ASSERT_EQ(line, "job_id,gpus,used_gpus,samples,used_mean_pct,used_sd_points,trimmed_max_pct");
  int64_t jobs = 0;
  int64_t used = 0;
  for (; std::getline(truth, line); ++jobs) {
    const size_t gpus = line.find(',');
    used += line.substr(line.find(',', gpus + 1) + 1, 2) == "0," ? 0 : 1;
  }
  ASSERT_GT(used, 100);
  ASSERT_LT(used, jobs) << "some job uses none of its GPUs";
  const Output run = shell("GOBAN analyze " + dir_ + "/syn/jobs.csv --gpu " + dir_ +
                           "/syn/series --cluster abci --json 2>/dev/null");
  ASSERT_EQ(run.code, 0);
  const json rule = table(json::parse(run.out), "funnel")["rows"].back();
  EXPECT_EQ(rule[0], "c5_gpu_use");
  EXPECT_EQ(rule[3], jobs);
  EXPECT_EQ(rule[4], used);
  EXPECT_EQ(rule[6], 0) << "every GPU was sampled";
}

/// The replay commands that a report prints, without the name of the program.
std::vector<std::string> replays(const json& report) {
  std::vector<std::string> commands;
  for (const auto& item : report["tables"]) {
    const auto text = item["text"].get<std::string>();
    const size_t at = text.find("goban simulate ");
    if (at != std::string::npos) commands.push_back(text.substr(at + 6));
  }
  return commands;
}

TEST_F(AnalyzeTest, TheCommandsOfWhatIfsRunAsPrinted) {
  // One beyond the cap, one across racks; every GPU at 30 % with 4 GB.
  const std::string jobs = folder_.write(
      "jobs.csv",
      "job_id,user,submit_unix_s,start_unix_s,end_unix_s,num_gpus,num_nodes,node_list,kind\n"
      "1,u,1600000000,1600000000,1600108000,4,1,g0003,batch\n"
      "2,v,1600000000,1600000000,1600003600,8,2,g[0034-0035],batch\n");
  std::string metrics;
  for (const char* node : {"g0003", "g0034", "g0035"}) {
    const int minutes = node == std::string_view("g0003") ? 1801 : 61;
    for (int i = 0; i < 4 * minutes; ++i) {
      const std::string labels = fmt::format("{{gpu=\"{}\",instance=\"{}\"}}", i % 4, node);
      const int time_s = 1'600'000'000 + 60 * (i / 4);
      metrics += fmt::format("goban_gpu_utilization_percent{} 30 {}\n", labels, time_s);
      metrics += fmt::format("goban_gpu_memory_used_bytes{} 4e9 {}\n", labels, time_s);
    }
  }
  const std::string file = folder_.write("gpus.om", metrics + "# EOF\n");
  const std::string rules =
      folder_.write("rules.toml", "[[what_if.charge]]\nkind = \"*\"\nnow = 1\nthen = 2\n");
  const Output run = shell("GOBAN analyze " + jobs + " --gpu " + file + " --rules " + rules +
                           " --cluster abci --json --out " + dir_ + "/report 2>/dev/null");
  ASSERT_EQ(run.code, 0);
  const auto commands = replays(json::parse(run.out));
  EXPECT_THAT(commands, testing::SizeIs(6)) << "cap, charges, sharing, racks, redesign, uplinks";
  for (const std::string& command : commands) {
    const Output replay = shell("GOBAN " + command + " --json 2>&1 >" + dir_ + "/replay.json");
    EXPECT_EQ(replay.code, 0) << command << "\n" << replay.out;
    const json runs = json::parse(base::TestFolder::read(dir_ + "/replay.json"))["runs"];
    for (const auto& each : runs) EXPECT_EQ(each["jobs"], 2) << command;
  }
  EXPECT_THAT(base::TestFolder::read(dir_ + "/report/what_if/as_recorded.csv"),
              HasSubstr("utilisation 30 memory 4 GiB"));
  EXPECT_THAT(base::TestFolder::read(dir_ + "/report/what_if/colocation.csv"),
              HasSubstr("utilisation 30 memory 4 GiB"));
  EXPECT_THAT(base::TestFolder::read(dir_ + "/report/what_if/capped.csv"), HasSubstr(",172800,4,"));
}

TEST_F(AnalyzeTest, SeriesComeFromFilesOfMetrics) {
  std::string metrics = "# TYPE goban_gpu_utilization_percent gauge\n";
  for (int minute = 0; minute < 11; ++minute) {
    for (const char* gpu : {"0\",instance=\"n1\"} 80 ", "1\",instance=\"n1\"} 0 "}) {
      metrics += "goban_gpu_utilization_percent{gpu=\"" + std::string(gpu) +
                 std::to_string(1'600'000'000 + 60 * minute) + "\n";
    }
  }
  const std::string file = folder_.write("gpu.om", metrics + "# EOF\n");
  const std::string jobs =
      folder_.write("jobs.txt",
                    "JobID|User|Submit|Start|End|State|NNodes|AllocTRES|NodeList\n"
                    "1|a|1600000000|1600000000|1600000600|COMPLETED|1|gres/gpu=2,node=1|n1\n");
  const Output run = shell("GOBAN analyze " + jobs + " --gpu " + file + " --why 1 2>&1");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("U = 80.0 % busy, 0.0 % idle"));
  const Output none = shell("GOBAN analyze " + jobs + " --gpu " + dir_ + "/absent 2>&1");
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.out, HasSubstr("/absent"));
}

TEST_F(AnalyzeTest, BadInputIsRefusedWithARemedy) {
  EXPECT_EQ(shell("GOBAN analyze 2>&1").code, 2);
  EXPECT_THAT(shell("GOBAN analyze 2>&1").out, HasSubstr("sacct ... | goban analyze -"));
  const std::string garbage = folder_.write("garbage", std::string("\x7f\x01\xff garbage\n", 13));
  EXPECT_EQ(shell("GOBAN analyze " + garbage + " 2>&1").code, 3);
  EXPECT_EQ(shell("GOBAN analyze " + dir_ + "/nothing 2>&1").code, 1);
  const std::string backwards = folder_.write(
      "backwards.csv",
      "job_id,submit_time,duration,num_gpus,user,start_time,end_time\n1,0,4000,1,u,100,50\n");
  const Output refused = shell("GOBAN analyze " + backwards + " 2>&1");
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.out, HasSubstr("the first reason"));
  EXPECT_EQ(shell("GOBAN analyze --lang fr " + backwards + " 2>&1").code, 2);
  const std::string header =
      folder_.write("header.csv", "job_id,submit_time,duration,num_gpus,user\n");
  const Output none = shell("GOBAN analyze " + header + " 2>&1");
  EXPECT_EQ(none.code, 0) << none.out;
  EXPECT_THAT(none.out, HasSubstr("no job is left to analyse"));
}

}  // namespace
}  // namespace goban::cli
