// Metrics in text into samples: units, nodes and GPUs of each exporter, stale and missing values.
#include "site/series/input/open_metrics.hpp"

#include <gmock/gmock.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "site/series/input/test_intake.hpp"

namespace goban::site::series {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class OpenMetrics : public testing::Test {
 public:
  base::Status read(const std::string& text) {
    const OpenBytes open = [&]() -> base::Result<std::unique_ptr<base::ByteSource>> {
      return std::make_unique<base::MemorySource>(text);
    };
    return read_open_metrics(open, "m.txt", adapters, time_ms, intake);
  }
  void add(const char* toml) {
    const auto added = adapters.add_toml(toml, "a.toml");
    ASSERT_TRUE(added) << added.error().text();
  }

  AdapterTable adapters = AdapterTable::builtin();
  std::optional<int64_t> time_ms;
  TextSink sink;
  Intake intake{sink};
};

TEST_F(OpenMetrics, ExportersHaveTheirUnitsAndLabels) {
  ASSERT_TRUE(
      read("# TYPE x gauge\n"
           "DCGM_FI_DEV_GPU_UTIL{gpu=\"3\",UUID=\"GPU-a\",Hostname=\"n1\"} 35 100\n"
           "DCGM_FI_DEV_GPU_UTIL{gpu=\"3\",UUID=\"GPU-a\",Hostname=\"n1\",GPU_I_ID=\"1\"} "
           "9223372036854775794 100\n"
           "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",UUID=\"GPU-b\",Hostname=\"n1\"} 0.255 100\n"
           "nvidia_smi_utilization_gpu_ratio{uuid=\"c\",instance=\"n2.x:9835\"} 0.5 100\n"
           "nvidia_smi_index{uuid=\"c\",instance=\"n2.x:9835\"} 7 100\n"
           "nvidia_smi_memory_used_bytes{uuid=\"c\",instance=\"n2.x:9835\"} 2097152 100\n"
           "nvidia_gpu_duty_cycle{minor_number=\"1\",uuid=\"d\",instance=\"n3\"} 0 100\n"
           "nvidia_gpu_power_usage_milliwatts{minor_number=\"1\",instance=\"n3\"} 70500 1\n"
           "something_else{instance=\"n3\"} 1 100\n# EOF\n"));
  EXPECT_THAT(
      sink.lines,
      ElementsAre("n1/3/GPU-a gpu_utilization 100 35", "n1/3.1/GPU-a gpu_utilization 100 na",
                  "n1/0/GPU-b gpu_sm_active 100 25.5", "n2.x/7/c gpu_utilization 100 50",
                  "n2.x/7/c gpu_memory_used 100 2", "n3/1/d gpu_utilization 100 0",
                  "n3/1/ gpu_power 1 70.5"));
  EXPECT_EQ(intake.counts.other_metrics, 1U);
  EXPECT_EQ(intake.counts.not_available, 1U);
}

TEST_F(OpenMetrics, ServedAgainIsStaleUntilTheSampleTimeMoves) {
  ASSERT_TRUE(
      read("goban_gpu_utilization_percent{gpu=\"0\",instance=\"n1\"} 40 100\n"
           "goban_gpu_utilization_percent{gpu=\"0\",instance=\"n1\"} 40 160\n"
           "goban_gpu_utilization_percent{gpu=\"0\",instance=\"n1\"} 40 220\n"
           "goban_gpu_utilization_percent{gpu=\"0\",instance=\"n2\"} 40 160\n"
           "node_hwmon_temp_celsius{chip=\"c\",sensor=\"t1\",instance=\"n1\"} 40 160\n"
           "goban_gpu_sample_time_seconds{instance=\"n1\"} 98 100\n"
           "goban_gpu_sample_time_seconds{instance=\"n1\"} 98 160\n"
           "goban_gpu_sample_time_seconds{instance=\"n1\"} 219 220\n"));
  EXPECT_THAT(sink.lines,
              ElementsAre("n1/0/ gpu_utilization 100 40", "n1/0/ gpu_utilization 160 stale",
                          "n1/0/ gpu_utilization 220 40", "n2/0/ gpu_utilization 160 40",
                          "n1/c.t1/ node_temperature 160 40"));
  EXPECT_EQ(intake.counts.stale, 1U);
}

TEST_F(OpenMetrics, FailedCollectionIsStale) {
  ASSERT_TRUE(
      read("nvidia_smi_utilization_gpu_ratio{uuid=\"c\",instance=\"n\"} 0.5 100\n"
           "nvidia_smi_last_collect_success{instance=\"n\"} 0 100\n"
           "nvidia_smi_compute_apps{uuid=\"c\",instance=\"n\"} 0 100\n"
           "nvidia_smi_compute_apps_last_collect_success{instance=\"n\"} 1 100\n"));
  EXPECT_THAT(sink.lines,
              ElementsAre("n//c gpu_utilization 100 stale", "n//c gpu_processes 100 0"));
}

TEST_F(OpenMetrics, MtimeOfOneTextfileCounts) {
  ASSERT_TRUE(
      read("nvidia_smi_utilization_gpu{gpu=\"0\",instance=\"n\"} 5 100\n"
           "nvidia_smi_utilization_gpu{gpu=\"0\",instance=\"n\"} 5 160\n"
           "node_textfile_mtime_seconds{file=\"/x/nvidia_smi.prom\",instance=\"n\"} 90 100\n"
           "node_textfile_mtime_seconds{file=\"/x/nvidia_smi.prom\",instance=\"n\"} 90 160\n"
           "node_textfile_mtime_seconds{file=\"/x/other.prom\",instance=\"n\"} 150 160\n"));
  EXPECT_THAT(sink.lines,
              ElementsAre("n/0/ gpu_utilization 100 5", "n/0/ gpu_utilization 160 stale"));
}

TEST_F(OpenMetrics, NotANumberIsNoSample) {
  ASSERT_TRUE(read("nvidia_gpu_duty_cycle{minor_number=\"1\",instance=\"n3\"} NaN 100\n"));
  EXPECT_THAT(sink.lines, IsEmpty());
  EXPECT_EQ(intake.counts.no_number, 1U);
}

TEST_F(OpenMetrics, RejectsSayWhy) {
  std::vector<std::string> rejects;
  intake.on_reject = [&](const Reject& reject) {
    rejects.push_back(fmt::format("{}:{} {}", reject.file, reject.line, reject.reason));
  };
  ASSERT_TRUE(
      read("nvidia_gpu_duty_cycle{minor_number=\"1\",instance=\"n3\"} 1\n"
           "nvidia_gpu_duty_cycle{minor_number=\"1\"} 1 100\n"
           "garbage {\n"));
  EXPECT_THAT(rejects, ElementsAre("m.txt:1 no timestamp", "m.txt:2 no label names the node",
                                   "m.txt:3 not a line of metrics"));
  EXPECT_EQ(intake.counts.rejected_lines(), 3U);
  EXPECT_THAT(intake.counts.rejected, testing::Contains(Pair("no timestamp", 1U)));
}

TEST_F(OpenMetrics, NoMetricAtAllIsAnError) {
  const auto status = read("\x01\x02\nhello world x\n");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::BadData);
}

