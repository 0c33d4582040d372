// Expected values: what a job of Slurm 22.05.8 found in its environment.
#include "live/job/slurm_variables.hpp"

#include <gtest/gtest.h>
#include <map>

#include "live/job/submit_directives.hpp"

namespace goban::live::job {
namespace {

using Variables = std::map<std::string, std::string>;

Variables variables_of(const std::string& options) {
  const auto read = read_directives("#!/bin/sh\n#SBATCH " + options + "\n", "job.sh");
  EXPECT_TRUE(read) << options;
  const auto made = finish(*read);
  EXPECT_TRUE(made) << options;
  const auto list = slurm_variables(*made);
  return {list.begin(), list.end()};
}

TEST(SlurmVariables, AreThoseOfTheRequestAndNoOthers) {
  EXPECT_EQ(variables_of("-J name"), Variables{});
  EXPECT_EQ(
      variables_of("-n 4 -c 2"),
      (Variables{{"SLURM_NTASKS", "4"}, {"SLURM_NPROCS", "4"}, {"SLURM_CPUS_PER_TASK", "2"}}));
  EXPECT_EQ(
      variables_of("-n 2 --gpus-per-task=1"),
      (Variables{{"SLURM_NTASKS", "2"}, {"SLURM_NPROCS", "2"}, {"SLURM_GPUS_PER_TASK", "1"}}));
  EXPECT_EQ(variables_of("-N 1 --ntasks-per-node=2 --gpus-per-node=2 --mem=100M"),
            (Variables{{"SLURM_NTASKS", "2"},
                       {"SLURM_NPROCS", "2"},
                       {"SLURM_NTASKS_PER_NODE", "2"},
                       {"SLURM_GPUS_PER_NODE", "2"},
                       {"SLURM_MEM_PER_NODE", "100"}}));
  EXPECT_EQ(
      variables_of("-G 2 --mem-per-cpu=10M -c 2"),
      (Variables{{"SLURM_GPUS", "2"}, {"SLURM_MEM_PER_CPU", "10"}, {"SLURM_CPUS_PER_TASK", "2"}}));
  EXPECT_EQ(variables_of("--gpus=2 --gpus-per-task=1"), (Variables{{"SLURM_NTASKS", "2"},
                                                                   {"SLURM_NPROCS", "2"},
                                                                   {"SLURM_GPUS", "2"},
                                                                   {"SLURM_GPUS_PER_TASK", "1"}}));
}

TEST(SlurmVariables, AnArrayKnowsItsRange) {
  const auto range = [](const char* count, const char* least, const char* most, const char* step) {
    return Variables{{"SLURM_ARRAY_TASK_COUNT", count},
                     {"SLURM_ARRAY_TASK_MIN", least},
                     {"SLURM_ARRAY_TASK_MAX", most},
                     {"SLURM_ARRAY_TASK_STEP", step}};
  };
  EXPECT_EQ(variables_of("-a 1-7:3"), range("3", "1", "7", "3"));
  EXPECT_EQ(variables_of("-a 0,5,10"), range("3", "0", "10", "1"));
  EXPECT_EQ(variables_of("-a 5"), range("1", "5", "5", "1"));
  EXPECT_EQ(variables_of("-a 0-9%2"), range("10", "0", "9", "1"));
}

}  // namespace
}  // namespace goban::live::job
