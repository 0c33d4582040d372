// The router, openapi.json and docs/api.md state the same routes.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using Routes = std::set<std::string>;

/// The path with {} for the segments that name a job, a node or a reservation, in openapi.json
/// ("{job}") or in an example ("7", "7_2", "n0", "R1"); without a query.
std::string general_path(const std::string& path) {
  std::stringstream segments(path.substr(0, path.find('?')));
  std::string out;
  std::string segment;
  for (std::getline(segments, segment, '/'); std::getline(segments, segment, '/');) {
    const bool is_name = segment.starts_with('{') || segment == "n0" || segment == "R1" ||
                         std::isdigit(static_cast<unsigned char>(segment.front())) != 0;
    out += "/" + (is_name ? "{}" : segment);
  }
  return out;
}

Routes described_routes() {
  Routes out;
  for (const auto& [path, methods] : openapi()["paths"].items()) {
    for (const auto& [method, description] : methods.items()) {
      std::string name = method;
      for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      out.insert(name + " " + general_path(path));
    }
  }
  return out;
}

/// The requests in the first column of the table of docs/api.md: `GET /a/7`, `/a/8` (the same
/// method), or `release` (in place of the last segment).
Routes documented_routes() {
  std::ifstream file(std::filesystem::path(GOBAN_SOURCE_DIR) / "docs/api.md");
  Routes out;
  std::string method;
  std::string path;
  std::string line;
  while (std::getline(file, line) && line != "| request | reply |") continue;
  std::getline(file, line);  // the rule below the heading
  while (std::getline(file, line) && !line.empty()) {
    std::stringstream cell(line.substr(0, line.find(" |")));
    std::string text;
    for (std::getline(cell, text, '`'); std::getline(cell, text, '`');
         std::getline(cell, text, '`')) {
      if (const size_t space = text.find(' '); space != std::string::npos) {
        method = text.substr(0, space);
        path = text.substr(space + 1);
      } else {
        path = text.starts_with('/') ? text : path.substr(0, path.rfind('/') + 1) + text;
      }
      if (path.starts_with('/')) out.insert(method + " " + general_path(path));
    }
  }
  return out;
}

TEST_F(ServiceTest, RoutesAreThoseOfTheDescriptionAndOfTheDocumentation) {
  start();
  const std::vector<std::string> all = service->routes();
  const Routes routes(all.begin(), all.end());
  EXPECT_EQ(routes.size(), all.size()) << "a route was added twice";
  EXPECT_THAT(described_routes(), testing::ContainerEq(routes));
  EXPECT_THAT(documented_routes(), testing::ContainerEq(routes));
}

TEST(Routes, AnIdOfTheClustersOwnQueueMayHoldSlashes) {
  Router router;
  std::string named;
  router.add("GET", "/v1/jobs/{}/explain", Access::Public, {}, [&](const Call& call) {
    named = call.names.at(0);
    return base::http::Response{};
  });
  const auto status = [&](const std::string& path) {
    const auto nobody = [](const base::http::Request&) -> base::Result<Identity> {
      return base::failed("nobody");
    };
    return router
        .answer({.method = "GET", .path = path}, nobody, [](const std::string&) { return 0.0; })
        .status;
  };
  EXPECT_EQ(status("/v1/jobs/%40ml%2Ftrain%2fpod-group/explain"), 200);
  EXPECT_EQ(named, "@ml/train/pod-group");
  EXPECT_EQ(status("/v1/jobs/@ml%2Ftrain/explain"), 200);
  EXPECT_EQ(named, "@ml/train");
  EXPECT_EQ(status("/v1/jobs/ml%2Ftrain/explain"), 400) << "no other name has any";
  EXPECT_EQ(status("/v1%2Fjobs/@ml/explain"), 400);
}

}  // namespace
}  // namespace goban::serve::api
