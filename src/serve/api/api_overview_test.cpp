// GET /v1/overview: for all callers, with the jobs of the history and the measured power.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;

/// One job that ended an hour ago and is no longer in the table.
struct OneEnded final : PastJobs {
  base::Result<std::vector<live::controller::LiveJob>> find(const PastQuery& query) override {
    if (broken) return base::failed("the history store is busy");
    ++asked;
    live::controller::LiveJob job{.job = core::model::JobId(99U)};
    job.stage = live::controller::JobStage::Done;
    job.result = live::controller::JobResult::Failed;
    job.submit_ns = job.first_start_ns = *query.from_ns + 22 * base::kHour;
    job.end_ns = job.submit_ns + base::kHour;
    job.past = {{.run = 1,
                 .start_ns = job.submit_ns,
                 .end_ns = job.end_ns,
                 .gpus = {core::model::GpuId(3U)}}};
    return std::vector{job};
  }
  int asked = 0;
  bool broken = false;
};

class ApiOverview : public ServiceTest {
 public:
  ApiOverview() {
    parts.past = &past;
    parts.gpus = &gpus;
  }
  json overview(const char* who = kBob) {
    return json::parse(ask(who, "GET", "/v1/overview").body);
  }
  OneEnded past;
  TestGpus gpus;
};

TEST_F(ApiOverview, JoinsTableHistoryAndPower) {
  gpus.draw = [](const GpuWindow& window) -> base::Result<GpuCurves> {
    EXPECT_TRUE(window.only_power);
    GpuCurves curves{.step_s = 900, .gpus = {}};
    curves.gpus.resize(window.gpus.size());
    const double from_s = base::to_seconds(window.from_ns);
    curves.gpus[0] = {{.at_s = from_s + 450, .mean = {.power_w = 100}}};
    curves.gpus[5] = {{.at_s = from_s + 450, .mean = {.power_w = 50}}};
    return curves;
  };
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","num_gpus":2})"), 201);
  const json out = overview();
  EXPECT_EQ(out["num_gpus"], 16);
  EXPECT_EQ(out["submitted"], 1) << "the job of the history; the other one came this moment";
  EXPECT_EQ(out["ended"], json({{"failed", 1}}));
  EXPECT_DOUBLE_EQ(out["gpu_hours"], 1);
  EXPECT_EQ(out["wait_s"]["p50"], 0);
  EXPECT_EQ(out["held_gpus"].size(), 96U);
  ASSERT_EQ(out["power"].size(), 1U);
  EXPECT_EQ(out["power"][0]["power_w"], 150);
  EXPECT_DOUBLE_EQ(out["energy_j"], 150.0 * 900);
  EXPECT_FALSE(out.contains("partial"));
  EXPECT_EQ(out.dump().find("daemon"), std::string::npos) << "names no user";
}

TEST_F(ApiOverview, IsMadeOnceForManyReaders) {
  EXPECT_EQ(overview(), overview(kAlice));
  EXPECT_EQ(past.asked, 1);
}

TEST_F(ApiOverview, SaysThatTheHistoryIsMissing) {
  past.broken = true;
  EXPECT_EQ(overview()["partial"], true);
}

TEST_F(ApiOverview, RefusesWrongPeriods) {
  for (const char* wrong : {"0", "169", "x", "-1"}) {
    EXPECT_EQ(status(kBob, "GET", "/v1/overview", "", {{"hours", wrong}}), 400) << wrong;
  }
  EXPECT_EQ(status("nobody's", "GET", "/v1/overview"), 401);
}

}  // namespace
}  // namespace goban::serve::api
