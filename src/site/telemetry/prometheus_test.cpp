// Reading from Prometheus: a real server on data made by promtool, and a fake one with every kind
// of failure.
#include "site/telemetry/prometheus.hpp"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <httplib.h>
#include <map>

#include "base/test_folder.hpp"
#include "site/series/input/open_metrics.hpp"
#include "site/series/input/test_intake.hpp"
#include "site/telemetry/test_server.hpp"

namespace goban::site::telemetry {
namespace {

using series::Intake;
using series::TextSink;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kStart_s = 1'554'422'400;  // 2019-04-05 00:00 UTC

PrometheusOptions options_for(const std::string& url, int64_t from_s, int64_t to_s) {
  PrometheusOptions options;
  options.url = url;
  options.from_ms = (kStart_s + from_s) * 1000;
  options.to_ms = (kStart_s + to_s) * 1000;
  options.http = {.timeout_s = 5, .retries = 1, .pause_s = 0.01};
  return options;
}

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  return lines;
}

// ---- a real server ------------------------------------------------------------------------------

/// Five nodes with two GPUs for three hours: gaps, a series that ends, text files served again. The
/// nodes have different node labels; one series has none.
std::string metrics_text() {
  const auto named = [](int node) -> std::string {
    if (node == 4) return "Hostname=\"g4\",instance=\"exporter:9100\",";
    if (node == 5) return "host=\"g5\",instance=\"exporter:9100\",node=\"g5.y\",";
    return node == 6 ? "" : fmt::format("instance=\"g{}.x:9100\",", node);
  };
  const auto line = [&](const char* name, int node, int gpu, int64_t time_s, int64_t value) {
    const std::string device =
        gpu < 0 ? "" : fmt::format("gpu=\"{}\",uuid=\"GPU-{}{}\",", gpu, node, gpu);
    return fmt::format("{}{{{}{}job=\"node\"}} {} {}\n", name, device, named(node), value, time_s);
  };
  std::string text = "# TYPE goban_gpu_utilization_percent gauge\n";
  for (int node = 1; node <= 5; ++node) {
    for (int gpu = 0; gpu < 2; ++gpu) {
      for (int64_t minute = 0; minute < 180; ++minute) {
        if (minute >= 60 && minute < 70) continue;  // scrapes failed
        if (node == 3 && minute >= 100) continue;   // the node failed
        text += line("goban_gpu_utilization_percent", node, gpu, kStart_s + minute * 60,
                     (minute * node + gpu) % 101);
      }
    }
  }
  text += line("goban_gpu_utilization_percent", 6, 0, kStart_s, 50);
  text += "# TYPE goban_gpu_sample_time_seconds gauge\n";
  for (int node = 1; node <= 5; ++node) {
    for (int64_t minute = 0; minute < 180; ++minute) {
      if ((minute >= 60 && minute < 70) || (node == 3 && minute >= 100)) continue;
      const int64_t fresh = node % 2 == 0 && minute >= 120 && minute < 125 ? 119 : minute;
      text += line("goban_gpu_sample_time_seconds", node, -1, kStart_s + minute * 60,
                   kStart_s + fresh * 60 - 7);
    }
  }
  return text + "# EOF\n";
}

TEST(Prometheus, RealServerGivesWhatWasScraped) {
  if (!have_program("prometheus") || !have_program("promtool")) {
    GTEST_SKIP() << "Debian package prometheus is not installed";
  }
  const base::TestFolder folder("prometheus");
  const std::string text = metrics_text();
  const std::string file = folder.write("metrics.om", text);
  const std::string config = folder.write("empty.yml", "global: {}\n");
  ASSERT_EQ(std::system(("promtool tsdb create-blocks-from openmetrics " + file + " " +
                         (folder / "data") + " > /dev/null 2>&1")
                            .c_str()),
            0);
  const TestPrometheus server(folder / "data", config);
  ASSERT_TRUE(server.ready()) << base::TestFolder::read(folder / "data.log");

  TextSink expected;
  Intake direct(expected);
  const auto adapters = series::AdapterTable::builtin();
  ASSERT_TRUE(series::read_open_metrics([&] { return base::open_bytes(file); }, file, adapters,
                                        std::nullopt, direct));
  EXPECT_EQ(direct.counts.stale, 4U * 5);
  EXPECT_EQ(expected.lines.size(), 10U * 170 - 2U * 80);

  PrometheusOptions options = options_for(server.url() + "/", 0, 3 * 3600);
  options.nodes_per_query = 2;
  options.block_ms = 40 * 60'000;  // block boundaries coincide with samples
  TextSink sink;
  Intake intake(sink);
  const auto report = read_prometheus(options, intake);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->version.substr(0, 1), "2");
  EXPECT_THAT(report->gaps, IsEmpty());
  EXPECT_THAT(report->metrics, ElementsAre("goban_gpu_utilization_percent"));
  EXPECT_EQ(sorted(sink.lines), sorted(expected.lines));
  EXPECT_THAT(intake.counts.rejected, ElementsAre(testing::Pair("no label names the node", 1)));

