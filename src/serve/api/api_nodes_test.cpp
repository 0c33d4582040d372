#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "serve/api/test_service.hpp"
#include "study/what_if.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// Answers "{}" only, and sends a second request while it handles "[]".
class TestWhatIf final : public study::WhatIf {
 public:
  TestWhatIf() : WhatIf({}) {}
  base::Result<std::string> answer(const std::string& question, const core::model::Cluster&,
                                   const core::knowledge::PmScores& scores) override {
    EXPECT_EQ(scores.num_gpus(), 16U) << "those of the cluster";
    if (question == "{}") return std::string(R"({"days":7,"jobs":1,"left_out":0,"policies":[]})");
    if (question == "[]") ask_meanwhile();
    return base::usage_error("no such policy");
  }
  std::function<void()> ask_meanwhile;
};

class ApiNodes : public ServiceTest {
 public:
  json get(const std::string& path) {
    const base::http::Response response = ask(kAlice, "GET", path);
    EXPECT_EQ(response.status, 200) << path;
    return json::parse(response.body);
  }
  /// Job 1 on GPUs 0 and 1, job 2 also on GPU 1.
  void run_two() {
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","name":"secret"})"), 201);
    }
    scheduler.run(1, {core::model::GpuId(0u), core::model::GpuId(1u)});
    scheduler.run(2, {core::model::GpuId(1u)});
  }
};

TEST_F(ApiNodes, NodesAndTheirJobs) {
  run_two();
  const json nodes = get("/v1/nodes")["nodes"];
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0], json::parse(R"({"node":"n0","state":"up","num_gpus":4,"held_gpus":2,
                                      "jobs":[1,2],"gpu_model":"H200","cores":32})"));
}

TEST_F(ApiNodes, OnlyOperatorsDrain) {
  run_two();
  EXPECT_EQ(status(kAlice, "POST", "/v1/nodes/n0/drain", "{}"), 403);
  EXPECT_EQ(status(kManager, "POST", "/v1/nodes/n0/resume"), 403);
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n0/drain", R"({"reason":"fan"})"), 200);
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n3/drain"), 200);
  const json nodes = get("/v1/nodes")["nodes"];
  EXPECT_EQ(nodes[0]["state"], "draining");
  EXPECT_EQ(nodes[0]["reason"], "fan");
  EXPECT_EQ(nodes[3]["state"], "drained");
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n0/resume"), 200);
  EXPECT_EQ(status(kManager, "POST", "/v1/nodes/n0/fence"), 403);
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n9/fence"), 404);
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n0/fence"), 409) << "it is not down";
  EXPECT_EQ(get("/v1/nodes")["nodes"][0]["state"], "up");
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n9/drain", "{}"), 404);
  for (const char* body :
       {"[]", "{\"reason\":1}", "{\"raeson\":\"\"}", "{\"reason\":\"\\u001b\"}"}) {
    EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n0/drain", body), 400) << body;
  }
}

TEST_F(ApiNodes, OperatorsReadWhatIsKnownOfSharing) {
  EXPECT_EQ(status(kAlice, "GET", "/v1/colocation"), 403) << "it names applications of other users";
  EXPECT_EQ(status(kViewer, "GET", "/v1/colocation"), 403);
  const base::http::Response response = ask(kOperator, "GET", "/v1/colocation");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.content_type, HasSubstr("text/csv"));
  EXPECT_THAT(response.body, HasSubstr("gpu_type,members,slowdowns"));
}

TEST_F(ApiNodes, OperatorsSendScores) {
  std::string table = "GPU_ID,PerfVar_classA,bin_classA,PerfVar_classB,bin_classB\n";
  for (int i = 0; i < 16; ++i) {
    table += std::to_string(i) + (i == 3 ? ",1.5,1.5,1.01,1\n" : ",1,1,1,1\n");
  }
  EXPECT_EQ(status(kAlice, "POST", "/v1/scores", table), 403);
  EXPECT_EQ(scheduler.num_asked, 0);
  const base::http::Response taken = ask(kOperator, "POST", "/v1/scores", table);
  EXPECT_EQ(taken.body, R"({"bins":[2,1],"num_gpus":16})");
  EXPECT_EQ(scheduler.num_asked, 1);
  table.resize(table.rfind("15,"));
  const base::http::Response refused = ask(kOperator, "POST", "/v1/scores", table);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("GPU"));
  EXPECT_EQ(status(kOperator, "POST", "/v1/scores", ""), 400);
  EXPECT_EQ(scheduler.num_asked, 1);
}

TEST_F(ApiNodes, ClusterByRacks) {
  TestGpus monitor;
  monitor.readings = {.at_ns = 5 * base::kSecond, .gpus = {{.util_pct = 97, .power_w = 600}}};
  parts.gpus = &monitor;
  run_two();
  const json cluster = get("/v1/cluster");
  EXPECT_EQ(cluster["num_gpus"], 16);
  ASSERT_EQ(cluster["racks"].size(), 2u);
  const json& gpus = cluster["racks"][0]["nodes"][0]["gpus"];
  EXPECT_EQ(gpus[0], json::parse(R"({"gpu":0,"state":"busy","jobs":[1],"scores":[1.0],
                                     "util_pct":97.0,"power_w":600.0})"));
  EXPECT_EQ(gpus[1], json::parse(R"({"gpu":1,"state":"shared","jobs":[1,2],"scores":[1.0]})"));
  EXPECT_EQ(gpus[2]["state"], "free");
}

