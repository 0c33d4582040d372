#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/api/openapi.hpp"
#include "serve/api/test_schema.hpp"

namespace goban::serve::api {

using nlohmann::json;

namespace {

TEST(Schema, FindsWhatDoesNotFit) {
  const json& error = openapi()["components"]["schemas"]["Error"];
  EXPECT_EQ(schema_problem(error, json::parse(R"({"error":{"message":"x"}})")), "");
  EXPECT_EQ(schema_problem(error, json::parse(R"({"error":{}})")), ".error.message is missing");
  EXPECT_EQ(schema_problem(error, json::parse(R"({"error":{"message":1}})")),
            ".error.message is no string: 1");
  EXPECT_EQ(schema_problem(error, json::parse(R"({"error":{"message":"x","more":1}})")),
            ".error.more is in no description");
  EXPECT_NE(schema_problem(error, json::array()), "");
  const json& change = openapi()["components"]["schemas"]["Changed"];
  EXPECT_EQ(schema_problem(change, json::parse(R"({"jobs":[0]})")), ".jobs[] is too small");
  EXPECT_EQ(schema_problem(openapi()["components"]["schemas"]["State"], "gone"),
            " has no such value: \"gone\"");
}

TEST(Schema, KnowsPathsAndStatus) {
  base::http::Response response{.body = R"({"jobs":[7]})"};
  EXPECT_EQ(answer_problem({.method = "DELETE", .path = "/v1/jobs/7"}, response), "");
  EXPECT_NE(answer_problem({.method = "GET", .path = "/v1/jobs/7"}, response), "");
  EXPECT_NE(answer_problem({.method = "PUT", .path = "/v1/jobs/7"}, response), "");
  EXPECT_NE(answer_problem({.method = "GET", .path = "/nowhere"}, response), "");
  response.status = 500;
  EXPECT_NE(answer_problem({.method = "DELETE", .path = "/v1/jobs/7"}, response), "");
}

TEST(Schema, AllReferencesResolve) {
  const std::string text(openapi_document());
  for (size_t at = text.find("$ref"); at != std::string::npos; at = text.find("$ref", at + 1)) {
    const size_t begin = text.find('#', at) + 1;
    const std::string pointer = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_TRUE(openapi().contains(json::json_pointer(pointer))) << pointer;
  }
}

}  // namespace
}  // namespace goban::serve::api
