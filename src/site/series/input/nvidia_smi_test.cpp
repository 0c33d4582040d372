// nvidia-smi's CSV into samples: columns, units, marks, wall clocks, damaged rows.
#include "site/series/input/nvidia_smi.hpp"

#include <gmock/gmock.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "site/series/input/test_intake.hpp"

namespace goban::site::series {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NvidiaSmi : public testing::Test {
 public:
  base::Status read(const std::string& text) {
    base::MemorySource source(text);
    return read_nvidia_smi(source, "smi.csv", options, intake);
  }

  NvidiaSmiOptions options{.node = "n1"};
  TextSink sink;
  Intake intake{sink};
};

TEST_F(NvidiaSmi, AnyOrderOfColumnsWithUnits) {
  ASSERT_TRUE(
      read("memory.used [MiB], name, utilization.gpu [%], uuid, power.draw [W], index, "
           "timestamp, temperature.gpu, clocks.sm [MHz]\n"
           "512 MiB, Tesla V100-SXM2-16GB, 35 %, GPU-1, 60.50 W, 0, "
           "2019/04/05 00:00:30.250, 41, 1530 MHz\n"));
  EXPECT_THAT(sink.lines, ElementsAre("n1/0/GPU-1 gpu_memory_used 1554422430.25 512",
                                      "n1/0/GPU-1 gpu_utilization 1554422430.25 35",
                                      "n1/0/GPU-1 gpu_power 1554422430.25 60.5",
                                      "n1/0/GPU-1 gpu_temperature 1554422430.25 41",
                                      "n1/0/GPU-1 gpu_sm_clock 1554422430.25 1530"));
}

TEST_F(NvidiaSmi, NoUnitsOwnUnitsAndOnlyWantedMetrics) {
  options.metrics = {Metric::GpuUtilization, Metric::GpuPower};
  ASSERT_TRUE(
      read("timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
           "2019/04/05 00:00:30, 0, 35, 512, 250000 mW\n"));
  EXPECT_THAT(sink.lines,
              ElementsAre("n1/0/ gpu_utilization 1554422430 35", "n1/0/ gpu_power 1554422430 250"));
}

TEST_F(NvidiaSmi, NotAvailableIsAMarkAndErrorsAreNoSample) {
  ASSERT_TRUE(
      read("timestamp, index, utilization.gpu [%], temperature.gpu\n"
           "2019/04/05 00:00:30, 0, [N/A], 30\n"
           "2019/04/05 00:00:30, 1, [Not Supported], 0\n"
           "2019/04/05 00:00:30, 2, [Unknown Error], [GPU is lost]\n"
           "2019/04/05 00:00:30, 3, 0 %, 31\n"));
  EXPECT_THAT(
      sink.lines,
      ElementsAre("n1/0/ gpu_utilization 1554422430 na", "n1/0/ gpu_temperature 1554422430 30",
                  "n1/1/ gpu_utilization 1554422430 na", "n1/1/ gpu_temperature 1554422430 0",
                  "n1/3/ gpu_utilization 1554422430 0", "n1/3/ gpu_temperature 1554422430 31"));
  EXPECT_EQ(intake.counts.not_available, 2U);
  EXPECT_EQ(intake.counts.no_number, 2U);
}

TEST_F(NvidiaSmi, LogsRepeatAndChangeTheirHeader) {
  ASSERT_TRUE(
      read("No devices were found\n"
           "timestamp, index, utilization.gpu [%]\r\n"
           "2019/04/05 00:00:30, 0, 1 %\r\n\r\n"
           "timestamp, index, utilization.gpu [%]\r\n"
           "2019/04/05 00:01:30, 0, 2 %\r\n"
           "index, timestamp, utilization.gpu [%]\n"
           "0, 2019/04/05 00:02:30, 3 %\n"
           "Unable to determine the device handle for GPU 0000:04:00.0: Unknown Error\n"
           "0, 2019/04/05 00:03:30, 4 %, 5\n"
           "0, 2019/04/05 00:03"));
  EXPECT_THAT(sink.lines, ElementsAre("n1/0/ gpu_utilization 1554422430 1",
                                      "n1/0/ gpu_utilization 1554422490 2",
                                      "n1/0/ gpu_utilization 1554422550 3"));
  EXPECT_EQ(intake.counts.rejected["the number of fields differs from the header"], 3U);
  EXPECT_EQ(intake.counts.rejected["before the header"], 1U);
}

TEST_F(NvidiaSmi, WithoutHeader) {
  options.columns = "timestamp,uuid,utilization.gpu";
  ASSERT_TRUE(read("2019/04/05 00:00:30.000, GPU-7, 12\n"));
  EXPECT_THAT(sink.lines, ElementsAre("n1//GPU-7 gpu_utilization 1554422430 12"));
  options.columns.clear();
  std::string text;
  for (int i = 0; i < 30; ++i) text += "2019/04/05 00:00:30.000, GPU-7, 12\n";
  const auto status = read(text);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("--columns"));
}

TEST_F(NvidiaSmi, HostnameColumnNamesTheNode) {
  options.short_node_names = true;
  ASSERT_TRUE(
      read("hostname, index, timestamp, utilization.gpu [%]\n"
           "g0001.abci.local, 0, 2019/04/05 00:00:30, 5 %\n"
           "[N/A], 0, 2019/04/05 00:00:30, 5 %\n"));
  EXPECT_THAT(sink.lines, ElementsAre("g0001/0/ gpu_utilization 1554422430 5",
                                      "n1/0/ gpu_utilization 1554422430 5"));
}

