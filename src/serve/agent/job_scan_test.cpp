#include "serve/agent/job_scan.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace goban::serve::agent {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(JobOfProcess, SlurmsVariablesNameJobGpusAndModules) {
  const auto job = job_of("",
                          "A=1\0SLURM_JOB_ID=42\0SLURM_JOB_GPUS=1,3\0SLURMD_NODENAME=n1\0"
                          "LOADEDMODULES=gcc/12:cuda/11.8:a;b\0"s,
                          "n1");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, "42");
  EXPECT_THAT(job->gpus, ElementsAre(1, 3));
  EXPECT_THAT(job->modules, ElementsAre("gcc/12", "cuda/11.8"));
  EXPECT_FALSE(job_of("", "SLURM_JOB_ID=42\0SLURMD_NODENAME=n2\0"s, "n1")) << "of another node";
  EXPECT_FALSE(job_of("", "SLURM_JOB_ID=../x\0"s, "n1"));
  EXPECT_FALSE(job_of("", "", "n1"));
}

TEST(JobOfProcess, TasksOfAnArrayHaveTheEnginesName) {
  const auto job =
      job_of("", "SLURM_JOB_ID=45\0SLURM_ARRAY_JOB_ID=40\0SLURM_ARRAY_TASK_ID=3\0"s, "n1");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, "40_3");
}

TEST(JobOfProcess, TheGpusOfAStepAreThoseOfItsNode) {
  const auto job = job_of("", "SLURM_JOB_ID=4\0SLURM_JOB_GPUS=0\0SLURM_STEP_GPUS=2-3\0"s, "n1");
  ASSERT_TRUE(job);
  EXPECT_THAT(job->gpus, ElementsAre(2, 3));
}

TEST(JobOfProcess, ThePodOfACgroupComesFirst) {
  const char* const systemd =
      "0::/kubepods.slice/kubepods-burstable.slice/"
      "kubepods-burstable-pod1f2e3d4c_0a1b_4c2d_8e3f_001122334455.slice/cri-containerd-ab.scope\n";
  const auto job = job_of(systemd, "SLURM_JOB_ID=42\0"s, "n1");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, "1f2e3d4c-0a1b-4c2d-8e3f-001122334455") << "the kernel's word, not the pod's";
  const auto plain =
      job_of("4:x:/kubepods/besteffort/pod1f2e3d4c-0a1b-4c2d-8e3f-001122334455/ab\n", "", "n1");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->id, "1f2e3d4c-0a1b-4c2d-8e3f-001122334455");
  EXPECT_FALSE(job_of("0::/kubepods/podshort\n", "", "n1"));
}

TEST(JobOfProcess, AMillionIndicesAreNoMore) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "0-255,";
  EXPECT_EQ(gpu_indices(text).size(), 256U);
}

TEST(JobOfProcess, OnlyIndicesAreIndices) {
  EXPECT_THAT(gpu_indices("0,2-3"), ElementsAre(0, 2, 3));
  EXPECT_THAT(gpu_indices("3,1,1"), ElementsAre(1, 3));
  EXPECT_THAT(gpu_indices("GPU-1234,x,-1,5-"), IsEmpty());
  EXPECT_THAT(gpu_indices("0-99999999"), IsEmpty());
  EXPECT_THAT(gpu_indices(""), IsEmpty());
}

TEST(KnownLibraries, AreNamedOnce) {
  EXPECT_THAT(known_libraries("7f1-7f2 r-xp 0 08:01 1 /usr/lib/libcudart.so.11.0\n"
                              "7f2-7f3 r--p 0 08:01 1 /usr/lib/libcudart.so.11.0\n"
                              "7f3-7f4 r--p 0 08:01 2 /usr/lib/libc.so.6\n"
                              "7f4-7f5 r--p 0 08:01 3 /opt/x/libtorch_cuda.so (deleted)\n"
                              "7f5-7f6 r--p 0 08:01 4 /opt/torch/data.bin\n"
                              "7f6-7f7 rw-p 0 00:00 0 [heap]\n"),
              ElementsAre("libcudart.so.11.0"));
}

