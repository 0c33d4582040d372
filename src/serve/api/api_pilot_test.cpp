#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ApiPilot : public ServiceTest {
 public:
  const char* const plan =
      R"({"policy_a":"fifo","policy_b":"goban","period_s":3600,"settle_s":600,"pairs":6})";
};

TEST_F(ApiPilot, IsStartedShownAndStopped) {
  EXPECT_FALSE(json::parse(ask(kAlice, "GET", "/v1/pilot").body).contains("pilot"));
  const base::http::Response started = ask(kOperator, "POST", "/v1/pilot", plan);
  ASSERT_EQ(started.status, 201) << started.body;
  const json pilot = json::parse(started.body)["pilot"];
  EXPECT_EQ(pilot["state"], "running");
  EXPECT_EQ(pilot["started_s"], 1.7e9);
  EXPECT_EQ(pilot["until_s"], 1.7e9 + 12 * 3600);
  EXPECT_EQ(pilot["period_until_s"], 1.7e9 + 3600);
  EXPECT_EQ(pilot["started_by"], "operator");
  EXPECT_EQ(pilot["plan"]["effect"], 0.1);
  ASSERT_EQ(pilot["periods"].size(), 12u);
  EXPECT_NE(pilot["periods"][0]["policy"], pilot["periods"][1]["policy"]);
  EXPECT_EQ(status(kOperator, "POST", "/v1/pilot", plan), 409);
  const json seen = json::parse(ask(kViewer, "GET", "/v1/pilot").body);
  EXPECT_EQ(seen["pilot"], pilot);
  const json stopped =
      json::parse(ask(kOperator, "DELETE", "/v1/pilot", {}, {{"reason", "enough"}}).body)["pilot"];
  EXPECT_EQ(stopped["state"], "stopped");
  EXPECT_EQ(stopped["detail"], "enough");
  EXPECT_FALSE(stopped.contains("policy"));
  EXPECT_EQ(status(kOperator, "DELETE", "/v1/pilot"), 409);
}

TEST_F(ApiPilot, ExplainsWhoDecides) {
  ASSERT_EQ(status(kAlice, "POST", "/v1/jobs", R"({"script":"x"})"), 201);
  const std::string path = "/v1/jobs/1/explain";
  EXPECT_FALSE(json::parse(ask(kAlice, "GET", path).body).contains("pilot"));
  ASSERT_EQ(status(kOperator, "POST", "/v1/pilot", plan), 201);
  json shown = json::parse(ask(kAlice, "GET", path).body);
  EXPECT_EQ(shown["pilot"]["period_until_s"], 1.7e9 + 3600);
  EXPECT_THAT(shown["text"].get<std::string>(), HasSubstr("it is part of the pilot, in which "));
  ASSERT_EQ(status(kOperator, "DELETE", "/v1/pilot"), 200);
  const char* limited = R"({"policy_a":"fifo","policy_b":"goban","period_s":3600,"settle_s":600,
                            "nodes":["n1","n2"],"users":["daemon"]})";
  const base::http::Response started = ask(kOperator, "POST", "/v1/pilot", limited);
  ASSERT_EQ(started.status, 201) << started.body;
  EXPECT_EQ(json::parse(started.body)["pilot"]["plan"]["nodes"], json({"n1", "n2"}));
  EXPECT_FALSE(json::parse(ask(kAlice, "GET", path).body).contains("pilot")) << "not its job";
  scheduler.edit(1, [](live::controller::LiveJob& each) {
    each.reservation = core::model::ReservationId(7U);
  });
  shown = json::parse(ask(kAlice, "GET", path).body);
  EXPECT_EQ(shown["pilot"]["nodes"], json({"n1", "n2"}));
  EXPECT_THAT(shown["text"].get<std::string>(), HasSubstr(" decides on its 2 nodes alone until "));
}

TEST_F(ApiPilot, IsForOperators) {
  for (const char* token : {kAlice, kManager, kViewer}) {
    EXPECT_EQ(status(token, "POST", "/v1/pilot", plan), 403);
    EXPECT_EQ(status(token, "DELETE", "/v1/pilot"), 403);
  }
  EXPECT_EQ(status("", "GET", "/v1/pilot"), 401);
}

TEST_F(ApiPilot, RefusesPlansThatCannotBe) {
  const auto refused = [&](const char* body) {
    const base::http::Response response = ask(kOperator, "POST", "/v1/pilot", body);
    EXPECT_EQ(response.status, 400) << response.body;
    return response.body;
  };
  EXPECT_THAT(refused("{"), HasSubstr("JSON"));
  EXPECT_THAT(refused(R"({"policy_a":"fifo","policy_b":"fifo"})"), HasSubstr("policy_b"));
  EXPECT_THAT(refused(R"({"policy_a":"fifo","policy_b":"las","nodes":3})"), HasSubstr("nodes"));
  EXPECT_EQ(status(kOperator, "DELETE", "/v1/pilot", {}, {{"reason", std::string(300, 'x')}}), 400);
}

}  // namespace
}  // namespace goban::serve::api
