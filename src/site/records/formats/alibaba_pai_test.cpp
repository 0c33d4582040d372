#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/gzip.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AlibabaPai : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("pai_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] ReadTable read() const { return read_table_file(folder_.string()); }

  std::filesystem::path folder_;
};

TEST_F(AlibabaPai, JobsWithTheirTasksAndSensors) {
  write("pai_job_table.csv",
        "a,i1,ann,Terminated,100.0,400.0\n"
        "b,i2,bob,Running,200.5,\n"
        "c,i3,bob,Failed,300,350\n");
  write("pai_task_table.csv.gz",
        base::gzip("a,ps,1,Terminated,110.0,390.0,600.0,29.3,,\n"
                   "a,worker,2,Terminated,120.0,400.0,600.0,10,200.0,V100\n"
                   "b,worker,3,Running,201,,50,1,50.0,T4\n"));
  write("pai_sensor_table.csv",
        "a,worker,w1,i1,m7,/dev/nvidia0,10,93.5,1,2.5,3,4,1000,2000,1,1\n"
        "b,worker,w3,i2,m1,,10,,1,,,,,,,\n"
        "a,worker,w2,i1,m2,/dev/nvidia3,10,120,1,2,3,8,500,,1,1\n");
  write("pai_instance_table.csv",
        "a,worker,n1,w1,i1,Terminated,120,400,m7\n"
        "a,worker,n2,w1,i1,Terminated,120,400,m7\n"
        "a,ps,n3,w9,i1,Terminated,110,390,m5\n"
        "b,worker,n4,w3,i2,Running,201,,m1\n"
        "c,worker,n5,w4,i3,Failed,,,\n"
        "d,worker,n6,w5,i4,Failed,,,m1\n");
  const ReadTable read = this->read();
  EXPECT_EQ(read.summary.format, "alibaba-pai");
  EXPECT_THAT(read.reasons(),
              ElementsAre("6: pai_instance_table: its job is not in pai_job_table"));
  ASSERT_THAT(read.ids(), ElementsAre("a", "b", "c"));
  const RecordRow& a = read.row(0);
  EXPECT_EQ(a.submit_ns, 100 * base::kSecond);
  EXPECT_EQ(a.start_ns, 110 * base::kSecond);
  EXPECT_EQ(a.end_ns, 400 * base::kSecond);
  EXPECT_EQ(a.state, RecordedState::Completed);
  EXPECT_EQ(a.num_gpus, 4);
  EXPECT_EQ(a.cpu_cores, 18);
  EXPECT_FALSE(a.gpu_share);
  EXPECT_EQ(read.table.gpu_types()[a.gpu_type], "V100");
  EXPECT_THAT(read.node_names(0), ElementsAre("m2", "m5", "m7"));
  EXPECT_THAT(read.node_names(1), ElementsAre("m1")) << "a sensor without GPU names no node";
  const auto gpus = read.table.gpus_of(a);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].util_pct, 93.5F);
  EXPECT_EQ(gpus[0].mem_used_bytes, int64_t{4} << 30);
  EXPECT_EQ(gpus[1].util_pct, 120);
  EXPECT_EQ(read.table.usage_of(a).read_bytes, 1500);
  EXPECT_EQ(read.table.usage_of(a).write_bytes, 2000);
  const RecordRow& b = read.row(1);
  EXPECT_EQ(b.state, RecordedState::Running);
  EXPECT_EQ(b.end_ns, -1);
  EXPECT_EQ(b.num_gpus, 3);
  EXPECT_TRUE(b.gpu_share);
  EXPECT_EQ(b.gpu_milli, 500);
  EXPECT_EQ(b.cpu_cores, 2);
  EXPECT_EQ(read.row(2).num_gpus, -1);
  EXPECT_THAT(read.summary.notes, ElementsAre(HasSubstr("1 job has no task")));
}

TEST_F(AlibabaPai, WhatMakesNoSenseIsRefusedWithItsReason) {
  write("pai_job_table.csv",
        "a,i1,ann,Terminated,100.0,50.0\n"
        "a,i1,ann,Terminated,100.0,400.0\n"
        "b,i1,ann,Done,1,2\n"
        "c,i1,ann,Failed,x,2\n"
        "d,i1\n");
  write("pai_task_table.csv",
        "z,worker,1,Terminated,1,2,1,1,1,V100\n"
        "a,worker,-1,Terminated,1,2,1,1,1,V100\n");
  const ReadTable read = this->read();
  EXPECT_THAT(read.reasons(),
              ElementsAre("2: pai_job_table: job_name a was used before",
                          "3: pai_job_table: status \"Done\" is not one of Terminated, Failed, "
                          "Running, Waiting",
                          "4: pai_job_table: start_time is not a valid time",
                          "5: pai_job_table: 2 fields instead of 6",
                          "1: pai_task_table: its job is not in pai_job_table",
                          "2: pai_task_table: inst_num is not a valid number",
                          "1: the job ended before it started"));
  EXPECT_EQ(read.summary.records, 7);
  EXPECT_EQ(read.summary.rejected, 7);
}

TEST_F(AlibabaPai, FoldersWithoutTheTablesAreNamed) {
  EXPECT_THROW(
      {
        try {
          (void)read();
        } catch (const std::runtime_error& error) {
          EXPECT_THAT(error.what(), HasSubstr("is a folder without known tables"));
          throw;
        }
      },
      std::runtime_error);
  write("pai_job_table.csv", "");
  try {
    (void)read();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("pai_task_table.csv (or .csv.gz) is missing"));
  }
}

}  // namespace
}  // namespace goban::site::records
