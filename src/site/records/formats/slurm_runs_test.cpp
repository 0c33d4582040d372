// Runs of one job, jobs with the same number, and duplicate records in sacct's dumps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/records/slurm_fields.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::ElementsAre;

TEST(SlurmRuns, RunsOfARequeuedJobAreRecordsOfTheirOwnAndDoublesAreRefused) {
  const std::string header = "JobID|State|Submit|Start|End\n";
  const std::string second = "7|COMPLETED|1700000030|1700000040|1700000050\n";
  const ReadTable read =
      read_table(header + "7|REQUEUED|1700000000|1700000010|1700000020\n" + second + second);
  ASSERT_THAT(read.ids(), ElementsAre("7", "7"));
  EXPECT_EQ(read.row(0).run, 0);
  EXPECT_EQ(read.row(0).state, RecordedState::Requeued);
  EXPECT_EQ(read.row(1).run, 1);
  EXPECT_THAT(read.reasons(), ElementsAre("4: job_id 7 with this start was used before"));
}

TEST(SlurmRuns, DumpsPutBehindEachOtherKeepTheEndsOfWhatRanAtTheFirst) {
  const std::string header = "JobID|State|Submit|Start|End\n";
  const std::string job = "1700000000|1700000010|";
  const ReadTable read =
      read_table(header + "5|RUNNING|" + job + "Unknown\n6|PENDING|1700000000|Unknown|Unknown\n" +
                 header + "5|COMPLETED|" + job + "1700000020\n6|TIMEOUT|" + job + "1700000070\n" +
                 header + "5|COMPLETED|" + job + "1700000020\n");
  EXPECT_THAT(read.ids(), ElementsAre("5", "6"));
  EXPECT_EQ(read.row(0).state, RecordedState::Completed);
  EXPECT_EQ(read.row(0).run_ns, 10 * base::kSecond);
  EXPECT_EQ(read.row(0).run, 0);
  EXPECT_EQ(read.row(1).state, RecordedState::TimedOut);
  EXPECT_THAT(read.reasons(), ElementsAre("8: job_id 5 with this start was used before"));
}

TEST(SlurmRuns, EqualIdsOfTwoClustersAreTwoJobs) {
  const std::string header = "JobID|Cluster|Submit|Start|End|State\n";
  const std::string times = "|1700000000|1700000010|1700000020|COMPLETED\n";
  const std::string rerun = "|1700000030|1700000040|1700000050|COMPLETED\n";
  const ReadTable read =
      read_table(header + "5|a" + times + "5|b" + times + "5|b" + rerun + "5|b" + times);
  EXPECT_THAT(read.ids(), ElementsAre("5", "5", "5"));
  EXPECT_EQ(read.row(1).run, 0);
  EXPECT_EQ(read.row(2).run, 1);
  EXPECT_THAT(read.reasons(), ElementsAre("5: job_id 5 with this start was used before"));
}

TEST(SlurmRuns, JobsCancelledBeforeTheirStartAreToldBySubmission) {
  const ReadTable read = read_table(
      "JobID|State|Submit|Start|End\n5|CANCELLED|1700000000|None|1700000020\n"
      "5|CANCELLED|1700000100|None|1700000120\n5|CANCELLED|1700000100|None|1700000120\n");
  EXPECT_THAT(read.ids(), ElementsAre("5", "5"));
  EXPECT_THAT(read.reasons(), ElementsAre("4: job_id 5 with this start was used before"));
}

TEST(SlurmRuns, TasksThatWaitAreToldByTheirList) {
  EXPECT_TRUE(is_array_rest("5_[1-3,9%2]"));
  EXPECT_FALSE(is_array_rest("5_1"));
  EXPECT_FALSE(is_array_rest("5"));
  std::string tasks;
  for (int task = 0; task < 20; ++task) {
    if (is_task_of_rest(task, "5_[1-3,9,12-18:3,...%2]")) tasks += std::to_string(task) + " ";
  }
  EXPECT_EQ(tasks, "1 2 3 9 12 15 18 ");
  for (const std::string_view odd : {"5_[]", "5_[-]", "5_[x]", "5_[1-]", "5_[1-3:0]", "5_2"}) {
    EXPECT_FALSE(is_task_of_rest(2, odd)) << odd;
  }
}

TEST(SlurmRuns, AnImageIsKeptWithoutTheFoldersOfItsUser) {
  const ReadTable read = read_table(
      "JobID|State|Container\n1|COMPLETED|/home/ann/images/secret-project.sif\n"
      "2|COMPLETED|docker://nvcr.io/nvidia/pytorch:20.03\n");
  EXPECT_EQ(read.table.software_names()[0], "secret-project.sif");
  EXPECT_EQ(read.table.software_names()[1], "docker://nvcr.io/nvidia/pytorch:20.03");
}

}  // namespace
}  // namespace goban::site::records
