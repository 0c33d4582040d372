// The API on a real scheduler: the responses match its decisions.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

#include "core/knowledge/energy/power_presets.hpp"
#include "core/policy/compose.hpp"
#include "core/policy/make_knowledge.hpp"
#include "live/loop/test_world.hpp"
#include "serve/api/test_service.hpp"
#include "serve/daemon/start_forecaster.hpp"

namespace goban::serve::daemon {
namespace {

using nlohmann::json;

/// An engine that launches runs at once and ends them when they are stopped.
class ObedientEngine final : public live::Engine {
 public:
  void launch(const live::LaunchOrder& order) override {
    reports_.push_back({.kind = live::ReportKind::Started, .run = order.run});
  }
  void stop(live::RunId run, live::StopReason) override {
    reports_.push_back({.kind = live::ReportKind::Ended, .run = run, .signal = 15});
  }
  void resume(const live::LaunchOrder&) override {}
  void forget(core::model::JobId, const std::string&) override {}
  void wake(const std::string& node) override {
    reports_.push_back({.kind = live::ReportKind::NodeUp, .node = node});
  }
  std::vector<live::EngineEvent> take_events() override {
    return live::events_of(std::exchange(reports_, {}));
  }

 private:
  std::vector<live::Report> reports_;
};

class NoAccounting final : public live::loop::Accounting {
 public:
  base::Status record(const std::vector<live::loop::FinishedJob>&) override { return {}; }
};

class RealSchedulerTest : public api::ServiceTest {
 public:
  virtual live::controller::Site site() const {
    live::controller::Site site;
    site.cluster = api::test_cluster();
    site.scores = core::knowledge::PmScores::uniform(site.cluster.num_gpus());
    site.penalties = core::knowledge::LocalityPenalties(site.cluster, 1.5);
    site.composition = *core::policy::compose("fifo+packed");
    return site;
  }
  virtual std::vector<live::controller::EarlierJob> past() const { return {}; }
  void SetUp() override {
    auto started = live::loop::Daemon::start(
        site(), {}, std::make_unique<live::loop::MemoryLog>(), std::make_unique<ObedientEngine>(),
        std::make_unique<NoAccounting>(),
        {.poll_ns = 1'000'000, .past = [this] { return past(); }});
    ASSERT_TRUE(started.has_value()) << started.error().text();
    daemon = std::move(*started);
    payloads = std::make_unique<stores::PayloadStore>(
        stores::PayloadStore::open(folder + "/jobs").value());
    service = std::move(*api::Service::start(options, *daemon, *payloads));
  }
  void TearDown() override { service.reset(); }

  json get(const std::string& path) { return json::parse(ask(kOperator, "GET", path).body); }
  /// The job when it has reached this state, or its state after two seconds.
  json wait_for(const std::string& path, const std::string& state) {
    json job;
    for (int i = 0; i < 200; ++i) {
      job = get(path);
      if (job["state"] == state) break;
      (void)daemon->wait_for_change(daemon->version(), 10'000'000);
    }
    return job;
  }

