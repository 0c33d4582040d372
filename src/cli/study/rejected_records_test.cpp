// Commands that read accounting records, run as programs: too many rejected records end with exit
// code 3, with the results written.
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "cli/shell/test_shell.hpp"

namespace goban::cli {
namespace {

using testing::HasSubstr;

class RejectedRecords : public testing::Test {
 protected:
  [[nodiscard]] Output run(const std::string& arguments) const {
    return shell("cd " + folder_.path() + " && GOBAN " + arguments + " 2>&1");
  }
  /// One good job, and three without a submission time.
  std::string one_of_four() const {
    return folder_.write("jobs.csv",
                         "job_id,submit_time,duration,num_gpus,user\n"
                         "a,0,60,1,u\nb,,60,1,u\nc,,60,1,u\nd,,60,1,u\n");
  }

  base::TestFolder folder_{"rejected_records"};
};

TEST_F(RejectedRecords, BeyondTheLimitEndEveryCommandWithExitCode3) {
  const std::string jobs = one_of_four();
  for (const std::string& command : std::initializer_list<std::string>{
           "simulate --cluster 1x4 --jobs " + jobs,
           "trace inspect " + jobs,
           "predict " + jobs,
           "trace convert " + jobs + " --out converted.csv",
           "analyze " + jobs,
           "history import " + jobs + " --store jobs.db --again",
       }) {
    const Output refused = run(command);
    EXPECT_EQ(refused.code, 3) << command << "\n" << refused.out;
    EXPECT_THAT(refused.out, HasSubstr("3 of 4 records were rejected (75.0 %), more than "
                                       "--max-rejects 1"));
    const Output accepted = run(command + " --max-rejects 75");
    EXPECT_EQ(accepted.code, 0) << command << "\n" << accepted.out;
  }
  EXPECT_THAT(base::TestFolder::read(folder_.path() + "/converted.csv"), HasSubstr("a,0,60,1"));
}

TEST_F(RejectedRecords, AWrongDelimiterIsAnError) {
  // sacct --delimiter=, splits the list of resources, which contains commas itself.
  const std::string jobs = folder_.write("sacct.txt",
                                         "JobID,User,Submit,Start,End,State,AllocTRES,NNodes\n"
                                         "1,ann,2024-01-01T00:00:00,2024-01-01T00:01:00,2024-01-"
                                         "01T01:00:00,COMPLETED,cpu=4,gres/gpu=2,"
                                         "node=1,1\n"
                                         "2,bob,2024-01-01T00:00:00,2024-01-01T00:01:00,2024-01-"
                                         "01T01:00:00,COMPLETED,cpu=4,gres/gpu=2,"
                                         "node=1,1\n");
  for (const std::string& command : std::initializer_list<std::string>{
           "trace inspect " + jobs, "history import " + jobs + " --store jobs.db"}) {
    const Output refused = run(command);
    EXPECT_EQ(refused.code, 3) << refused.out;
    EXPECT_THAT(refused.out, HasSubstr("2 of 2 records were rejected"));
  }
}

}  // namespace
}  // namespace goban::cli