/// A folder like /proc.
struct JobScanTest : testing::Test {
  JobScanTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "goban_proc_XXXXXX").string();
    proc = ::mkdtemp(pattern.data());
  }
  ~JobScanTest() override { std::filesystem::remove_all(proc); }
  void process(int id, int64_t user_ticks, const std::string& environment,
               const std::string& maps = "") const {
    const std::string folder = proc + "/" + std::to_string(id);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/environ", std::ios::binary) << environment;
    std::ofstream(folder + "/cgroup") << "0::/system.slice\n";
    std::ofstream(folder + "/maps") << maps;
    std::ofstream(folder + "/stat") << id << " (a) b) S 1 1 1 0 -1 0 0 0 0 0 " << user_ticks
                                    << " 0 0 0 20 0 1 0 77 9999 10 0\n";
  }
  std::string proc;
};

TEST_F(JobScanTest, SumsTheProcessesOfAJobBetweenScans) {
  process(100, 0, "SLURM_JOB_ID=42\0SLURM_JOB_GPUS=1\0LOADEDMODULES=cuda/12\0"s,
          "1-2 r-xp 0 0 1 /l/libnccl.so.2\n");
  process(101, 50, "SLURM_JOB_ID=42\0SLURM_JOB_GPUS=1\0"s);
  process(102, 50, "HOME=/\0"s);
  JobScan scan("n1", proc);
  scan.scan(base::kSecond);
  const auto ticks = static_cast<int64_t>(::sysconf(_SC_CLK_TCK));
  process(100, 2 * ticks, "SLURM_JOB_ID=42\0SLURM_JOB_GPUS=1\0"s);
  process(101, 50 + ticks, "SLURM_JOB_ID=42\0SLURM_JOB_GPUS=1\0"s);
  scan.scan(2 * base::kSecond);
  ASSERT_EQ(scan.jobs().size(), 1U);
  const ScannedJob& job = scan.jobs().begin()->second;
  EXPECT_EQ(job.job.id, "42");
  EXPECT_EQ(job.job.uid, ::geteuid());
  EXPECT_THAT(job.job.gpus, ElementsAre(1));
  EXPECT_THAT(job.job.software, ElementsAre("cuda/12", "libnccl.so.2"));
  EXPECT_DOUBLE_EQ(job.use.cpu_s, 3);
  EXPECT_EQ(job.use.mem_bytes, 20 * ::sysconf(_SC_PAGESIZE));
}

TEST_F(JobScanTest, AUserHasABoundedNumberOfJobs) {
  JobScan scan("n1", proc);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      process(10'000 + round * 1000 + i, 0, "SLURM_JOB_ID=" + std::to_string(round * 1000 + i));
      if (round > 0) {
        std::filesystem::remove_all(proc + "/" + std::to_string(10'000 + (round - 1) * 1000 + i));
      }
    }
    scan.scan((10 + round) * base::kSecond);
  }
  EXPECT_EQ(scan.jobs().size(), 256U);
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(scan.jobs().contains({std::to_string(2000 + i), ::geteuid()})) << "it runs: " << i;
  }
}

TEST_F(JobScanTest, JobsThatEndedAreReportedForTenMinutes) {
  process(100, 0, "SLURM_JOB_ID=42\0"s);
  JobScan scan("n1", proc);
  scan.scan(base::kSecond);
  std::filesystem::remove_all(proc + "/100");
  scan.scan(500 * base::kSecond);
  ASSERT_EQ(scan.jobs().size(), 1U);
  EXPECT_EQ(scan.jobs().begin()->second.use.mem_bytes, 0);
  scan.scan(602 * base::kSecond);
  EXPECT_THAT(scan.jobs(), IsEmpty());
}

}  // namespace
}  // namespace goban::serve::agent