TEST_F(OpenMetrics, NodesAndTimesOnTheCommandLine) {
  time_ms = 5000;
  adapters.default_node = "n9";
  adapters.short_node_names = true;
  ASSERT_TRUE(
      read("DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1\n"
           "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"a.b.c\"} 1\n"
           "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",instance=\"10.1.2.3:9400\"} 1\n"));
  EXPECT_THAT(sink.lines, ElementsAre("n9/0/ gpu_utilization 5 1", "a/0/ gpu_utilization 5 1",
                                      "10.1.2.3/0/ gpu_utilization 5 1"));
}

TEST_F(OpenMetrics, AdapterFileAddsAndReplaces) {
  add("[[adapter]]\nname = \"my_util\"\nmetric = \"gpu_utilization\"\nunit = \"ratio\"\n"
      "node = [\"server\"]\ndevice = [\"slot\", \"part\"]\nuuid = \"id\"\nfreshness = \"my_age\"\n"
      "only = \"kind=gpu\"\n[[adapter]]\nname = \"my_age\"\nrole = \"freshness\"\n"
      "node = \"server\"\n"
      "[[adapter]]\nname = \"nvidia_gpu_duty_cycle\"\nmetric = \"gpu_utilization\"\n"
      "unit = \"ratio\"\ndevice = \"uuid\"\n");
  ASSERT_TRUE(
      read("my_util{server=\"s\",slot=\"2\",part=\"0\",id=\"u\",kind=\"gpu\"} 0.25 100\n"
           "my_util{server=\"s\",slot=\"2\",part=\"0\",id=\"u\",kind=\"gpu\"} 0.25 160\n"
           "my_util{server=\"s\",slot=\"2\",part=\"0\",id=\"u\",kind=\"cpu\"} 0.25 160\n"
           "my_age{server=\"s\"} 1 100\nmy_age{server=\"s\"} 1 160\n"
           "nvidia_gpu_duty_cycle{uuid=\"x\",instance=\"n\"} 0.5 100\n"));
  EXPECT_THAT(sink.lines,
              ElementsAre("s/2.0/u gpu_utilization 100 25", "s/2.0/u gpu_utilization 160 stale",
                          "n/x/ gpu_utilization 100 50"));
}

