// Formats whose ids are row numbers: every file has a job 0.
#include <gtest/gtest.h>

#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

/// Rows; those of the second file are other jobs with the same row numbers and times.
struct Rows {
  std::string header;
  std::string row;
  std::string other;
};

TEST(RowNumbers, RowsOfTwoFilesAreTwoJobsAndOneFileGivenTwiceIsOne) {
  const std::vector<Rows> formats = {
      {"timestamp,duration,num_gpus,gpu_time,cluster\n", "2017-10-03 00:14:00,60,1,60,ed69ec\n",
       "2017-10-03 00:14:00,90,2,180,6214e9\n"},
      {",run_time,wait_time,submit_time,gpu_num\n", "0,100,5,1502114581,1\n",
       "0,200,5,1502114581,8\n"},
      {"u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n",
       "0,1,1,4,1,10,600,3600,Pass\n", "0,7,2,8,1,10,700,3600,Pass\n"}};
  for (const Rows& rows : formats) {
    RecordTable table;
    const auto read = [&](const std::string& name, const std::string& row) {
      const std::string text = rows.header + row;
      base::MemorySource source(text);
      return read_records(source, name, {}, table).value();
    };
    EXPECT_EQ(read("a.csv", rows.row).rejected, 0) << rows.header;
    EXPECT_EQ(read("b.csv", rows.other).rejected, 0) << rows.header;
    EXPECT_EQ(read("a.csv", rows.row).rejected, 1) << rows.header;
    EXPECT_EQ(table.rows().size(), 2u) << rows.header;
  }
}

}  // namespace
}  // namespace goban::site::records
