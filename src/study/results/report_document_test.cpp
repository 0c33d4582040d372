#include "study/results/report_document.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/gzip.hpp"
#include "core/model/cluster_presets.hpp"
#include "site/page/html_report.hpp"
#include "site/page/json_text.hpp"
#include "site/page/report_page.hpp"
#include "study/results/column.hpp"
#include "study/results/distribution.hpp"
#include "study/results/job_groups.hpp"
#include "study/results/job_table.hpp"

namespace goban::study::results {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TimeNs s(double seconds) { return base::from_seconds(seconds); }

TEST(JsonText, CannotLeaveAScriptElement) {
  const std::string hostile = "</script><script>alert(1)</script><!-- & \" \\ \n \xff";
  const std::string quoted = site::page::json_quoted(hostile);
  EXPECT_THAT(quoted, Not(HasSubstr("<")));
  EXPECT_THAT(quoted, Not(HasSubstr(">")));
  EXPECT_THAT(quoted, Not(HasSubstr("&")));
  EXPECT_EQ(json::parse(quoted).get<std::string>(),
            "</script><script>alert(1)</script><!-- & \" \\ \n \xEF\xBF\xBD");
}

TEST(Column, TakesTheNarrowestTypeAndPutsBytesOfOneRankTogether) {
  const std::vector<uint32_t> narrow = {0, 255};
  EXPECT_EQ(json::parse(whole_column(narrow))["type"], "u8");
  const std::vector<uint32_t> values = {1, 0x0203, 256};
  const json column = json::parse(whole_column(values));
  EXPECT_EQ(column["type"], "u16");
  EXPECT_EQ(column["count"], 3);
  EXPECT_EQ(column["delta"], false);
  EXPECT_EQ(column["data"], base::base64(base::gzip(std::string("\x01\x03\x00\x00\x02\x01", 6))));
  const std::vector<uint32_t> wide = {70000};
  EXPECT_EQ(json::parse(whole_column(wide))["type"], "u32");
  EXPECT_EQ(json::parse(whole_column({}))["count"], 0);
}

TEST(Column, DeltasOfRisingValues) {
  const std::vector<uint32_t> values = {1000, 1000, 1003};
  const std::vector<uint32_t> deltas = {1000, 0, 3};
  json expected = json::parse(whole_column(deltas));
  expected["delta"] = true;
  EXPECT_EQ(json::parse(rising_column(values)), expected);
}

TEST(Distribution, CountsValuesUpToEachPoint) {
  const CumulativeShares d = cumulative_shares({{0, 0, 10, 1000}, {100}, {}}, 4);
  EXPECT_THAT(d.at, ElementsAre(testing::FloatEq(1), testing::FloatEq(10), testing::FloatEq(100),
                                testing::FloatEq(1000)));
  EXPECT_THAT(d.shares[0], ElementsAre(0.5, 0.75, 0.75, 1));
  EXPECT_THAT(d.shares[1].back(), 1);
  EXPECT_THAT(d.shares[2], ElementsAre(0, 0, 0, 0));
}

TEST(JobTable, ChoosesATickThatFits) {
  EXPECT_EQ(table_tick_ns(s(1000), 100, 5), s(0.001));
  EXPECT_EQ(table_tick_ns(s(1000), 100'000, 5), s(1)) << "large tables are in seconds";
  EXPECT_EQ(table_tick_ns(s(4.0e6), 100, 5), s(0.01));
  EXPECT_EQ(table_tick_ns(s(4.5e9), 100'000, 5), s(10));
  EXPECT_GE(table_jobs_max(5), 100'000U);
  EXPECT_GE(table_jobs_max(1000), 20'000U);
}

/// Two runs over three jobs whose names need escaping.
class ReportDocumentTest : public testing::Test {
 protected:
  ReportDocumentTest() {
    cluster_ = core::model::make_preset("1x4").value();
    rows_ = heat_rows(cluster_, 16);
    const auto add = [this](const char* name, double submit_s, int32_t gpus, uint8_t app_class) {
      core::model::Job job;
      job.request.submit_ns = s(submit_s);
      job.request.num_gpus = gpus;
      job.request.app_class = {app_class};
      job.request.user = core::model::UserId(history_.users.intern("</script>"));
      job.work_s = 10;
      history_.jobs.push_back(job);
      history_.job_names.add(name);
    };
    add("</script><script>alert(1)</script>", 100, 4, 0);
    add("b", 105, 3, 1);
    add("c", 107, 3, 1);
    input_.title = "</title><b>x";
    input_.goban_version = "1.2.3";
    input_.cluster = &cluster_;
    input_.history = &history_;
    input_.rows = &rows_;
    for (const char* policy : {"fifo+packed", "las+packed"}) run(policy);
    for (size_t i = 0; i < results_.size(); ++i) {
      input_.comparison.runs.push_back(measure("p<" + std::to_string(i), history_, 4, results_[i]));
      input_.runs.push_back(
          {.settings = {{"seed", "1"}}, .result = &results_[i], .recorder = recorders_[i].get()});
    }
  }

  void run(const char* policy) {
    recorders_.push_back(std::make_unique<RunRecorder>(history_, rows_, nullptr));
    const auto scores = core::knowledge::PmScores::uniform(4);
    const core::knowledge::LocalityPenalties penalties(cluster_, 1.0);
    const core::policy::SpeedModel speed{&cluster_, &scores, &penalties};
    const auto composition = core::policy::compose(policy).value();
    simulator::SimulationOptions options;
    options.observer = recorders_.back().get();
    results_.push_back(simulator::simulate(history_, speed, composition, options).value());
  }

  core::model::Cluster cluster_;
  core::model::JobHistory history_;
  HeatRows rows_;
  std::vector<std::unique_ptr<RunRecorder>> recorders_;
  std::vector<simulator::SimulationResult> results_;
  ReportInput input_;
};

TEST_F(ReportDocumentTest, HasTheMembersOfItsSchema) {
  input_.notes.push_back({NoteLevel::Warning, "careful"});
  const json document = json::parse(report_document(input_));
  EXPECT_EQ(document["schema"], "goban-report");
  EXPECT_EQ(document["version"], kSchemaVersion);
  EXPECT_EQ(document["title"], "</title><b>x");
  EXPECT_EQ(document["jobs"], 3);
  EXPECT_EQ(document["cluster"]["gpus"], 4);
  EXPECT_EQ(document["notes"][0], json({{"level", "warning"}, {"text", "careful"}}));
  EXPECT_FALSE(document.contains("backtest"));
  EXPECT_EQ(document["runs"][1]["policy"], "p<1");
  EXPECT_EQ(document["runs"][0]["figures"]["jobs"], 3);
  // 100-110, 110-120, 120-130 under FIFO
  EXPECT_EQ(document["series"]["step_s"], 1);
  EXPECT_EQ(document["series"]["runs"][0]["held_gpus"]["count"], 30);
  EXPECT_EQ(document["heat"]["kind"], "gpu");
  EXPECT_EQ(document["heat"]["runs"][0]["percent"]["count"], 4 * 30);
  const json by_class = document["groups"][0];
  EXPECT_EQ(by_class["names"], json({"A", "B"}));
  EXPECT_EQ(by_class["jobs"], json({1, 2}));
  EXPECT_EQ(by_class["runs"][0]["jct_s"], json({10, (15.0 + 23) / 2}));
  EXPECT_EQ(by_class["runs"][0]["wait_s"], json({0, (5.0 + 13) / 2}));
  EXPECT_EQ(document["groups"][1]["names"], json({"3-4"}));
  EXPECT_EQ(document["table"]["jobs"], 3);
  EXPECT_EQ(document["table"]["users"], json({"</script>"}));
}

TEST_F(ReportDocumentTest, SaysWhatABacktestFound) {
  history_.recorded = {{.start_ns = s(100)}, {.start_ns = s(111)}, {.start_ns = s(120)}};
  input_.comparison.backtest = backtest("p<0", history_, results_[0], {});
  const std::string text = report_document(input_);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  const json document = json::parse(text);
  EXPECT_THAT(document["backtest"]["text"].get<std::string>(), HasSubstr("Back-test of p<0"));
  EXPECT_EQ(document["backtest"]["jobs"], 3);
  EXPECT_TRUE(document["runs"][1]["figures"].contains("gain_jct_claimed"));
  EXPECT_EQ(document["reference"], 0);
}

TEST_F(ReportDocumentTest, DoesNotCountTheWarmUp) {
  input_.warmup_ns = s(6);
  const json groups = json::parse(report_document(input_))["groups"];
  EXPECT_EQ(groups[0]["names"], json({"B"}));
  EXPECT_EQ(groups[0]["jobs"], json({1}));
  EXPECT_EQ(groups[0]["runs"][0]["jct_s"], json({23}));
}

TEST_F(ReportDocumentTest, HoldsNothingThatHtmlCouldRead) {
  const std::string document = report_document(input_);
  EXPECT_THAT(document, Not(HasSubstr("<")));
  EXPECT_THAT(document, Not(HasSubstr("&")));
}

TEST_F(ReportDocumentTest, IsTheSameEachTime) {
  EXPECT_EQ(report_document(input_), report_document(input_));
}

TEST_F(ReportDocumentTest, TakesJobsEvenlyIfThereAreTooMany) {
  const json table = json::parse(job_table_json(history_, {results_.data()}, 2));
  EXPECT_EQ(table["jobs"], 2);
  EXPECT_EQ(table["gpus"]["count"], 2);
}

TEST_F(ReportDocumentTest, GoesIntoThePageOnce) {
  const std::string path = testing::TempDir() + "goban_report_test.html";
  const base::Status written = site::page::write_html(path, report_document(input_));
  if (site::page::report_page().empty()) {
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().text(), HasSubstr("GOBAN_WEB"));
    return;
  }
  ASSERT_TRUE(written) << written.error().text();
}

}  // namespace
}  // namespace goban::study::results