TEST_F(ApiNodes, StatsCount) {
  run_two();
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","num_gpus":3})"), 201);
  const json stats = get("/v1/stats");
  EXPECT_EQ(stats["jobs"]["running"], 2);
  EXPECT_EQ(stats["jobs"]["waiting"], 1);
  EXPECT_EQ(stats["waiting_gpus"], 3);
  EXPECT_EQ(stats["gpus"]["shared"], 1);
  EXPECT_EQ(stats["gpus"]["free"], 14);
  EXPECT_EQ(stats["decide_s"]["p50"], 0.2);
}

TEST_F(ApiNodes, MetricsHaveNoLabelsOfJobsOrUsers) {
  run_two();
  const std::string few = ask(kViewer, "GET", "/metrics").body;
  EXPECT_THAT(few, HasSubstr("\ngoban_jobs{state=\"running\"} 2\n"));
  EXPECT_THAT(few, HasSubstr("\ngoban_gpus{state=\"free\"} 14\n"));
  EXPECT_THAT(few, HasSubstr("\ngoban_node_gpus_held{node=\"n0\"} 2\n"));
  EXPECT_THAT(few, HasSubstr("\ngoban_decision_seconds{quantile=\"0.5\"} 0.2\n"));
  EXPECT_THAT(few, HasSubstr("\ngoban_decision_seconds_sum 0.6\n"));
  EXPECT_THAT(few, Not(HasSubstr("daemon")));
  EXPECT_THAT(few, Not(HasSubstr("secret")));
  EXPECT_EQ(status("", "GET", "/metrics"), 401);
  // More jobs do not add series.
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(status(kBob, "POST", "/v1/jobs", R"({"script":"x"})"), 201);
  const std::string many = ask(kViewer, "GET", "/metrics").body;
  EXPECT_EQ(std::count(few.begin(), few.end(), '\n'), std::count(many.begin(), many.end(), '\n'));
}

TEST_F(ApiNodes, WhatIfIsAskedWhereItIsOffered) {
  EXPECT_EQ(status(kAlice, "POST", "/v1/whatif", "{}"), 403);
  EXPECT_EQ(status(kViewer, "POST", "/v1/whatif", "{}"), 503);
  service.reset();
  TestWhatIf answers;
  answers.ask_meanwhile = [this] {
    EXPECT_EQ(status(kViewer, "POST", "/v1/whatif", "{}"), 429) << "one at a time";
  };
  parts.what_if = &answers;
  EXPECT_THAT(ask(kOperator, "POST", "/v1/whatif", "{}").body, HasSubstr(R"("jobs":1)"));
  EXPECT_EQ(status(kViewer, "POST", "/v1/whatif", "{\"a\":1}"), 400);
  EXPECT_EQ(status(kViewer, "POST", "/v1/whatif", "{"), 400);
  EXPECT_EQ(status(kViewer, "POST", "/v1/whatif", "[]"), 400);
  EXPECT_EQ(status(kViewer, "POST", "/v1/whatif", "{}"), 200) << "no longer busy";
}

TEST_F(ApiNodes, EventsTellWhatChanged) {
  const base::http::Response response = ask(kAlice, "GET", "/v1/events");
  ASSERT_NE(response.stream, nullptr);
  std::string got;
  EXPECT_TRUE(response.stream->fill(got, 1 << 20));
  EXPECT_THAT(got, testing::StartsWith("id: 1\nevent: hello\ndata: {\"version\":1}\n\n"));
  got.clear();
  EXPECT_TRUE(response.stream->fill(got, 1 << 20));
  EXPECT_EQ(got, "");
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x","name":"secret"})"), 201);
  // Another listener makes the feed check for changes.
  const base::http::Response other = ask(kBob, "GET", "/v1/events");
  EXPECT_TRUE(response.stream->fill(got, 1 << 20));
  EXPECT_EQ(got,
            "id: 2\nevent: change\n"
            "data: {\"all\":false,\"jobs\":[1],\"nodes\":false,\"version\":2}\n\n");
}

TEST_F(ApiNodes, PagesArePublicAndClosed) {
  pages["/"] = {.content_type = "text/html; charset=utf-8", .body = "<p>hello</p>"};
  start();
  const base::http::Response page = service->answer({.method = "GET", .path = "/"});
  EXPECT_EQ(page.body, "<p>hello</p>");
  EXPECT_THAT(page.headers, testing::Contains(testing::Pair("X-Frame-Options", "DENY")));
  EXPECT_EQ(ask("", "GET", "/v1/openapi.json").status, 200);
  EXPECT_EQ(status("", "GET", "/v1/cluster"), 401);
}

TEST_F(ApiNodes, TooManyRequestsAreToldToWait) {
  options.requests_per_s = 0.001;
  options.requests_burst = 3;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status(kAlice, "GET", "/v1/stats"), 200);
  const base::http::Response refused = ask(kAlice, "GET", "/v1/stats");
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.headers, testing::Contains(testing::Key("Retry-After")));
  EXPECT_EQ(status(kBob, "GET", "/v1/stats"), 200);
}

TEST_F(ApiNodes, StrangersKeepNobodyFromTheDashboard) {
  options.requests_per_s = 0.001;
  options.requests_burst = 3;
  pages["/"] = {.content_type = "text/html", .body = "<p>hello</p>"};
  start();
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(service->answer({.method = "GET", .path = "/v1/openapi.json"}));
    static_cast<void>(service->answer({.method = "GET", .path = "/v1/jobs", .token = "guess"}));
  }
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(service->answer({.method = "GET", .path = "/"}).status, 200) << "page load " << i;
  }
  EXPECT_EQ(status(kAlice, "GET", "/v1/stats"), 200);
}

}  // namespace
}  // namespace goban::serve::api
