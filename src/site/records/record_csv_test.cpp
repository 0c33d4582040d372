#include "site/records/record_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A record with all fields set.
AccountingRecord full_record(std::span<const HeldGpu> gpus,
                             std::span<const std::string_view> software) {
  AccountingRecord r;
  r.id = "5_4";
  r.job_number = 5;
  r.array_task = 4;
  r.het_part = 1;
  r.run = 2;
  r.restarts = 2;
  r.cluster = "c";
  r.user = "a \"b\", c";
  r.account = "acc";
  r.group = "grp";
  r.partition = "p";
  r.qos = "q";
  r.reservation = "res";
  r.resource_type = "Full";
  r.submit_ns = 1'554'422'400'123'000'000;
  r.eligible_ns = 1'554'422'401'000'000'001;
  r.start_ns = 1'554'422'402'000'000'000;
  r.end_ns = 1'554'422'502'500'000'000;
  r.walltime_limit_ns = 3600 * base::kSecond;
  r.state = RecordedState::OutOfMemory;
  r.kind = JobKind::Interactive;
  r.exit_code = 0;
  r.signal = 9;
  r.failed_code = 37;
  r.num_gpus = 3;
  r.gpu_milli = 500;
  r.gpu_share = true;
  r.gpu_type = "a100";
  r.instances = 2;
  r.num_nodes = 2;
  r.cpu_cores = 40;
  r.mem_bytes = int64_t{1} << 40;
  r.priority = -7;
  r.node_list = "g1,g2";
  r.gpus = gpus;
  r.software = software;
  r.usage = {.gpu_util_pct_max = 99.5F,
             .gpu_mem_bytes_max = 7,
             .mem_bytes_max = 8,
             .read_bytes = 9,
             .write_bytes = 10,
             .cpu_s = 0.25,
             .energy_j = 1.5e6};
  return r;
}

std::string csv_of(const RecordTable& table) {
  std::string out = records_csv_header();
  RecordTable::RecordBuffers buffers;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    append_records_csv(out, table.record(i, buffers));
  }
  return out;
}

TEST(RecordsCsv, EverythingComesBack) {
  const std::vector<HeldGpu> gpus = {
      {.node = "g1", .gpu = "GPU-1", .util_pct = 93.25F, .mem_used_bytes = 5, .mem_total_bytes = 6},
      {.node = "g2", .gpu = "0"}};
  const std::vector<std::string_view> software = {"cuda/12", "torch"};
  std::string text = records_csv_header();
  append_records_csv(text, full_record(gpus, software));
  AccountingRecord least;
  least.id = "k8s-uid";
  append_records_csv(text, least);
  const ReadTable read = read_table(text);
  EXPECT_EQ(read.summary.format, "records");
  EXPECT_THAT(read.reasons(), IsEmpty());
  EXPECT_THAT(read.summary.ignored_columns, IsEmpty());
  EXPECT_EQ(csv_of(read.table), text);
  EXPECT_EQ(read.row(0).end_ns, 1'554'422'502'500'000'000);
  EXPECT_EQ(read.row(0).signal, 9);
  EXPECT_EQ(read.table.users()[read.row(0).user], "a \"b\", c");
  EXPECT_EQ(read.table.gpus_of(read.row(0))[0].util_pct, 93.25F);
  EXPECT_EQ(read.row(1).num_gpus, -1);
}

TEST(RecordsCsv, LineEndsAndSeparatorsInTextsDoNotBreakTheFile) {
  const std::vector<HeldGpu> gpus = {{.node = "a|b;c", .gpu = "0"}};
  const std::vector<std::string_view> software = {"x;y"};
  AccountingRecord record = full_record(gpus, software);
  record.user = "two\nlines";
  std::string text = records_csv_header();
  append_records_csv(text, record);
  const ReadTable read = read_table(text);
  ASSERT_THAT(read.reasons(), IsEmpty());
  EXPECT_EQ(read.table.users()[read.row(0).user], "two lines");
  EXPECT_EQ(read.table.node_names()[read.table.gpus_of(read.row(0))[0].node], "a_b_c");
}

TEST(RecordsCsv, WhatMakesNoSenseIsRefusedWithItsReason) {
  const std::string header =
      "job_id,submit_unix_s,start_unix_s,end_unix_s,kind,state,gpus,num_gpus\n";
  const ReadTable read = read_table(header +
                                    "a,-1,2,3,,,,\n"
                                    "b,1,2,3,often,,,\n"
                                    "c,1,2,3,,GONE,,\n"
                                    "d,1,2,3,,,x|y|z,\n"
                                    "e,1,2,3,,,,-4\n"
                                    "f,1,3,2,,,,\n");
  EXPECT_THAT(read.reasons(),
              ElementsAre(HasSubstr("submit_unix_s"), HasSubstr("kind \"often\""),
                          HasSubstr("state \"GONE\""), HasSubstr("gpus is not a list"),
                          HasSubstr("num_gpus"), HasSubstr("ended before it started")));
}

TEST(SwfWriter, GpusComeBackAndNamesAreNumbers) {
  SwfWriter writer;
  std::string text = writer.header(1'554'422'400 * base::kSecond);
  EXPECT_TRUE(writer.append(text, full_record({}, {})));
  AccountingRecord cpu_only = full_record({}, {});
  cpu_only.num_gpus = 0;
  cpu_only.gpu_milli = 0;
  EXPECT_TRUE(writer.append(text, cpu_only));
  AccountingRecord never_ran = full_record({}, {});
  never_ran.start_ns = never_ran.end_ns = -1;
  EXPECT_FALSE(writer.append(text, never_ran));
  EXPECT_EQ(text.find("acc"), std::string::npos);
  const ReadTable read = read_table(text);
  EXPECT_EQ(read.summary.format, "swf");
  ASSERT_THAT(read.ids(), ElementsAre("1", "2"));
  const RecordRow& row = read.row(0);
  EXPECT_EQ(row.num_gpus, 3);
  EXPECT_EQ(row.gpu_milli, 500);
  EXPECT_TRUE(row.gpu_share);
  EXPECT_EQ(row.cpu_cores, 40);
  EXPECT_EQ(row.submit_ns, 1'554'422'400'123'000'000);
  EXPECT_EQ(row.run_ns, 100'500'000'000);
  EXPECT_EQ(row.walltime_limit_ns, 3600 * base::kSecond);
  EXPECT_EQ(read.table.users()[row.user], "1");
  EXPECT_EQ(read.row(1).num_gpus, 0);
  EXPECT_THAT(read.summary.notes, IsEmpty());
}

}  // namespace
}  // namespace goban::site::records