  std::unique_ptr<live::loop::Daemon> daemon;
};

/// Nodes sleep after one idle second, and report that they are awake when they are woken.
class SleepySchedulerTest : public RealSchedulerTest {
 public:
  live::controller::Site site() const override {
    live::controller::Site site = RealSchedulerTest::site();
    core::knowledge::PowerCatalog power = core::knowledge::make_power_presets("v100").value();
    power.models.front().sleep = {.enter_s = 0.5, .wake_s = 0.5};
    core::policy::KnowledgeSources sources;
    sources.power = power;
    core::model::JobHistory no_jobs;
    auto made = core::policy::make_knowledge(std::move(sources), site.cluster, no_jobs);
    site.knowledge = std::make_shared<core::policy::SiteKnowledge>(std::move(made->knowledge));
    site.composition = *core::policy::compose("fifo+packed+sleep");
    return site;
  }
};

TEST_F(SleepySchedulerTest, ANodeThatRestsIsAsleepAndNotDown) {
  const auto state = [&](size_t node) { return get("/v1/nodes")["nodes"][node]["state"]; };
  for (int i = 0; i < 6000 && state(3) != "asleep"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (size_t node = 0; node < 4; ++node) EXPECT_EQ(state(node), "asleep");
  EXPECT_EQ(get("/v1/stats")["gpus"]["asleep"], 16);
  EXPECT_EQ(get("/v1/stats")["gpus"]["down"], 0);
  const std::string page = ask(kOperator, "GET", "/metrics").body;
  EXPECT_THAT(page, testing::HasSubstr("\ngoban_gpus{state=\"asleep\"} 16\n"));
  EXPECT_THAT(page, testing::HasSubstr("\ngoban_node_asleep{node=\"n2\"} 1\n"));
  EXPECT_THAT(page, testing::HasSubstr("\ngoban_node_up{node=\"n2\"} 1\n"));
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","num_gpus":4})"), 201);
  EXPECT_EQ(wait_for("/v1/jobs/1", "running")["state"], "running") << "a node was woken for it";
  EXPECT_EQ(state(0), "up");
}

TEST_F(RealSchedulerTest, SubmitRunWaitCancel) {
  const std::string body = R"({"script":"x","num_gpus":16,"work_folder":"/tmp","user":"daemon"})";
  ASSERT_EQ(status(kOperator, "POST", "/v1/jobs", body), 201);
  ASSERT_EQ(status(kOperator, "POST", "/v1/jobs", body), 201);
  const json running = wait_for("/v1/jobs/1", "running");
  EXPECT_EQ(running["state"], "running");
  EXPECT_EQ(running["gpus"].size(), 16u);
  EXPECT_EQ(get("/v1/jobs/1/explain")["place"]["level"], "cluster");
  const json why = get("/v1/jobs/2/explain");
  EXPECT_EQ(why["state"], "waiting");
  EXPECT_EQ(why["waiting"]["cause"], "no_free_gpus");
  EXPECT_EQ(why["waiting"]["free_gpus"], 0);
  ASSERT_EQ(status(kOperator, "POST", "/v1/jobs", body), 201);
  const json list = json::parse(ask(kOperator, "GET", "/v1/jobs", "", {{"all", "1"}}).body)["jobs"];
  EXPECT_FALSE(list[0].contains("position"));
  EXPECT_EQ(list[1]["position"], 1);
  EXPECT_EQ(list[2]["position"], 2);
  EXPECT_EQ(get("/v1/stats")["gpus"]["busy"], 16);
  EXPECT_EQ(get("/v1/cluster")["racks"][1]["nodes"][1]["gpus"][3]["jobs"], json::array({1}));
  ASSERT_EQ(status(kAlice, "DELETE", "/v1/jobs/1"), 200);
  const json over = wait_for("/v1/jobs/1", "done");
  EXPECT_EQ(over["result"], "cancelled");
  ASSERT_EQ(over["past"].size(), 1U);
  EXPECT_EQ(over["past"][0]["run"], 1);
  EXPECT_EQ(over["past"][0]["gpus"].size(), 16U);
  EXPECT_LE(over["past"][0]["start_s"], over["past"][0]["end_s"]);
  EXPECT_EQ(wait_for("/v1/jobs/2", "running")["state"], "running");
  EXPECT_EQ(status(kAlice, "DELETE", "/v1/jobs/1"), 409);
}

/// With forecasts; 40 runs of an hour of Alice are in the site's history.
class ForecastSchedulerTest : public RealSchedulerTest {
 public:
  std::vector<live::controller::EarlierJob> past() const override {
    constexpr base::TimeNs kHour_ns = base::kHour;
    std::vector<live::controller::EarlierJob> out;
    const auto alice = api::find_user("daemon");
    EXPECT_TRUE(alice.has_value());
    for (int i = 0; i < 40; ++i) {
      out.push_back({.spec = {.owner = *alice, .num_gpus = 16},
                     .submit_ns = i * kHour_ns,
                     .end_ns = (i + 1) * kHour_ns,
                     .held_ns = kHour_ns});
    }
    return out;
  }
  void SetUp() override {
    RealSchedulerTest::SetUp();
    service.reset();
    starts = std::make_unique<StartForecaster>(*daemon);
    service =
        std::move(*api::Service::start(options, *daemon, *payloads, {.starts = starts.get()}));
  }
  std::unique_ptr<StartForecaster> starts;
};

TEST_F(ForecastSchedulerTest, UsersSeeWhenTheirJobsStart) {
  constexpr double kHour_s = 3600;
  const std::string body = R"({"script":"x","num_gpus":16,"work_folder":"/tmp"})";
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", body), 201);
  EXPECT_EQ(wait_for("/v1/jobs/1", "running")["predicted_run"]["from"], "user_size");
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", body), 201);
  json job = get("/v1/jobs/2");
  for (int i = 0; i < 1000 && !job.contains("start"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    job = get("/v1/jobs/2");
  }
  ASSERT_TRUE(job.contains("start"));
  EXPECT_NEAR(job["start"]["p50_s"].get<double>() - job["submit_s"].get<double>(), kHour_s, 900);
  EXPECT_NEAR(job["predicted_run"]["p50_s"].get<double>(), kHour_s, 900);
  const json list = json::parse(ask(kAlice, "GET", "/v1/jobs").body)["jobs"];
  EXPECT_FALSE(list[0].contains("start"));
  json start = job["start"];
  EXPECT_EQ(start["known"], 0) << "no job with a forecast has started";
  start.erase("known");
  start.erase("inside");
  EXPECT_EQ(list[1]["start"], start) << "a list does not say how often intervals held";
  const json why = get("/v1/jobs/2/explain");
  EXPECT_THAT(why["text"], testing::HasSubstr("it is expected to start at "));
  EXPECT_THAT(why["text"], testing::HasSubstr("it is predicted to run for "));
  EXPECT_THAT(ask(kOperator, "GET", "/metrics").body,
              testing::HasSubstr("\ngoban_start_forecasts 1\n"));
}

TEST_F(ForecastSchedulerTest, AJobThatIsNotSubmittedHasAForecast) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","num_gpus":12})"), 201);
  EXPECT_EQ(wait_for("/v1/jobs/1", "running")["state"], "running");
  const json answer = json::parse(
      ask(kAlice, "POST", "/v1/forecast",
          R"({"jobs":[{"num_gpus":4},{"num_gpus":8,"walltime_s":600},{"num_gpus":99}]})")
          .body);
  ASSERT_EQ(answer["jobs"].size(), 3U);
  const double now_s = answer["now_s"];
  EXPECT_EQ(answer["jobs"][0]["start"]["p90_s"], now_s);
  EXPECT_NEAR(answer["jobs"][1]["start"]["p50_s"].get<double>() - now_s, 3600, 900);
  EXPECT_LE(answer["jobs"][1]["predicted_run"]["p90_s"], 600);
  EXPECT_THAT(answer["jobs"][2]["error"], testing::HasSubstr("99"));
  EXPECT_EQ(get("/v1/stats")["gpus"]["busy"], 12) << "nothing was submitted";
  EXPECT_EQ(status(kViewer, "POST", "/v1/forecast", R"({"jobs":[{"num_gpus":4}]})"), 403);
  for (const char* bad : {"", "[]", "{}", R"({"jobs":[]})", R"({"jobs":[1]})", R"({"jobs":7})",
                          R"({"jobs":[{"num_gpus":-1}]})", R"({"jobs":[{"gpus":4}]})",
                          R"({"jobs":[{"num_gpus":4}],"more":1})"}) {
    EXPECT_EQ(status(kAlice, "POST", "/v1/forecast", bad), 400) << bad;
  }
}

