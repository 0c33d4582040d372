// /v1/jobs/{}/series: permissions, choice of the run, limits.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;

class ApiSeries : public ServiceTest {
 public:
  ApiSeries() {
    gpus.draw = [this](const GpuWindow& window) -> base::Result<GpuCurves> {
      asked = window;
      if (broken) return base::failed("the store is damaged");
      const GpuPoint point{.at_s = base::to_seconds(window.from_ns) + 5,
                           .mean = {.util_pct = 40, .mem_used_bytes = 7}};
      return GpuCurves{.step_s = 10, .gpus = {window.gpus.size(), std::vector<GpuPoint>(2, point)}};
    };
    parts.gpus = &gpus;
  }
  void submit() {
    ASSERT_EQ(
        status(kAlice, "POST", "/v1/jobs", R"({"script":"x","account":"vision","num_gpus":2})"),
        201);
  }
  json series(const std::string& job = "1", std::map<std::string, std::string> query = {}) {
    return json::parse(
        ask(kAlice, "GET", "/v1/jobs/" + job + "/series", {}, std::move(query)).body);
  }
  TestGpus gpus;
  GpuWindow asked{};
  bool broken = false;
};

TEST_F(ApiSeries, IsOfTheRunThatHoldsGpusFromItsStartToNow) {
  submit();
  scheduler.run(1, {core::model::GpuId(5U), core::model::GpuId(2U)});
  scheduler.now_ns += 60 * base::kSecond;
  EXPECT_EQ(series(),
            json::parse(R"({"job":1,"run":1,"from_s":1.7e9,"to_s":1.70000006e9,"step_s":10.0,
      "gpus":[{"gpu":5,"node":"n1","index":1,"points":[
                {"at_s":1.700000005e9,"util_pct":40.0,"mem_used_bytes":7},
                {"at_s":1.700000005e9,"util_pct":40.0,"mem_used_bytes":7}]},
              {"gpu":2,"node":"n0","index":2,"points":[
                {"at_s":1.700000005e9,"util_pct":40.0,"mem_used_bytes":7},
                {"at_s":1.700000005e9,"util_pct":40.0,"mem_used_bytes":7}]}]})"));
  EXPECT_EQ(asked.points_max, 300U);
  (void)series("1", {{"points", "1000"}});
  EXPECT_EQ(asked.points_max, 1000U);
  for (const char* wrong : {"0", "1001", "-1", "x", "1e2"}) {
    EXPECT_TRUE(series("1", {{"points", wrong}}).contains("error")) << wrong;
  }
}

TEST_F(ApiSeries, IsOfTheLastRunThatRanOnceTheJobIsOver) {
  submit();
  EXPECT_EQ(series(), json::parse(R"({"job":1,"run":0,"gpus":[]})")) << "it waits";
  scheduler.edit(1, [](live::controller::LiveJob& job) {
    job.stage = live::controller::JobStage::Done;
    job.runs = 3;
    job.past = {{.run = 1, .start_ns = base::kSecond, .end_ns = 2 * base::kSecond},
                {.run = 2,
                 .start_ns = 3 * base::kSecond,
                 .end_ns = 9 * base::kSecond,
                 .gpus = std::vector<core::model::GpuId>(40, core::model::GpuId(3U))},
                {.run = 3, .end_ns = 10 * base::kSecond}};
  });
  const json last = series();
  EXPECT_EQ(last["run"], 2);
  EXPECT_EQ(asked.from_ns, 3 * base::kSecond);
  EXPECT_EQ(asked.to_ns, 9 * base::kSecond);
  EXPECT_EQ(last["gpus"].size(), 16U) << "a bounded number";
}

TEST_F(ApiSeries, IsForThoseWhoMaySeeTheJob) {
  submit();
  scheduler.run(1, {core::model::GpuId(0U)});
  for (const char* who : {kAlice, kManager, kViewer, kOperator}) {
    EXPECT_EQ(status(who, "GET", "/v1/jobs/1/series"), status(who, "GET", "/v1/jobs/1")) << who;
  }
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/1/series"), 200);
  EXPECT_EQ(status(kBob, "GET", "/v1/jobs/1/series"), 403);
  EXPECT_EQ(status("nobody's", "GET", "/v1/jobs/1/series"), 401);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/2/series"), 404);
  broken = true;
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/1/series"), 503);
}

TEST_F(ApiSeries, WithoutAnythingWrittenDownThereAreNoPoints) {
  parts.gpus = nullptr;
  submit();
  scheduler.run(1, {core::model::GpuId(0U)});
  EXPECT_EQ(series()["gpus"], json::parse(R"([{"gpu":0,"node":"n0","index":0,"points":[]}])"));
}

struct TwoReports final : ProgressHistory {
  [[nodiscard]] std::vector<ProgressPoint> of(core::model::JobId) const override {
    return {{.at_s = 10, .report = {.step = 1, .loss = 2.5, .busy_s = 3}},
            {.at_s = 20, .report = {.step = 2, .loss = 1.5}}};
  }
};

TEST_F(ApiSeries, ProgressIsForThoseWhoMaySeeTheJob) {
  const TwoReports reports;
  parts.progress = &reports;
  submit();
  const json curve = json::parse(ask(kAlice, "GET", "/v1/jobs/1/progress").body);
  ASSERT_EQ(curve["points"].size(), 2U);
  EXPECT_EQ(curve["points"][0]["loss"], 2.5);
  EXPECT_EQ(curve["points"][1]["at_s"], 20);
  EXPECT_FALSE(curve["points"][0].contains("busy_s"));
  EXPECT_EQ(status(kBob, "GET", "/v1/jobs/1/progress"), 403);
  EXPECT_EQ(status(kAlice, "GET", "/v1/jobs/2/progress"), 404);
}

}  // namespace
}  // namespace goban::serve::api
