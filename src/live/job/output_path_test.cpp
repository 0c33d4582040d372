#include "live/job/output_path.hpp"

#include <gtest/gtest.h>

namespace goban::live::job {
namespace {

JobSpec spec_of(std::string stdout_path, std::string stderr_path = {}) {
  JobSpec spec;
  spec.name = "a/b";
  spec.owner.user = "ann";
  spec.work_folder = "/home/ann";
  spec.stdout_path = std::move(stdout_path);
  spec.stderr_path = std::move(stderr_path);
  return spec;
}

TEST(OutputPath, FillsInPatterns) {
  const JobSpec spec = spec_of("%x-%j-%u-%A-%%-%q%", "/logs/%j.err");
  EXPECT_EQ(output_path(JobId(6u), spec, OutputStream::Stdout), "/home/ann/a_b-7-ann-7-%-%q%");
  EXPECT_EQ(output_path(JobId(6u), spec, OutputStream::Stderr), "/logs/7.err");
}

TEST(OutputPath, HasDefaults) {
  const JobSpec spec = spec_of("");
  EXPECT_EQ(output_path(JobId(6u), spec, OutputStream::Stdout), "/home/ann/goban-7.out");
  EXPECT_EQ(output_path(JobId(6u), spec, OutputStream::Stderr), "/home/ann/goban-7.out");
}

TEST(OutputPath, NamesTasksOfArrays) {
  JobSpec spec = spec_of("%A.%a");
  spec.array_first = JobId(6u);
  spec.array_task = 3;
  EXPECT_EQ(output_path(JobId(8u), spec, OutputStream::Stdout), "/home/ann/7.3");
  spec.stdout_path.clear();
  EXPECT_EQ(output_path(JobId(8u), spec, OutputStream::Stdout), "/home/ann/goban-7_3.out");
}

}  // namespace
}  // namespace goban::live::job