  options.matchers = "instance=\"g1.x:9100\"";
  options.to_ms = options.from_ms + 120'000;  // half-open: two samples of each GPU
  sink.lines.clear();
  ASSERT_TRUE(read_prometheus(options, intake));
  EXPECT_EQ(sink.lines.size(), 4U);
  options.from_ms += int64_t{10} * 86'400'000;
  options.to_ms += int64_t{10} * 86'400'000;
  const auto nothing = read_prometheus(options, intake);
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().text(), HasSubstr("none of the requested metrics"));
}

// ---- a server that fails ------------------------------------------------------------------------

/// One GPU sampled at kStart_s + 0, 60, 120, ... by a server of version 2 or 3.
class FakePrometheus : public testing::Test {
 public:
  FakePrometheus() {
    server.Get("/api/v1/status/buildinfo", [this](const httplib::Request&, httplib::Response& r) {
      r.set_content("{\"data\":{\"version\":\"" + std::to_string(version) + ".1.0\"}}",
                    "application/json");
    });
    server.Get(
        R"(/api/v1/label/(\w+)/values)", [](const httplib::Request& request, httplib::Response& r) {
          const std::string label = request.matches[1];
          const std::string match = request.get_param_value("match[]");
          const bool named = match.find("Hostname=\"\"") == std::string::npos;
          const std::string value = !named                ? ""
                                    : label == "__name__" ? "\"DCGM_FI_DEV_GPU_UTIL\""
                                    : label == "Hostname" ? "\"n1\""
                                                          : "";
          r.set_content("{\"status\":\"success\",\"data\":[" + value + "]}", "application/json");
        });
    server.Post("/api/v1/query", [this](const httplib::Request& request, httplib::Response& r) {
      answer(request, r);
    });
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([this] { server.listen_after_bind(); });
    server.await_start();
  }
  ~FakePrometheus() override {
    server.stop();
    thread.join();
  }
  FakePrometheus(const FakePrometheus&) = delete;
  FakePrometheus& operator=(const FakePrometheus&) = delete;

