// Philly's utilisation per machine and minute: ragged rows, time zones, NA, damaged rows.
#include "site/series/input/philly_util.hpp"

#include <gmock/gmock.h>

#include "site/series/input/import_file.hpp"
#include "site/series/input/test_intake.hpp"

namespace goban::site::series {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class PhillyUtil : public testing::Test {
 public:
  base::Status read(const std::string& text, const std::vector<Metric>& metrics = {}) {
    base::MemorySource source(text);
    return read_philly_util(source, "util.csv", metrics, intake);
  }
  TextSink sink;
  Intake intake{sink};
};

TEST_F(PhillyUtil, RowsOfTwoAndOfFourGpusInTheirZone) {
  ASSERT_TRUE(
      read("time,machineId,gpu0_util,gpu1_util,gpu2_util,gpu3_util\n"
           "2017-10-03 00:08:00 PDT,m1,98.5,0.0,\n"
           "2017-12-03 00:08:00 PST,m2,1,2,3,NA,\n"));
  EXPECT_THAT(
      sink.lines,
      ElementsAre("m1/0/ gpu_utilization 1507014480 98.5", "m1/1/ gpu_utilization 1507014480 0",
                  "m2/0/ gpu_utilization 1512288480 1", "m2/1/ gpu_utilization 1512288480 2",
                  "m2/2/ gpu_utilization 1512288480 3"));
  EXPECT_EQ(intake.counts.no_number, 1U) << "NA is no sample, and no zero";
  EXPECT_THAT(intake.counts.rejected, IsEmpty());
}

TEST_F(PhillyUtil, DamagedRowsAreCounted) {
  ASSERT_TRUE(
      read("time,machineId,gpu0_util\n"
           "2017-10-03 00:08:00,m1,5\n"
           "2017-10-03 00:08:00 PDT,,5\n"
           "2017-10-03 00:08:00 PDT,m1\n"
           "2017-10-03 00:08:00 PDT,m1,101\n"
           "2017-10-03 00:09:00 PDT,m1,5\n"));
  EXPECT_EQ(sink.lines.size(), 1U);
  EXPECT_EQ(intake.counts.rejected_lines(), 4U);
}

TEST_F(PhillyUtil, OtherFilesAreRefused) {
  const auto status = read("timestamp,index\n1,2\n");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("util.csv:1"));
  EXPECT_FALSE(read("time,machineId,gpu0_util\n", {Metric::GpuPower}));
  EXPECT_EQ(detect_format("time,machineId,gpu0_util,gpu1_util\n"), FileFormat::PhillyUtil);
}

}  // namespace
}  // namespace goban::site::series