TEST_F(NvidiaSmi, WallClocksHaveAZoneAndAnHourThatComesTwice) {
  const auto zone = base::TimeZone::load("Europe/Berlin");
  if (!zone) GTEST_SKIP() << "no zone database";
  options.zone = *zone;
  ASSERT_TRUE(
      read("timestamp, index, utilization.gpu [%]\n"
           "2019/07/01 12:00:00, 0, 1 %\n"
           "2019/10/27 02:30:00, 0, 2 %\n"
           "2019/10/27 02:59:00, 0, 3 %\n"
           "2019/10/27 02:30:00, 0, 4 %\n"
           "2019/10/27 03:00:00, 0, 5 %\n"
           "2019/03/31 02:30:00, 0, 6 %\n"));
  EXPECT_THAT(
      sink.lines,
      ElementsAre("n1/0/ gpu_utilization 1561975200 1", "n1/0/ gpu_utilization 1572136200 2",
                  "n1/0/ gpu_utilization 1572137940 3", "n1/0/ gpu_utilization 1572139800 4",
                  "n1/0/ gpu_utilization 1572141600 5"));
  EXPECT_EQ(intake.counts.rejected["the time does not exist in the time zone"], 1U);
}

TEST_F(NvidiaSmi, BadCellsAndTimesAreRejectedOneByOne) {
  ASSERT_TRUE(
      read("timestamp, index, utilization.gpu [%], memory.used [MiB]\n"
           "2019/04/05 00:00:30, 0, x %, 100 MiB\n"
           "2019/04/05 00:00:30, 0, 5 W, 100 furlongs\n"
           "2019/02/30 00:00:30, 0, 5 %, 100 MiB\n"
           "[Unknown Error], 0, 5 %, 100 MiB\n"
           "2019/04/05 00:00:30, , 5 %, 100 MiB\n"
           "\"2019/04/05, 0, 5 %, 100 MiB\n"));
  EXPECT_THAT(sink.lines, ElementsAre("n1/0/ gpu_memory_used 1554422430 100"));
  EXPECT_EQ(intake.counts.rejected["value is not a number with a known unit"], 3U);
  EXPECT_EQ(intake.counts.rejected["timestamp is not YYYY/MM/DD HH:MM:SS.mmm"], 2U);
  EXPECT_EQ(intake.counts.rejected["has no GPU index or UUID"], 1U);
  EXPECT_EQ(intake.counts.rejected["not a valid CSV row"], 1U);
}

TEST_F(NvidiaSmi, WhatIsMissingIsSaidWithTheRemedy) {
  const auto refused = [&](const char* text) {
    const auto status = read(text);
    return status ? std::string("accepted") : status.error().text();
  };
  EXPECT_THAT(refused("timestamp, index, fan.speed [%]\n"), HasSubstr("utilization.gpu"));
  EXPECT_THAT(refused("timestamp, utilization.gpu [%]\n"), HasSubstr("index or uuid"));
  EXPECT_THAT(refused("index, utilization.gpu [%]\n"), HasSubstr("--time"));
  EXPECT_THAT(refused("timestamp, index, utilization.gpu [W]\n"),
              HasSubstr("is not a unit of this column"));
  EXPECT_THAT(refused("timestamp, index, utilization.gpu [us]\n"),
              HasSubstr("is not a unit of this column"));
  EXPECT_THAT(refused(""), HasSubstr("no header"));
  options.node.clear();
  EXPECT_THAT(refused("timestamp, index, utilization.gpu [%]\n"), HasSubstr("--node"));
}

/// The output of --query-gpu with every column, within a capture of many commands.
std::string query_section(const std::string& capture) {
  const std::string command = "# $ nvidia-smi --query-gpu=timestamp";
  const size_t at = capture.find(command);
  if (at == std::string::npos) return {};
  const size_t begin = capture.find("timestamp, ", at);
  return capture.substr(begin, capture.find("\n\n", begin) - begin);
}

TEST_F(NvidiaSmi, RealCaptures) {
  for (const char* name :
       {"h100-80gb-hbm3__590.48.01", "h100-mig__590.48.01", "h200__590.48.01", "l40s__595.80"}) {
    const auto path =
        base::test_data(fmt::format("fixtures/nvidia-smi/linux-x86_64__nvidia-{}.txt", name));
    if (!path) GTEST_SKIP() << path.error().text();
    sink.lines.clear();
    intake.counts = {};
    ASSERT_TRUE(read(query_section(*base::read_text_file(*path)))) << name;
    EXPECT_EQ(intake.counts.rejected_lines(), 0U) << name;
    EXPECT_EQ(sink.lines.size(), 7U) << name;
    const bool mig = std::string_view(name).find("mig") != std::string_view::npos;
    EXPECT_EQ(intake.counts.not_available, mig ? 2U : 0U) << name;
  }
}

TEST(NvidiaSmiTime, OnlyItsOwnForm) {
  EXPECT_EQ(parse_nvidia_smi_time("2019/04/05 00:00:30.250"), 1'554'422'430'250);
  EXPECT_FALSE(parse_nvidia_smi_time("2019-04-05 00:00:30"));
  EXPECT_FALSE(parse_nvidia_smi_time("2019/13/05 00:00:30"));
  EXPECT_FALSE(parse_nvidia_smi_time("[Unknown Error]"));
}

}  // namespace
}  // namespace goban::site::series
