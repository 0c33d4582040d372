#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ApiReservations : public ServiceTest {
 public:
  ApiReservations() {
    scheduler.edit_site([](live::controller::Site& site) { site.reservations.by_users = true; });
  }
  json made(const char* token, const char* body) {
    const base::http::Response response = ask(token, "POST", "/v1/reservations", body);
    EXPECT_EQ(response.status, 201) << response.body;
    return json::parse(response.body);
  }
  const char* const two = R"({"num_nodes":2,"start_s":1800000000.25,"end_s":1800086400.25,
                              "users":["eve"],"accounts":["vision"]})";
};

TEST_F(ApiReservations, AreMadeListedAndCancelled) {
  EXPECT_EQ(made(kAlice, two),
            json::parse(R"({"reservation":"R1","state":"requested","user":"daemon",
                            "nodes":["n0","n1"],"num_gpus":8,"start_s":1800000000.0,
                            "end_s":1800086400.0,"made_s":1700000000.0,"users":["eve"],
                            "accounts":["vision"]})"));
  const json mine = json::parse(ask(kAlice, "GET", "/v1/reservations/R1").body);
  EXPECT_EQ(mine["users"], json::array({"eve"}));
  const json others = json::parse(ask(kBob, "GET", "/v1/reservations").body)["reservations"];
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0]["nodes"], mine["nodes"]);
  EXPECT_FALSE(others[0].contains("users")) << "other users do not see them";
  EXPECT_EQ(status(kBob, "DELETE", "/v1/reservations/R1"), 403);
  EXPECT_EQ(status(kViewer, "DELETE", "/v1/reservations/R1"), 403);
  EXPECT_EQ(status(kAlice, "DELETE", "/v1/reservations/R2"), 404);
  EXPECT_EQ(ask(kAlice, "DELETE", "/v1/reservations/1").body, R"({"reservation":"R1"})");
  EXPECT_EQ(status(kAlice, "DELETE", "/v1/reservations/R1"), 409);
  EXPECT_EQ(json::parse(ask(kBob, "GET", "/v1/reservations/R1").body)["state"], "cancelled");
  made(kAlice, two);
  EXPECT_EQ(status(kOperator, "DELETE", "/v1/reservations/R2"), 200);
}

TEST_F(ApiReservations, NamedNodesAndConflicts) {
  const char* body = R"({"nodes":["n3"],"start_s":1800000000,"end_s":1800086400})";
  EXPECT_EQ(made(kBob, body)["nodes"], json::array({"n3"}));
  const json nodes = json::parse(ask(kAlice, "GET", "/v1/nodes").body)["nodes"];
  EXPECT_FALSE(nodes[2].contains("reservations"));
  EXPECT_EQ(nodes[3]["reservations"][0]["reservation"], "R1");
  const base::http::Response refused = ask(kAlice, "POST", "/v1/reservations", body);
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("n3"));
}

TEST_F(ApiReservations, WhoMay) {
  EXPECT_EQ(status("", "GET", "/v1/reservations"), 401);
  EXPECT_EQ(status(kViewer, "POST", "/v1/reservations", two), 403);
  const char* for_other = R"({"num_nodes":1,"start_s":1,"end_s":2,"user":"root"})";
  EXPECT_EQ(status(kAlice, "POST", "/v1/reservations", for_other), 403);
  EXPECT_EQ(made(kOperator, for_other)["user"], "root");
  const char* nobody = R"({"num_nodes":1,"start_s":1,"end_s":2,"user":"no-such-user"})";
  EXPECT_EQ(status(kOperator, "POST", "/v1/reservations", nobody), 400);
  scheduler.edit_site([](live::controller::Site& site) { site.reservations.by_users = false; });
  EXPECT_EQ(status(kAlice, "POST", "/v1/reservations", two), 403);
  EXPECT_EQ(status(kOperator, "POST", "/v1/reservations", two), 201);
}

TEST_F(ApiReservations, WrongBodiesAreRefused) {
  for (const char* body :
       {"", "[]", "{", R"({"nodes":"n1"})", R"({"nodes":[1]})", R"({"nodes":["n9"]})",
        R"({"num_nodes":-1})", R"({"num_nodes":1,"nodes":["n1"]})", R"({"kind":"\u001b"})",
        R"({"start_s":"tomorrow"})", R"({"users":"eve"})", R"({"owner":"eve"})"}) {
    const base::http::Response refused = ask(kAlice, "POST", "/v1/reservations", body);
    EXPECT_EQ(refused.status, 400) << body;
  }
  EXPECT_EQ(scheduler.num_asked, 0);
}

}  // namespace
}  // namespace goban::serve::api
