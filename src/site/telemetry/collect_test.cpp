// The collector with a fake nvidia-smi that works, fails, hangs and prints garbage; its metrics are
// read back, and scraped by a real Prometheus.
#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>

#include "base/test_data.hpp"
#include "base/test_folder.hpp"
#include "base/text_file.hpp"
#include "site/series/input/open_metrics.hpp"
#include "site/series/input/test_intake.hpp"
#include "site/telemetry/exporter.hpp"
#include "site/telemetry/gpu_sampler.hpp"
#include "site/telemetry/prometheus.hpp"
#include "site/telemetry/test_server.hpp"

namespace goban::site::telemetry {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

// Modelled on real captures: a busy V100, one under MIG, one whose driver lost a sensor.
const char* const kRows =
    "0, GPU-aa, Tesla V100-SXM2-16GB, [N/A], 97, 41, 15180, 251.32, 62, 1530, 877\n"
    "1, GPU-bb, NVIDIA H100 80GB HBM3, Enabled, [N/A], [N/A], 59, 71.15, 42, 345, 2619\n"
    "2, GPU-cc, Tesla V100-SXM2-16GB, [N/A], 0, 0, 3, [Unknown Error], 30, 135, 877\n";
const char* const kApps = "GPU-aa, 4711\nGPU-aa, 4712\nMIG-x, 9\n";

class Collect : public testing::Test {
 public:
  /// A fake nvidia-smi that prints the rows and the processes, or runs `instead`.
  std::string fake(const std::string& instead = "") const {
    (void)folder.write("rows", kRows);
    (void)folder.write("apps", kApps);
    std::string path = folder.write(
        "nvidia-smi", "#!/bin/sh\n" + instead + "\ncase \"$1\" in\n--query-gpu=*) cat " +
                          (folder / "rows") + ";;\n--query-compute-apps=*) cat " +
                          (folder / "apps") + ";;\n*) exit 9;;\nesac\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  static std::vector<std::string> read_back(const std::string& page) {
    series::TextSink sink;
    series::Intake intake(sink);
    auto adapters = series::AdapterTable::builtin();
    adapters.default_node = "n";
    const auto read = series::read_open_metrics(
        [&]() -> base::Result<std::unique_ptr<base::ByteSource>> {
          return std::make_unique<base::MemorySource>(page);
        },
        "page", adapters, 1000, intake);
    EXPECT_TRUE(read);
    EXPECT_EQ(intake.counts.rejected_lines(), 0U);
    return sink.lines;
  }

  base::TestFolder folder{"collect"};
};

TEST_F(Collect, AGoodSamplingReadsBackAsItWas) {
  GpuSampler sampler({.program = fake(), .timeout_s = 10});
  const Sampling sampling = sampler.sample();
  EXPECT_EQ(sampling.problem, "");
  ASSERT_EQ(sampling.gpus.size(), 3U);
  EXPECT_EQ(sampling.gpus[0].processes, 2U);
  EXPECT_FALSE(sampling.gpus[1].processes);
  EXPECT_EQ(sampling.gpus[2].processes, 0U);
  Sampling quiet = sampling;
  quiet.cpu_util_pct.reset();
  quiet.host_mem_used_bytes.reset();
  EXPECT_THAT(read_back(metrics_page(quiet)),
              UnorderedElementsAre(
                  "n/0/GPU-aa gpu_utilization 1 97", "n/0/GPU-aa gpu_memory_utilization 1 41",
                  "n/0/GPU-aa gpu_memory_used 1 15180", "n/0/GPU-aa gpu_power 1 251.32",
                  "n/0/GPU-aa gpu_temperature 1 62", "n/0/GPU-aa gpu_sm_clock 1 1530",
                  "n/0/GPU-aa gpu_memory_clock 1 877", "n/0/GPU-aa gpu_processes 1 2",
                  "n/1/GPU-bb gpu_utilization 1 na", "n/1/GPU-bb gpu_memory_utilization 1 na",
                  "n/1/GPU-bb gpu_memory_used 1 59", "n/1/GPU-bb gpu_power 1 71.15",
                  "n/1/GPU-bb gpu_temperature 1 42", "n/1/GPU-bb gpu_sm_clock 1 345",
                  "n/1/GPU-bb gpu_memory_clock 1 2619", "n/2/GPU-cc gpu_utilization 1 0",
                  "n/2/GPU-cc gpu_memory_utilization 1 0", "n/2/GPU-cc gpu_memory_used 1 3",
                  "n/2/GPU-cc gpu_temperature 1 30", "n/2/GPU-cc gpu_sm_clock 1 135",
                  "n/2/GPU-cc gpu_memory_clock 1 877", "n/2/GPU-cc gpu_processes 1 0"));
}

TEST_F(Collect, FailuresHaveAReasonAndNoValues) {
  const std::pair<const char*, const char*> cases[] = {
      {"echo No devices were found; exit 6", "exited with code 6: No devices were found"},
      {"echo hello; exit 0", "not a row of the query: hello"},
      {"exit 0", "no GPU"},
      {"kill -9 $$", "killed by signal 9"},
      {"head -c 100000 /dev/urandom; exit 0", "not a row"},
      {"exec yes", "more than 4194304 bytes"}};
  for (const auto& [instead, problem] : cases) {
    GpuSampler sampler({.program = fake(instead), .timeout_s = 10});
    const Sampling sampling = sampler.sample();
    EXPECT_THAT(sampling.problem, HasSubstr(problem)) << instead;
    const std::string page = metrics_page(sampling);
    EXPECT_THAT(page, HasSubstr("\ngoban_gpu_collect_success 0\n"));
    EXPECT_THAT(page, Not(HasSubstr("{gpu=")));
    EXPECT_THAT(page, Not(HasSubstr("goban_gpu_sample_time_seconds ")));
  }
  GpuSampler absent({.program = folder / "absent", .timeout_s = 10});
  EXPECT_THAT(absent.sample().problem, HasSubstr("cannot run"));
}

TEST_F(Collect, AHangingProgramIsKilledWithItsChildren) {
  // The child keeps the pipe open; it would be found if it survived.
  GpuSampler sampler({.program = fake("sleep 61.4711 & sleep 61.4712"), .timeout_s = 0.3});
  const auto begin = std::chrono::steady_clock::now();
  const Sampling sampling = sampler.sample();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(sampling.problem, HasSubstr("did not exit within 0.3 s"));
  EXPECT_LT(took.count(), 10);
  // Killed immediately, but a busy machine may take a while to reap it.
  int alive = 1;
  for (int i = 0; i < 100 && alive > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i > 0 ? 50 : 0));
    alive = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string line = base::TestFolder::read(entry.path().string() + "/cmdline");
      alive += line.find("61.471") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(Collect, WithoutProcessesTheGpusAreStillKnown) {
  GpuSampler sampler(
      {.program = fake("case \"$1\" in --query-compute*) exit 3;; esac"), .timeout_s = 10});
  const Sampling sampling = sampler.sample();
  EXPECT_EQ(sampling.problem, "");
  EXPECT_FALSE(sampling.gpus[0].processes);
  EXPECT_THAT(metrics_page(sampling), Not(HasSubstr("goban_gpu_processes{")));
}

TEST_F(Collect, HostReadings) {
  const std::string& proc = folder.path();
  (void)folder.write("stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n");
  (void)folder.write("meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\n");
  HostSampler host(proc);
  EXPECT_FALSE(host.cpu_util_pct());
  (void)folder.write("stat", "cpu  130 0 110 760 100 0 0 0 0 0\n");
  EXPECT_DOUBLE_EQ(*host.cpu_util_pct(), 40);
  EXPECT_EQ(host.mem_used_bytes(), 600 * 1024);
  (void)folder.write("stat", "garbage");
  EXPECT_FALSE(host.cpu_util_pct());
}

// Rows of a real capture: columns selected by name from all that nvidia-smi reports.
TEST_F(Collect, RealCapturesAreRows) {
  const auto path =
      base::test_data("fixtures/nvidia-smi/linux-x86_64__nvidia-h100-mig__590.48.01.txt");
  if (!path) GTEST_SKIP() << path.error().text();
  const std::string text = *base::read_text_file(*path);
  const size_t begin = text.find("timestamp, ", text.find("# $ nvidia-smi --query-gpu=timestamp"));
  const size_t row = text.find('\n', begin) + 1;
  const auto split = [](const std::string& line) {
    std::vector<std::string> fields;
    for (size_t at = 0; at != std::string::npos;) {
      const size_t end = line.find(", ", at);
      fields.push_back(line.substr(at, end - at));
      at = end == std::string::npos ? end : end + 2;
    }
    return fields;
  };
  const auto titles = split(text.substr(begin, row - 1 - begin));
  const auto cells = split(text.substr(row, text.find('\n', row) - row));
  ASSERT_EQ(titles.size(), cells.size());
  std::string line;
  const std::string query = gpu_query().substr(std::string("--query-gpu=").size());
  for (size_t at = 0; at < query.size();) {
    const size_t end = std::min(query.find(',', at), query.size());
    const std::string name = query.substr(at, end - at);
    for (size_t i = 0; i < titles.size(); ++i) {
      if (titles[i].substr(0, titles[i].find(" [")) != name) continue;
      line += (line.empty() ? "" : ", ") + cells[i];
    }
    at = end + 1;
  }
  const auto gpus = parse_gpu_rows(line + "\n");
  ASSERT_TRUE(gpus) << gpus.error().text() << line;
  EXPECT_TRUE((*gpus)[0].mig);
  EXPECT_EQ((*gpus)[0].readings[0].second.state, series::State::NotAvailable);
}

TEST_F(Collect, ExporterServesAndAPortIsTakenOnce) {
  const auto exporter = Exporter::start("127.0.0.1", 0, [] { return std::string("a 1\n"); });
  ASSERT_TRUE(exporter) << exporter.error().text();
  const std::string url = "http://127.0.0.1:" + std::to_string(exporter->port());
  base::http::HttpClient client;
  EXPECT_EQ(client.send({.url = url + "/metrics", .timeout_s = 5}).body, "a 1\n");
  EXPECT_EQ(client.send({.url = url + "/other", .timeout_s = 5}).status, 404);
  EXPECT_FALSE(Exporter::start("127.0.0.1", exporter->port(), [] { return std::string(); }));
  EXPECT_TRUE(parse_listen(":9417"));
  EXPECT_EQ(parse_listen("[::1]:1")->first, "::1");
  for (const char* bad : {"", "host", "host:x", "host:70000", "host:-1"}) {
    EXPECT_FALSE(parse_listen(bad)) << bad;
  }
}

TEST_F(Collect, ARealPrometheusScrapesIt) {
  if (!have_program("prometheus")) GTEST_SKIP() << "Debian package prometheus is not installed";
  GpuSampler sampler({.program = fake(), .timeout_s = 10});
  const Sampling first = sampler.sample();
  std::atomic<int> scrapes = 0;
  const auto exporter = Exporter::start("127.0.0.1", 0, [&] {
    Sampling sampling = first;
    constexpr int kSampled = 3;  // then nvidia-smi hangs
    sampling.time_ms += std::min<int>(++scrapes, kSampled);
    return metrics_page(sampling);
  });
  ASSERT_TRUE(exporter);
  const std::string config =
      folder.write("scrape.yml",
                   "scrape_configs:\n- job_name: gpu\n  scrape_interval: 200ms\n"
                   "  static_configs:\n  - targets: ['127.0.0.1:" +
                       std::to_string(exporter->port()) + "']\n");
  const TestPrometheus server(folder / "data", config);
  ASSERT_TRUE(server.ready()) << base::TestFolder::read(folder / "data.log");
  // Its service discovery takes five seconds.
  for (int i = 0; i < 300 && scrapes < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ASSERT_GE(scrapes, 8);
  series::TextSink sink;
  series::Intake intake(sink);
  PrometheusOptions options;
  options.url = server.url();
  options.metrics = {series::Metric::GpuUtilization};
  options.from_ms = first.time_ms - 60'000;
  options.to_ms = first.time_ms + 600'000;
  const auto report = read_prometheus(options, intake);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_THAT(report->gaps, testing::IsEmpty());
  EXPECT_GT(intake.counts.stale, 0U);
  EXPECT_GT(intake.counts.not_available, 0U);
  EXPECT_THAT(sink.lines, Contains(testing::AllOf(testing::StartsWith("127.0.0.1/0/GPU-aa"),
                                                  testing::EndsWith(" 97"))));
  EXPECT_THAT(sink.lines, Contains(testing::AllOf(testing::StartsWith("127.0.0.1/1/GPU-bb"),
                                                  testing::EndsWith(" na"))));
}

}  // namespace
}  // namespace goban::site::telemetry
