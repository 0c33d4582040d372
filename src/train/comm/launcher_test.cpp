#include "train/comm/launcher.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <initializer_list>
#include <utility>

namespace goban::train::comm {
namespace {

/// Sets the given launcher variables and clears all others during its lifetime.
class Environment {
 public:
  Environment(std::initializer_list<std::pair<const char*, const char*>> names) {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : names) setenv(name, value, 1);
  }
  ~Environment() {
    for (const char* name : kNames) unsetenv(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static constexpr const char* kNames[] = {"PMIX_RANK",
                                           "PMI_RANK",
                                           "PMI_SIZE",
                                           "OMPI_MCA_ess_base_jobid",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_LOCAL_RANK",
                                           "SLURM_LOCALID",
                                           "SLURM_STEP_NUM_TASKS"};
};

TEST(Launcher, AJobOfOneTaskIsNoMpiRun) {
  const Environment nothing{};
  EXPECT_FALSE(launched_by_mpi());
  const Environment job{{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}};
  EXPECT_FALSE(launched_by_mpi());
}

TEST(Launcher, KnowsMpirunAndSrunWithPmi) {
  for (const char* name : {"PMIX_RANK", "PMI_RANK", "PMI_SIZE", "OMPI_MCA_ess_base_jobid"}) {
    // The environment of mpirun -n 1 inside such a job.
    const Environment one{{"OMPI_COMM_WORLD_SIZE", "1"}, {name, "0"}};
    EXPECT_TRUE(launched_by_mpi()) << name;
  }
  const Environment two{{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
  EXPECT_TRUE(launched_by_mpi());
  EXPECT_EQ(launcher_local_rank(), 1);
}

TEST(Launcher, SeveralTasksOfSrunThatDoNotKnowEachOtherAreRefused) {
  const Environment two{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_LOCALID", "1"}};
  EXPECT_FALSE(launched_by_mpi());
  const auto alone = check_srun(1);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, base::ErrorCode::Usage);
  EXPECT_THAT(alone.error().text(), ::testing::HasSubstr("srun started 2 tasks"));
  EXPECT_THAT(alone.error().text(), ::testing::HasSubstr("srun --mpi=pmix"));
  EXPECT_TRUE(check_srun(2));
}

TEST(Launcher, OneTaskOfSrunAndMpirunInAnAllocationAreFine) {
  {
    const Environment one{{"SLURM_STEP_NUM_TASKS", "1"}};
    EXPECT_TRUE(check_srun(1));
  }
  // A rank on the first node of mpirun's own step.
  const Environment inside{{"SLURM_STEP_NUM_TASKS", "3"}, {"OMPI_MCA_ess_base_jobid", "7"}};
  EXPECT_TRUE(check_srun(1));
}

}  // namespace
}  // namespace goban::train::comm
