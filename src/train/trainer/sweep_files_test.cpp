#include "train/trainer/sweep_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace goban::train::trainer {
namespace {

/// A run.sh that prints the GPUs it sees, with a stand-in for mpirun that prints a line and runs
/// the command as one rank.
class RunScript : public ::testing::Test {
 protected:
  RunScript() {
    char pattern[] = "/tmp/goban_run_script_XXXXXX";
    folder_ = mkdtemp(pattern);
    write("mpirun",
          "#!/bin/bash\necho mpirun $1 $2\nshift 2\n"
          "OMPI_MCA_ess_base_jobid=7 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 "
          "exec \"$@\"\n");
    std::filesystem::permissions(folder_ + "/mpirun", std::filesystem::perms::owner_all);
  }
  ~RunScript() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  /// Runs the script with `environment` and no other launcher variables; returns its output.
  std::string run(int ranks, const std::string& environment) {
    write("run.sh", mpirun_script("echo gpu $CUDA_VISIBLE_DEVICES", ranks));
    const std::string command = fmt::format(
        "env -i PATH={0}:/usr/bin:/bin {1} bash {0}/run.sh > {0}/out 2>&1", folder_, environment);
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ostringstream text;
    text << std::ifstream(folder_ + "/out").rdbuf();
    return text.str();
  }

 private:
  std::string folder_;
};

TEST_F(RunScript, StartsItsRanksByMpirunAndGivesEachItsGpu) {
  EXPECT_EQ(run(2, ""), "mpirun -n 2\ngpu 1\n");
  EXPECT_EQ(run(1, ""), "gpu 0\n");
}

TEST_F(RunScript, AJobOfGobanIsNoMpiRunAndKeepsItsGpus) {
  const std::string job =
      "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=0 ";
  EXPECT_EQ(run(2, job + "CUDA_VISIBLE_DEVICES=4,6"), "mpirun -n 2\ngpu 6\n");
  EXPECT_EQ(run(1, job + "CUDA_VISIBLE_DEVICES=4,6"), "gpu 4\n");
  EXPECT_EQ(run(4, job + "CUDA_VISIBLE_DEVICES=MIG-a"), "mpirun -n 4\ngpu MIG-a\n");
}

TEST_F(RunScript, UnderALauncherItIsARank) {
  EXPECT_EQ(run(2, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0"), "gpu 0\n");
  EXPECT_EQ(run(2, "PMIX_RANK=1 SLURM_LOCALID=1"), "gpu 1\n");
  EXPECT_EQ(run(2, "PMI_RANK=1 SLURM_LOCALID=1 CUDA_VISIBLE_DEVICES=2,3"), "gpu 3\n");
}

}  // namespace
}  // namespace goban::train::trainer
