// The report of a site as a function, from files to a folder.
#include "site/site_report.hpp"

#include <filesystem>
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "site/cluster_import.hpp"

namespace goban::site {
namespace {

using testing::HasSubstr;

struct SiteReportTest : testing::Test {
  SiteReportTest() {
    options.files = {folder.write("jobs.csv",
                                  "job_id,submit_time,start_time,duration,num_gpus,user,account\n"
                                  "1,1600000000,1600000060,3600,2,ann,physics\n"
                                  "2,1600000000,1600000000,7200,4,ben,biology\n"
                                  "3,never,1600000000,7200,4,ben,biology\n")};
    options.cluster = "4x4";
  }
  std::unique_ptr<SiteReport> load() {
    auto report = SiteReport::load(options, progress);
    EXPECT_TRUE(report) << report.error().text();
    return report ? std::move(*report) : nullptr;
  }
  static int64_t scalar(const analysis::ReportData& data, const std::string& key) {
    for (const analysis::Scalar& each : data.scalars) {
      if (each.key == key) return std::get<int64_t>(each.value);
    }
    return -1;
  }

  base::TestFolder folder{"report"};
  ReportOptions options;
  base::Progress progress;
  analysis::Labels labels{analysis::Language::English};
};

TEST_F(SiteReportTest, CountsAndWrites) {
  options.out = folder / "out";
  const auto report = load();
  ASSERT_NE(report, nullptr);
  ASSERT_EQ(report->remarks().size(), 1U);
  EXPECT_TRUE(report->remarks()[0].warning);
  EXPECT_THAT(report->remarks()[0].text,
              HasSubstr("1 of 3 records were rejected, see " + options.out + "/rejects.csv"));
  const analysis::ReportData data = report->make(labels);
  EXPECT_EQ(scalar(data, "records"), 2);
  EXPECT_EQ(data.remarks.size(), 1U);
  const auto written = report->write(options.out, data, progress);
  ASSERT_TRUE(written) << written.error().text();
  for (const char* file : {"report.json", "tables/scalars.csv", "what_if/as_recorded.csv",
                           "what_if/capped.csv", "rejects.csv"}) {
    EXPECT_TRUE(std::filesystem::exists(options.out + "/" + file)) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(options.out + "/what_if/used_gpus.csv"))
      << "nothing is known of GPUs' use";
}

TEST_F(SiteReportTest, AnAccountSeesItsOwnRecords) {
  options.account = "physics";
  const auto report = load();
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(scalar(report->make(labels), "records"), 1);
  EXPECT_TRUE(report->explain("1"));
  EXPECT_FALSE(report->explain("2"));
  options.account = "nobody";
  EXPECT_FALSE(SiteReport::load(options, progress));
}

TEST_F(SiteReportTest, RefusesWhatCannotBeRead) {
  const auto refused = [&](const char* why) {
    const auto report = SiteReport::load(options, progress);
    ASSERT_FALSE(report) << why;
    EXPECT_THAT(report.error().text(), HasSubstr(why));
  };
  options.stores = {folder / "jobs.csv"};
  refused("is not a history store");
  options.stores.clear();
  options.files = {
      folder.write("bad.csv", "job_id,submit_time,duration,num_gpus,user\n1,never,1,1,u\n")};
  refused("no jobs remain out of 1 records");
  options.files.clear();
  refused("there is nothing to analyse");
}

TEST(ClusterImport, ANodeOfSlurmBecomesAClusterFile) {
  const base::TestFolder folder("cluster");
  NodeSources sources{.from = "slurm",
                      .files = {folder.write("nodes.txt",
                                             "NodeName=g1 CPUTot=32 RealMemory=1000 State=IDLE "
                                             "Gres=gpu:v100:4\n\n"
                                             "NodeName=g2 CPUTot=32 RealMemory=1000 State=DOWN "
                                             "Gres=gpu:v100:4\n")},
                      .topologies = {},
                      .options = {}};
  const auto imported = import_cluster(sources);
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->cluster.nodes().size(), 2U);
  EXPECT_EQ(imported->cluster.num_gpus(), 8U);
  EXPECT_THAT(imported->toml, testing::StartsWith("# Made by goban cluster import slurm "));
  EXPECT_FALSE(imported->notes.empty()) << "g2 is down";
  sources.from = "kubernetes";
  sources.topologies = {"topology.conf"};
  const auto mixed = import_cluster(sources);
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().text(), HasSubstr("--topology applies to Slurm only"));
}

}  // namespace
}  // namespace goban::site
