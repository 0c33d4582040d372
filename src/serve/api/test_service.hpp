// A service on a TestSchedulerClient with callers of all roles, for tests of its responses. Include
// GoogleTest before this header.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/sha256.hpp"
#include "serve/api/service.hpp"
#include "serve/api/test_scheduler_client.hpp"
#include "serve/api/test_schema.hpp"
#include "serve/stores/payload_store.hpp"

namespace goban::serve::api {

/// Returns the readings and curves that the test sets.
struct TestGpus final : GpuMonitor {
  [[nodiscard]] GpuReadings latest() const override { return readings; }
  [[nodiscard]] base::Result<GpuCurves> curves(const GpuWindow& window) const override {
    return draw ? draw(window) : GpuCurves{};
  }
  GpuReadings readings{};
  std::function<base::Result<GpuCurves>(const GpuWindow&)> draw{};
};
struct TestScores final : ScoreReporter {
  [[nodiscard]] ScoreReport report() const override { return scores; }
  ScoreReport scores{};
};
struct TestRuns final : live::EngineView {
  [[nodiscard]] std::string terminal_socket(live::RunId run) const override {
    return "/run/" + std::to_string(run.run);
  }
  [[nodiscard]] std::vector<live::RankTimes> rank_times(live::RunId run) const override {
    return run.run == 1 ? ranks : std::vector<live::RankTimes>{};
  }
  std::vector<live::RankTimes> ranks{};  ///< for the first run of each job
};

/// One token per role; alice and bob are the system users `daemon` and `nobody`, which every Debian
/// system has.
class ServiceTest : public testing::Test {
 public:
  static constexpr const char* kAlice = "token-of-alice";
  static constexpr const char* kBob = "token-of-bob";
  static constexpr const char* kManager = "token-of-a-manager";
  static constexpr const char* kViewer = "token-of-a-viewer";
  static constexpr const char* kOperator = "token-of-an-operator";
  static constexpr const char* kAgent = "token-of-the-agent-of-n0";

  ServiceTest() {
    char pattern[] = "/tmp/goban_service_XXXXXX";
    folder = ::mkdtemp(pattern);
    std::ofstream file(folder + "/tokens");
    const auto line = [&](const char* token, const char* rest) {
      file << base::hex(base::sha256(token)) << ' ' << rest << '\n';
    };
    line(kAlice, "user daemon");
    line(kBob, "user nobody");
    line(kManager, "account_manager bin vision");
    line(kViewer, "viewer prometheus");
    line(kOperator, "operator operator");
    line(kAgent, "agent n0");
    file.close();
    ::chmod((folder + "/tokens").c_str(), 0600);
    options.callers.token_file = folder + "/tokens";
    options.many_users = true;
    options.requests_per_s = 1e6;
    options.requests_burst = 1e6;
  }
  ~ServiceTest() override {
    service.reset();
    payloads.reset();  // its thread settles the pack; end it before the folder is removed
    std::filesystem::remove_all(folder);
  }
  void start() {
    if (!payloads)
      payloads = std::make_unique<stores::PayloadStore>(
          stores::PayloadStore::open(folder + "/jobs").value());
    auto started = Service::start(options, scheduler, *payloads, parts, pages);
    ASSERT_TRUE(started.has_value()) << started.error().text();
    service = std::move(*started);
  }
  /// Sends a request and checks that openapi.json describes the response.
  base::http::Response ask(const std::string& token, const std::string& method,
                           const std::string& path, const std::string& body = {},
                           std::map<std::string, std::string> query = {}) {
    if (!service) start();
    const base::http::Request request{
        .method = method, .path = path, .query = std::move(query), .token = token, .body = body};
    base::http::Response response = service->answer(request);
    EXPECT_EQ(answer_problem(request, response), "");
    for (const char* each : {kAlice, kBob, kManager, kViewer, kOperator, kAgent}) {
      EXPECT_EQ(response.body.find(each), std::string::npos) << "a token leaks";
    }
    return response;
  }
  int status(const std::string& token, const std::string& method, const std::string& path,
             const std::string& body = {}, std::map<std::string, std::string> query = {}) {
    return ask(token, method, path, body, std::move(query)).status;
  }

  std::string folder;
  ServiceOptions options;
  DaemonParts parts;
  std::map<std::string, StaticPage> pages;
  TestSchedulerClient scheduler;
  std::unique_ptr<stores::PayloadStore> payloads;
  std::unique_ptr<Service> service;
};

}  // namespace goban::serve::api