  class Server : public httplib::Server {
   public:
    void await_start() const {
      while (!is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };

  void answer(const httplib::Request& request, httplib::Response& r) {
    const std::string query = request.get_param_value("query");
    const int64_t end_ms = std::llround(std::stod(request.get_param_value("time")) * 1000);
    const int64_t range_ms = std::stoll(query.substr(query.rfind('[') + 1));
    ++queries;
    if (fail && fail(end_ms, range_ms, r)) return;
    std::string values;
    for (int64_t at_ms = kStart_s * 1000; at_ms <= end_ms; at_ms += 60'000) {
      const bool left = version >= 3 ? at_ms > end_ms - range_ms : at_ms >= end_ms - range_ms;
      if (!left) continue;
      if (!values.empty()) values += ",";
      values += fmt::format("[{},\"{}\"]", at_ms / 1000, (at_ms / 60'000) % 101);
    }
    const std::string warnings = warning.empty() ? "" : ",\"warnings\":[\"" + warning + "\"]";
    r.set_content(
        "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{"
        "\"metric\":{\"gpu\":\"0\",\"Hostname\":\"n1\"},\"values\":[" +
            values + "]}]}" + warnings + "}",
        "application/json");
  }

  base::Result<PrometheusReport> read(int64_t to_s, int64_t block_s) {
    options = options_for("http://u:secret@127.0.0.1:" + std::to_string(port), 0, to_s);
    options.http.timeout_s = timeout_s;
    options.block_ms = block_s * 1000;
    options.block_ms_min = 60'000;
    return read_prometheus(options, intake);
  }

  Server server;
  int port = 0;
  std::thread thread;
  int version = 2;
  std::atomic<int> queries = 0;
  std::string warning;
  double timeout_s = 5;
  std::function<bool(int64_t, int64_t, httplib::Response&)> fail;
  PrometheusOptions options;
  TextSink sink;
  Intake intake{sink};
};

TEST_F(FakePrometheus, BothVersionsGiveEachSampleOnce) {
  for (const int v : {2, 3}) {
    version = v;
    sink.lines.clear();
    const auto report = read(3600, 600);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_EQ(report->version, std::to_string(v) + ".1.0");
    EXPECT_EQ(sink.lines.size(), 60U);
    EXPECT_EQ(sorted(sink.lines).front(),
              fmt::format("n1/0/ gpu_utilization {} {}", kStart_s, kStart_s / 60 % 101));
  }
}

TEST_F(FakePrometheus, ABlockThatFailsIsAGapAndTheRestIsRead) {
  fail = [](int64_t end_ms, int64_t, httplib::Response& r) {
    if (end_ms != (kStart_s + 1200) * 1000 - 1) return false;
    r.status = 500;
    r.set_content("<html>broken</html>", "text/html");
    return true;
  };
  const auto report = read(3600, 600);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->gaps.size(), 1U);
  EXPECT_EQ(report->gaps[0].from_ms, (kStart_s + 600) * 1000);
  EXPECT_EQ(report->gaps[0].to_ms, (kStart_s + 1200) * 1000);
  EXPECT_EQ(report->gaps[0].reason, "HTTP 500");
  EXPECT_EQ(report->retries, 1U);
  EXPECT_EQ(sink.lines.size(), 50U);
}

TEST_F(FakePrometheus, AFailureThatPassesIsRetried) {
  std::atomic<int> failures = 0;
  fail = [&](int64_t, int64_t, httplib::Response& r) {
    if (failures++ > 0) return false;
    r.status = 503;
    return true;
  };
  const auto report = read(600, 600);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->gaps, IsEmpty());
  EXPECT_EQ(report->retries, 1U);
  EXPECT_EQ(sink.lines.size(), 10U);
}

TEST_F(FakePrometheus, TooMuchIsAskedForInHalves) {
  fail = [](int64_t, int64_t range_ms, httplib::Response& r) {
    if (range_ms <= 900'000) return false;
    r.status = 422;
    r.set_content(
        "{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"query processing "
        "would load too many samples into memory in query execution\"}",
        "application/json");
    return true;
  };
  const auto report = read(3600, 3600);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->gaps, IsEmpty());
  EXPECT_EQ(report->halved, 3U);
  EXPECT_EQ(sink.lines.size(), 60U);
}

TEST_F(FakePrometheus, TimeOutsAndCutAnswersAreGaps) {
  timeout_s = 0.2;
  fail = [](int64_t end_ms, int64_t, httplib::Response& r) {
    if (end_ms < (kStart_s + 600) * 1000) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      return false;
    }
    if (end_ms >= (kStart_s + 1200) * 1000) return false;
    r.set_content("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"met",
                  "application/json");
    return true;
  };
  const auto report = read(1800, 600);
  ASSERT_TRUE(report);
  ASSERT_GE(report->gaps.size(), 2U);
  EXPECT_THAT(report->gaps.front().reason, HasSubstr("timed out after 0.2 s"));
  EXPECT_THAT(report->gaps.back().reason, HasSubstr("invalid JSON"));
  EXPECT_EQ(sink.lines.size(), 10U);
}

TEST_F(FakePrometheus, WarningsOfPartialDataAreHandedOn) {
  warning = "store 3 is unreachable";
  const auto report = read(1200, 600);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->warnings, ElementsAre("store 3 is unreachable"));
}

TEST_F(FakePrometheus, NobodyThereIsAnErrorWithoutThePassword) {
  options = options_for("http://u:secret@127.0.0.1:1", 0, 600);
  options.http.retries = 0;
  const auto report = read_prometheus(options, intake);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().text(), HasSubstr("http://127.0.0.1:1"));
  EXPECT_THAT(report.error().text(), testing::Not(HasSubstr("secret")));
}

TEST_F(FakePrometheus, UsageErrors) {
  options = options_for("127.0.0.1:9090", 0, 600);
  EXPECT_THAT(read_prometheus(options, intake).error().text(), HasSubstr("is not an address"));
  options = options_for("http://127.0.0.1:9090", 600, 600);
  EXPECT_THAT(read_prometheus(options, intake).error().text(), HasSubstr("--from before --to"));
}

}  // namespace
}  // namespace goban::site::telemetry
