#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct TestInbox final : AgentInbox {
  base::Status take(const std::string& node, site::telemetry::AgentReport report) override {
    if (node == "n3") return base::usage_error("the cluster has no node n3");
    if (node == "n2" && report.sequence > 7) return base::failed("too many samples wait");
    taken.emplace_back(node, report.sequence);
    return {};
  }
  [[nodiscard]] std::map<std::string, AgentStand> stands() const override { return known; }
  std::vector<std::pair<std::string, int64_t>> taken;
  std::map<std::string, AgentStand> known;
};

struct ApiAgents : ServiceTest {
  ApiAgents() { parts.agents = &inbox; }
  TestInbox inbox;
  const std::string report = R"({"agent":"w","sequence":7})";
};

TEST_F(ApiAgents, AnAgentReportsOnItsOwnNode) {
  EXPECT_EQ(status(kAgent, "POST", "/v1/nodes/n0/agent", report), 200);
  EXPECT_EQ(status(kAgent, "POST", "/v1/nodes/n1/agent", report), 403);
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n1/agent", report), 200);
  EXPECT_THAT(inbox.taken, testing::ElementsAre(std::pair("n0", 7), std::pair("n1", 7)));
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n3/agent", report), 404);
  EXPECT_EQ(status(kOperator, "POST", "/v1/nodes/n2/agent", R"({"agent":"w","sequence":8})"), 503);
  const base::http::Response wrong = ask(kAgent, "POST", "/v1/nodes/n0/agent", R"({"agent":1})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("agent"));
}

TEST_F(ApiAgents, ItsTokenIsGoodForNothingElse) {
  for (const char* path : {"/v1/jobs", "/v1/nodes", "/v1/cluster", "/v1/stats", "/v1/jobs/1",
                           "/v1/jobs/1/log", "/v1/events", "/metrics", "/v1/colocation"}) {
    EXPECT_EQ(status(kAgent, "GET", path), 403) << path;
  }
  EXPECT_EQ(status(kAgent, "POST", "/v1/jobs", R"({"script":"x"})"), 403);
  EXPECT_EQ(status(kAgent, "POST", "/v1/nodes/n0/drain"), 403);
  EXPECT_EQ(status(kAgent, "DELETE", "/v1/jobs/1"), 403);
  EXPECT_EQ(scheduler.num_asked, 0);
}

TEST_F(ApiAgents, OthersAreNoAgents) {
  for (const char* token : {kAlice, kManager, kViewer}) {
    EXPECT_EQ(status(token, "POST", "/v1/nodes/n0/agent", report), 403);
  }
  EXPECT_EQ(status("nonsense", "POST", "/v1/nodes/n0/agent", report), 401);
  EXPECT_THAT(inbox.taken, testing::IsEmpty());
}

TEST_F(ApiAgents, ADaemonThatReadsItsGpusItselfSaysSo) {
  parts.agents = nullptr;
  EXPECT_EQ(status(kAgent, "POST", "/v1/nodes/n0/agent", report), 409);
}

TEST_F(ApiAgents, NodesAndMetricsSayWhichAreLost) {
  inbox.known["n0"] = {.report_s = 5, .lost = true, .dropped = 3};
  inbox.known["n1"] = {.report_s = 9, .clock_skew_s = -2.5, .problem = "the driver hangs"};
  const json nodes = json::parse(ask(kAlice, "GET", "/v1/nodes").body)["nodes"];
  EXPECT_EQ(nodes[0]["agent"],
            json::parse(R"({"state":"lost","report_s":5.0,"clock_skew_s":0.0,"dropped":3})"));
  EXPECT_EQ(nodes[1]["agent"]["state"], "up");
  EXPECT_EQ(nodes[1]["agent"]["problem"], "the driver hangs");
  EXPECT_FALSE(nodes[2].contains("agent"));
  const std::string page = ask(kViewer, "GET", "/metrics").body;
  EXPECT_THAT(page, HasSubstr("goban_agent_up{node=\"n0\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("goban_agent_up{node=\"n1\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("goban_agent_clock_skew_seconds{node=\"n1\"} -2.5\n"));
  EXPECT_THAT(page, HasSubstr("goban_agent_samples_dropped_total{node=\"n0\"} 3\n"));
}

TEST_F(ApiAgents, UsersOfTheConfigurationReportOverTheSocket) {
  options.callers.agents = {"daemon"};
  start();
  const auto ask_as = [&](const std::string& method, const std::string& path) {
    base::http::Request request{.method = method, .path = path, .body = report};
    request.peer = {.is_local = true, .uid = 1, .gid = 1};  // Debian's daemon
    return service->answer(request).status;
  };
  EXPECT_EQ(ask_as("POST", "/v1/nodes/n2/agent"), 200);
  EXPECT_EQ(ask_as("GET", "/v1/jobs"), 403);
}

}  // namespace
}  // namespace goban::serve::api
