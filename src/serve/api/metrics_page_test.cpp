#include "serve/api/metrics_page.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <sstream>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One waiting job that is expected to start in a minute.
struct TestStarts final : StartTimes {
  std::shared_ptr<const StartTable> latest() const override { return table; }
  std::shared_ptr<StartTable> table = std::make_shared<StartTable>(
      StartTable{.starts = {{core::model::JobId(1U),
                             {.p10_ns = 0, .p50_ns = base::kMinute, .p90_ns = base::kHour}}}});
};

/// One agent that reports.
struct OneAgent final : AgentInbox {
  base::Status take(const std::string&, site::telemetry::AgentReport) override { return {}; }
  [[nodiscard]] std::map<std::string, AgentStand> stands() const override {
    return {{"n0", {.report_s = 5}}};
  }
};

struct MetricsTest : ServiceTest {
  MetricsTest() {
    parts.starts = &starts;
    parts.gpus = &gpus;
    parts.scores = &scores;
    parts.agents = &agents;
    scores.scores.gpus.resize(16);
    scores.scores.gpus[3] = {.expired = true};
    scores.scores.gpus[5] = {.suspect = true, .measured_unix_s = 1'700'000'123};
    scores.scores.spent_s = 12;
    gpus.readings.at_ns = 5 * base::kSecond;
    gpus.readings.gpus.resize(16);
    gpus.readings.gpus[5] = {
        .util_pct = 42, .mem_used_bytes = 7, .power_w = 300, .temperature_c = 60};
  }
  std::string page() { return ask(kViewer, "GET", "/metrics").body; }

  TestGpus gpus;
  TestScores scores;
  TestStarts starts;
  OneAgent agents;
};

TEST_F(MetricsTest, WhatIsKnownOfScoresIsTold) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_score_expired{node=\"n0\",gpu=\"3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_score_expired{node=\"n1\",gpu=\"1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_score_suspect{node=\"n1\",gpu=\"1\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("\ngoban_gpu_measured_time_seconds{node=\"n1\",gpu=\"1\"} 1700000123\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_measuring_gpu_seconds 12\n"));
  const std::string nodes = ask(kViewer, "GET", "/v1/nodes").body;
  EXPECT_THAT(nodes, HasSubstr(R"("scores":{"expired":1,"measured":0,"suspect":0})"));
  EXPECT_THAT(nodes, HasSubstr(R"("scores":{"expired":0,"measured":1,"suspect":1})"));
  const std::string cluster = ask(kViewer, "GET", "/v1/cluster").body;
  EXPECT_THAT(cluster, HasSubstr(R"("score_expired":true)"));
  EXPECT_THAT(cluster, HasSubstr(R"("measured_s":1700000123)"));
}

TEST_F(MetricsTest, WaitsAreForecast) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("\ngoban_start_forecasts 1\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_forecast_wait_seconds{quantile=\"0.5\"} 60\n"));
  starts.table->starts.clear();
  EXPECT_THAT(page(), Not(HasSubstr("goban_forecast_wait_seconds")));
}

TEST_F(MetricsTest, EveryGpuHasItsReadings) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_utilization_percent{node=\"n1\",gpu=\"1\"} 42\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_power_watts{node=\"n1\",gpu=\"1\"} 300\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_sample_time_seconds 5\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_score{node=\"n0\",gpu=\"3\",class=\"A\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ngoban_gpu_holders{node=\"n3\",gpu=\"3\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("goban_gpu_utilization_percent{node=\"n0\"")))
      << "unknown values have no series and are never zero";
}

TEST_F(MetricsTest, WithoutReadingsThereAreNone) {
  gpus.readings = {};
  EXPECT_THAT(page(), Not(HasSubstr("goban_gpu_sample_time_seconds")));
  gpus.readings.at_ns = 1;  // old ones
  EXPECT_THAT(page(), HasSubstr("goban_gpu_sample_time_seconds"));
  EXPECT_THAT(page(), Not(HasSubstr("goban_gpu_utilization_percent")));
}

TEST(MetricLabels, AreQuoted) {
  EXPECT_EQ(metric_labels({{"a", "x\"y\\z\n"}, {"b", ""}}), R"({a="x\"y\\z\n",b=""})");
}

live::controller::LiveJob job_with_deadline(double deadline_s) {
  live::controller::LiveJob job;
  job.stage = live::controller::JobStage::Running;
  job.submit_ns = 0;
  job.run_start_ns = 100 * base::kSecond;
  job.spec.training.deadline_ns = base::from_seconds(deadline_s);
  return job;
}

TEST(Deadlines, AreInDangerByProgressThenByTheLimit) {
  const base::TimeNs now = 200 * base::kSecond;
  DeadlineCounts counts;
  live::controller::LiveJob job = job_with_deadline(1000);
  counts.add(job, now);
  EXPECT_EQ(counts.in_time, 1) << "nothing is known";
  job.spec.walltime_limit_ns = 901 * base::kSecond;  // 801 s remain, 800 s until the deadline
  counts.add(job, now);
  EXPECT_EQ(counts.in_danger, 1);
  job.progress = {.epoch = 1, .epochs = 8};  // 100 s per epoch: 700 s remain
  counts.add(job, now);
  EXPECT_EQ(counts.in_time, 2);
  job.progress = {.step = 10, .steps = 100};  // 900 s
  counts.add(job, now);
  EXPECT_EQ(counts.in_danger, 2);
  counts.add(job_with_deadline(150), now);
  EXPECT_EQ(counts.missed, 1);
  job.stage = live::controller::JobStage::Done;
  counts.add(job, now);
  counts.add(live::controller::LiveJob{}, now);
  EXPECT_EQ(counts.missed + counts.in_danger + counts.in_time, 5)
      << "finished, or without a deadline";
}

/// Words in a text that start with goban_.
std::set<std::string> metric_words(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
  std::set<std::string> out;
  for (size_t at = text.find("goban_"); at != std::string::npos; at = text.find("goban_", at)) {
    const size_t end = std::min(text.find_first_not_of(kLetters, at), text.size());
    out.insert(text.substr(at, end - at));
    at = end;
  }
  return out;
}

TEST_F(MetricsTest, AreThoseOfTheDocumentation) {
  std::ostringstream file;
  file << std::ifstream(std::filesystem::path(GOBAN_SOURCE_DIR) / "docs/api.md").rdbuf();
  const std::set<std::string> documented = metric_words(file.str());
  std::set<std::string> served;
  const std::string text = page();
  constexpr std::string_view kType = "# TYPE ";
  for (size_t at = text.find(kType); at != std::string::npos; at = text.find(kType, at + 1)) {
    const size_t begin = at + kType.size();
    served.insert(text.substr(begin, text.find(' ', begin) - begin));
  }
  EXPECT_EQ(served, documented);
}

TEST_F(MetricsTest, AlertsAndDashboardNameNoOthers) {
  const std::string text = page();
  const std::filesystem::path examples =
      std::filesystem::path(GOBAN_SOURCE_DIR) / "examples/monitoring";
  const std::set<std::string> other = {"goban_alerts", "goban_gpus", "goban_jobs", "goban_daemon"};
  for (const char* name : {"goban_alerts.yml", "goban_dashboard.json"}) {
    std::ostringstream file;
    file << std::ifstream(examples / name).rdbuf();
    const std::set<std::string> words = metric_words(file.str());
    EXPECT_GT(words.size(), 5U) << name;
    for (const std::string& word : words) {
      if (other.contains(word)) continue;
      EXPECT_THAT(text, HasSubstr("\n# TYPE " + word + " ")) << name;
    }
  }
}

}  // namespace
}  // namespace goban::serve::api
