#include "site/telemetry/agent_report.hpp"

#include <gmock/gmock.h>

namespace goban::site::telemetry {
namespace {

using series::Metric;
using series::State;
using testing::HasSubstr;

std::string problem_of(const std::string& text) {
  const auto report = parse_agent_report(text);
  return report ? "" : report.error().text();
}

TEST(AgentReport, IsReadAsItWasWritten) {
  AgentReport report{.agent = "w", .sequence = 7, .interval_s = 60, .clock_s = 1e9, .dropped = 3};
  report.problem = "the driver hangs";
  report.gpus = {{.index = "0", .uuid = "GPU-1", .name = "H100"}};
  report.samples = {
      {.gpu = "0",
       .age_s = 61.5,
       .readings = {{Metric::GpuUtilization, {State::Value, 97.5}},
                    {Metric::GpuPower, {State::NotAvailable, 0}}}},
      {.gpu = "", .age_s = 1.5, .readings = {{Metric::CpuUtilization, {State::Value, 5}}}}};
  AgentJob job{.id = "8_3", .uid = 1000, .gpus = {1, 3}, .software = {"cuda/11.8"}};
  job.progress.emplace();
  job.progress->latest.loss = 0.25;
  job.progress->ranks = {{.rank = 0, .ranks = 2, .steps = 5, .busy_s = 1, .wait_s = 2}};
  report.jobs = {job};
  const auto read = parse_agent_report(to_json(report));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->agent, "w");
  EXPECT_EQ(read->sequence, 7);
  EXPECT_EQ(read->dropped, 3);
  EXPECT_EQ(read->problem, "the driver hangs");
  EXPECT_EQ(read->gpus, report.gpus);
  EXPECT_EQ(read->jobs, report.jobs);
  ASSERT_EQ(read->samples.size(), 2U);
  EXPECT_DOUBLE_EQ(read->samples[0].age_s, 61.5);
  ASSERT_EQ(read->samples[0].readings.size(), 2U);
  EXPECT_EQ(read->samples[0].readings[0].first, Metric::GpuUtilization);
  EXPECT_DOUBLE_EQ(read->samples[0].readings[0].second.value, 97.5);
  EXPECT_EQ(read->samples[0].readings[1].second.state, State::NotAvailable);
  EXPECT_EQ(read->samples[1].gpu, "");
}

TEST(AgentReport, FieldsOfALaterAgentAreIgnored) {
  EXPECT_EQ(problem_of(R"({"agent":"a","later":[1],"jobs":[{"id":"1","more":{}}]})"), "");
}

TEST(AgentReport, WhatCannotBeIsLeftOut) {
  const auto read = parse_agent_report(
      R"({"agent":"a","samples":[{"gpu":"0","values":{"gpu_power":1e300,"gpu_utilization":50,)"
      R"("gpu_memory_used":-1}}],"jobs":[{"id":"1","progress":{"ranks":[)"
      R"({"rank":0,"ranks":2},{"rank":2,"ranks":2},{"rank":1,"ranks":2000000000}]}}]})");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->samples[0].readings.size(), 1U);
  EXPECT_EQ(read->samples[0].readings[0].first, Metric::GpuUtilization);
  ASSERT_EQ(read->jobs[0].progress->ranks.size(), 1U);
  EXPECT_EQ(read->jobs[0].progress->ranks[0].rank, 0);
}

TEST(AgentReport, WhatIsWrongIsNamed) {
  EXPECT_THAT(problem_of("[]"), HasSubstr("agent"));
  EXPECT_THAT(problem_of(R"({"sequence":1})"), HasSubstr("agent"));
  EXPECT_THAT(problem_of(R"({"agent":"a","samples":[{"gpu":"0","age_s":-1}]})"),
              HasSubstr("age_s"));
  EXPECT_THAT(problem_of(R"({"agent":"a","samples":[{"gpu":"0","values":{"nonsense":1}}]})"),
              HasSubstr("values"));
  EXPECT_THAT(problem_of(R"({"agent":"a","samples":[{"gpu":"0","values":{"gpu_power":"1"}}]})"),
              HasSubstr("values"));
  EXPECT_THAT(problem_of(R"({"agent":"a","jobs":[{"uid":1}]})"), HasSubstr("id"));
  EXPECT_THAT(problem_of(R"({"agent":"a","jobs":[{"id":"1","software":["a;b"]}]})"),
              HasSubstr("software"));
  EXPECT_THAT(problem_of(R"({"agent":"a","jobs":[{"id":"1\u001b[2J"}]})"), HasSubstr("id"));
  EXPECT_THAT(problem_of(R"({"agent":"a","jobs":[{"id":"1","gpus":[4000]}]})"), HasSubstr("gpus"));
  std::string names = R"("gpu_power")";
  for (size_t i = 0; i < series::metrics().size(); ++i) names += R"(,"gpu_power")";
  EXPECT_THAT(problem_of(R"({"agent":"a","samples":[{"not_available":[)" + names + "]}]}"),
              HasSubstr("not_available"));
  std::string many = R"({"agent":"a","jobs":[{"id":"0"})";
  for (size_t i = 0; i < kAgentJobsMax; ++i) many += R"(,{"id":"1"})";
  EXPECT_THAT(problem_of(many + "]}"), HasSubstr("more than 1024"));
}

}  // namespace
}  // namespace goban::site::telemetry