TEST_F(RealSchedulerTest, WhatNobodyCanRunIsRefused) {
  const base::http::Response response =
      ask(kAlice, "POST", "/v1/jobs", R"({"script":"x","num_gpus":17,"work_folder":"/tmp"})");
  EXPECT_EQ(response.status, 400);
  service.reset();
  payloads.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder + "/jobs"));
}

TEST_F(RealSchedulerTest, DrainedNodesStayEmpty) {
  ASSERT_EQ(status(kOperator, "POST", "/v1/nodes/n0/drain", R"({"reason":"fan"})"), 200);
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","num_gpus":12})"), 201);
  const json job = wait_for("/v1/jobs/1", "running");
  EXPECT_EQ(job["state"], "running");
  for (const json& gpu : job["gpus"]) EXPECT_NE(gpu["node"], "n0");
  EXPECT_EQ(get("/v1/nodes")["nodes"][0]["state"], "drained");
  const json array = json::parse(
      ask(kAlice, "POST", "/v1/jobs", R"({"script":"x","array_tasks":[0,1],"array_limit":1})")
          .body);
  EXPECT_EQ(array["jobs"], json::array({2, 3}));
  EXPECT_EQ(wait_for("/v1/jobs/2_1", "waiting")["id"], "2_1");
}

}  // namespace
}  // namespace goban::serve::daemon