TEST(AdapterTable, FilesAreCheckedWithLineAndRemedy) {
  AdapterTable table = AdapterTable::builtin();
  const auto refused = [&](const char* toml) {
    const auto status = table.add_toml(toml, "a.toml");
    return status ? std::string("accepted") : status.error().text();
  };
  EXPECT_THAT(refused("[[adapter]]\nname=\"a\"\nmetric=\"gpu_utilisation\"\nunit=\"percent\"\n"),
              HasSubstr("did you mean 'gpu_utilization'"));
  EXPECT_THAT(refused("[[adapter]]\nname=\"a\"\nmetric=\"gpu_power\"\nunit=\"percent\"\n"),
              HasSubstr("a.toml:4"));
  EXPECT_THAT(refused("[[adapter]]\nname=\"a\"\nmetric=\"gpu_power\"\n"), HasSubstr("unit"));
  EXPECT_THAT(refused("[[adapter]]\nname=\"a\"\nrole=\"x\"\n"), HasSubstr("known: sample"));
  EXPECT_THAT(refused("[[adapter]]\nname=\"a\"\nrole=\"index\"\nonly=\"x\"\n"),
              HasSubstr("LABEL=END"));
  EXPECT_THAT(refused("[[adapter]]\nnam=\"a\"\n"), HasSubstr("name"));
  EXPECT_THAT(refused("x = 1\n"), HasSubstr("[[adapter]]"));
}

// Real pages of nvidia_gpu_exporter. Values verified manually against the files.
TEST_F(OpenMetrics, RealPagesOfNvidiaGpuExporter) {
  const std::string folder = "fixtures/nvidia-smi/linux-x86_64__nvidia-";
  const auto load = base::test_data(folder + "h100-80gb-hbm3__590.48.01__load.metrics");
  const auto mig = base::test_data(folder + "h100-mig__590.48.01__idle.metrics");
  if (!load) GTEST_SKIP() << load.error().text();
  if (!mig) GTEST_SKIP() << mig.error().text();
  time_ms = 1000;
  adapters.default_node = "n";
  ASSERT_TRUE(read(*base::read_text_file(*load)));
  const std::string gpu = "n/0/00000000-0000-0000-0000-000000000000 ";
  EXPECT_THAT(sink.lines, testing::Contains(gpu + "gpu_utilization 1 100"));
  EXPECT_THAT(sink.lines, testing::Contains(gpu + "gpu_memory_utilization 1 11"));
  EXPECT_THAT(sink.lines, testing::Contains(gpu + "gpu_processes 1 3"));
  EXPECT_EQ(intake.counts.rejected_lines(), 0U);
  sink.lines.clear();
  ASSERT_TRUE(read(*base::read_text_file(*mig)));
  EXPECT_THAT(sink.lines, testing::Contains(gpu + "gpu_temperature 1 42"));
  EXPECT_THAT(sink.lines, testing::Contains(gpu + "gpu_power 1 71.15"));
  // Under MIG the exporter omits the utilisation: no sample, not zero.
  EXPECT_THAT(sink.lines, testing::Each(testing::Not(HasSubstr("gpu_utilization"))));
}

}  // namespace
}  // namespace goban::site::series
