// The environment of a starting job, and the steps of its stop.
#include "live/engine/local/job_start.hpp"

#include <csignal>
#include <gtest/gtest.h>

#include "live/engine/local/login_shell.hpp"
#include "live/engine/local/nccl_variables.hpp"
#include "live/engine/local/stop_plan.hpp"
#include "live/engine/local/test_runs.hpp"

namespace goban::live::engine::local {
namespace {

using base::kSecond;

TEST(JobStart, TheFirstLineOfAScriptNamesItsInterpreter) {
  EXPECT_EQ(script_command("echo hi\n").interpreter, "/bin/sh");
  EXPECT_EQ(script_command("").interpreter, "/bin/sh");
  EXPECT_EQ(script_command("#!\n").interpreter, "/bin/sh");
  EXPECT_EQ(script_command("#!/bin/bash").interpreter, "/bin/bash");
  const ScriptCommand env = script_command("#! /usr/bin/env python3 -u \nprint()\n");
  EXPECT_EQ(env.interpreter, "/usr/bin/env");
  EXPECT_EQ(env.argument, "python3 -u");  // one argument, as in the kernel
}

TEST(JobStart, LoginShellsFindTheShimsAgain) {
  for (const char* first : {"#!/bin/bash -l", "#!/bin/bash --login", "#! /bin/sh -el",
                            "#!/usr/bin/env -S bash -l", "#!/usr/bin/zsh -l"}) {
    const std::string script = std::string(first) + "\nsrun hostname\n";
    EXPECT_EQ(
        with_shims(script, "/opt/it's"),
        "case \":$PATH:\" in :'/opt/it'\\''s':*) ;; *) export PATH='/opt/it'\\''s':\"$PATH\" ;; "
        "esac\nsrun hostname\n")
        << first;
    EXPECT_EQ(with_shims(script, ""), script);
    EXPECT_EQ(with_shims(script, "relative"), script);
  }
  for (const char* first : {"#!/bin/bash", "#!/bin/bash -e", "#!/bin/bash --norc", "#!/bin/tcsh -l",
                            "#!/usr/bin/python3 -l", "srun -l hostname"}) {
    EXPECT_EQ(with_shims(first, "/opt"), first);
  }
}

RunOrder order_of_two_gpus() {
  RunOrder order;
  order.run = {core::model::JobId(41U), 2};
  order.restarts = 1;
  order.node = "here";
  order.spec.name = "train";
  order.spec.owner.user = "ada";
  order.gpus.resize(2);
  order.gpus[0].index = 3;
  order.gpus[1].index = 1;
  for (base::gpus::LocalGpu& gpu : order.gpus) gpu.is_virtual = true;
  order.gpus[1].slowness = 1.25;
  return order;
}

bool has(const std::vector<std::string>& entries, const std::string& entry) {
  return std::find(entries.begin(), entries.end(), entry) != entries.end();
}
bool has_name(const std::vector<std::string>& entries, const std::string& start) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const std::string& entry) { return entry.starts_with(start); });
}

TEST(JobEnvironment, ConventionsAreServedAndTheUsersOwnStays) {
  Payload payload;
  payload.env = {{"MINE", "a b"}, {"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"BAD=NAME", "x"}};
  RunPlaces places;
  places.progress_socket = "/run/p";
  places.master_port = 20042;
  const auto env = job_environment(order_of_two_gpus(), payload, places);
  for (const char* entry :
       {"MINE=a b", "CUDA_VISIBLE_DEVICES=3,1", "CUDA_DEVICE_ORDER=PCI_BUS_ID",
        "NVIDIA_VISIBLE_DEVICES=3,1", "GOBAN_GPUS=3,1", "GOBAN_JOB_ID=42", "GOBAN_RUN=2",
        "GOBAN_RESTARTS=1", "GOBAN_PROGRESS_SOCKET=/run/p", "GOBAN_VIRTUAL_GPU_SLOWNESS=1.25",
        "MASTER_ADDR=127.0.0.1", "MASTER_PORT=20042", "WORLD_SIZE=1", "RANK=0",
        "OMPI_COMM_WORLD_LOCAL_RANK=0", "USER=ada"}) {
    EXPECT_TRUE(has(env, entry)) << entry;
  }
  EXPECT_FALSE(has_name(env, "BAD"));
  EXPECT_FALSE(has_name(env, "SLURM_"));
  EXPECT_FALSE(has_name(env, "JOB_ID="));
  EXPECT_FALSE(has_name(env, "GOBAN_ARRAY_TASK_ID="));
}

TEST(JobEnvironment, NamesOfOtherSchedulersOnlyWhereTheScriptExpectsThem) {
  RunOrder order = order_of_two_gpus();
  order.spec.array_task = 7;
  order.spec.array_first = core::model::JobId(39U);
  Payload payload;
  payload.dialect = "slurm";
  const auto slurm = job_environment(order, payload, {});
  for (const char* entry :
       {"SLURM_JOB_ID=42", "SLURM_JOB_GPUS=3,1", "SLURM_GPUS_ON_NODE=2", "SLURM_RESTART_COUNT=1",
        "SLURM_ARRAY_JOB_ID=40", "SLURM_ARRAY_TASK_ID=7", "GOBAN_ARRAY_TASK_ID=7"}) {
    EXPECT_TRUE(has(slurm, entry)) << entry;
  }
  EXPECT_FALSE(has_name(slurm, "SLURM_NTASKS=")) << "comes with the submission";
  EXPECT_FALSE(has_name(slurm, "SLURM_CPUS_PER_TASK="));
  EXPECT_FALSE(has_name(slurm, "RANK=")) << "Slurm names no ranks in a script";
  EXPECT_FALSE(has_name(slurm, "WORLD_SIZE="));
  payload.dialect = "sge";
  EXPECT_TRUE(has(job_environment(order, payload, {}), "SGE_TASK_ID=7"));
  payload.dialect = "pbs";
  EXPECT_TRUE(has(job_environment(order, payload, {}), "PBS_ARRAY_INDEX=7"));
}

TEST(JobEnvironment, SlurmsVariablesAreThoseOfTheAllocation) {
  RunOrder order = order_of_two_gpus();
  order.spec.cores = 8;
  order.spec.owner.uid = 1000;
  order.restarts = 0;
  Payload payload;
  payload.dialect = "slurm";
  payload.env = {{"SLURM_NTASKS", "4"}, {"SLURM_SUBMIT_DIR", "/home/ada"}};
  RunPlaces places;
  places.work_folder = "/data";
  const auto env = job_environment(order, payload, places);
  for (const char* entry :
       {"SLURM_NTASKS=4", "SLURM_TASKS_PER_NODE=4", "SLURM_JOB_CPUS_PER_NODE=8",
        "SLURM_CPUS_ON_NODE=8", "SLURM_SUBMIT_DIR=/home/ada", "SLURM_JOB_USER=ada",
        "SLURM_JOB_UID=1000", "SLURM_JOB_QOS=normal", "SLURM_NNODES=1"}) {
    EXPECT_TRUE(has(env, entry)) << entry;
  }
  EXPECT_FALSE(has_name(env, "SLURM_RESTART_COUNT="));
  order.gpus.clear();
  order.spec.cores = 0;
  payload.env = {};
  places.cpus = {0, 1, 2};
  const auto plain = job_environment(order, payload, places);
  EXPECT_TRUE(has(plain, "SLURM_TASKS_PER_NODE=1"));
  EXPECT_TRUE(has(plain, "SLURM_CPUS_ON_NODE=3"));
  EXPECT_TRUE(has(plain, "SLURM_SUBMIT_DIR=/data"));
  EXPECT_FALSE(has_name(plain, "SLURM_GPUS_ON_NODE="));
  EXPECT_FALSE(has_name(plain, "SLURM_JOB_GPUS="));
}

TEST(JobEnvironment, AJobWithoutGpusSeesNone) {
  RunOrder order = order_of_two_gpus();
  order.gpus.clear();
  const auto env = job_environment(order, {}, {});
  EXPECT_TRUE(has(env, "CUDA_VISIBLE_DEVICES="));
  EXPECT_TRUE(has(env, "NVIDIA_VISIBLE_DEVICES=void"));
  EXPECT_FALSE(has_name(env, "GOBAN_VIRTUAL_GPU_SLOWNESS"));
}

TEST(JobEnvironment, NcclIsToldOfTheMachineAndTheUsersOwnValuesWin) {
  RunOrder order = order_of_two_gpus();
  const auto facts = base::topology::read_facts(GOBAN_SOURCE_DIR "/tests/topology/dgx_a100");
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_TRUE(nccl_variables(order, *facts).empty());  // virtual GPUs
  for (base::gpus::LocalGpu& gpu : order.gpus) gpu.is_virtual = false;
  RunPlaces places;
  places.nccl = nccl_variables(order, *facts);
  Payload payload;
  payload.env = {{"NCCL_SOCKET_IFNAME", "ib0"}};
  const auto env = job_environment(order, payload, places);
  EXPECT_TRUE(has(env, "NCCL_SOCKET_IFNAME=ib0"));
  EXPECT_TRUE(has_name(env, "NCCL_IB_HCA==mlx5_0:1,"));
  order.gpus.resize(1);
  EXPECT_TRUE(nccl_variables(order, *facts).empty());
}

TEST(JobEnvironment, MpsLimitsAreForRealGpusThatAreShared) {
  RunOrder order = order_of_two_gpus();
  order.spec.training.gpu_mem_bytes = int64_t{5} << 30;
  order.spec.training.gpu_util_pct = 37.2F;
  EXPECT_FALSE(has_name(job_environment(order, {}, {}), "CUDA_MPS_"));
  for (base::gpus::LocalGpu& gpu : order.gpus) gpu.is_virtual = false;
  EXPECT_FALSE(has_name(job_environment(order, {}, {}), "CUDA_MPS_"));
  order.shares = true;
  const auto limited = job_environment(order, {}, {});
  EXPECT_TRUE(has(limited, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=5120M,1=5120M"));
  EXPECT_TRUE(has(limited, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=38"));
  order.spec.training = {};
  EXPECT_FALSE(has_name(job_environment(order, {}, {}), "CUDA_MPS_"));
}

TEST(JobEnvironment, SlicesAreNamedByUuid) {
  RunOrder order = order_of_two_gpus();
  for (base::gpus::LocalGpu& gpu : order.gpus) gpu.is_virtual = false;
  order.gpus[0].uuid = "MIG-1";
  order.gpus[1].uuid = "GPU-2";
  const auto env = job_environment(order, {}, {});
  EXPECT_TRUE(has(env, "CUDA_VISIBLE_DEVICES=MIG-1,GPU-2"));
  EXPECT_TRUE(has(env, "NVIDIA_VISIBLE_DEVICES=MIG-1,GPU-2"));
  EXPECT_TRUE(has(env, "GOBAN_GPUS=3,1"));
}

TEST(JobEnvironment, WhereOtherGpusCannotBeOpenedCudaCountsTheJobsOwn) {
  RunOrder order = order_of_two_gpus();
  order.denied = {{195, 0}, {195, 2}};
  order.gpus[0].uuid = "GPU-3";
  order.gpus[1].uuid = "GPU-1";
  const auto env = job_environment(order, {}, {});
  EXPECT_TRUE(has(env, "CUDA_VISIBLE_DEVICES=1,0"));
  EXPECT_TRUE(has(env, "NVIDIA_VISIBLE_DEVICES=GPU-3,GPU-1"));
  EXPECT_TRUE(has(env, "GOBAN_GPUS=3,1"));
}

TEST(RunOrder, TextsKeepEverything) {
  RunOrder order = order_of_two_gpus();
  order.shares = true;
  order.payload = "/state/payloads/p";
  order.denied = {{195, 0}, {226, 128}};
  order.gpus[0].cpus = {4, 5};
  const auto again = parse_order(to_text(order), "order");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_text(*again), to_text(order));
  EXPECT_EQ(again->gpus, order.gpus);
  EXPECT_EQ(again->run, order.run);
  EXPECT_EQ(again->denied, order.denied);
  EXPECT_FALSE(parse_order("{\"job\": 0}", "order"));
  EXPECT_FALSE(parse_order("[]", "order"));
  EXPECT_FALSE(parse_order("{\"job\": 1, \"gpus\": [7]}", "order"));
  EXPECT_FALSE(parse_payload("{\"args\": [1]}", "payload"));
  EXPECT_NE(parse_payload("{\"env\": []}", "p.json").error().text().find("p.json"),
            std::string::npos);
}

TEST(StopPlan, SignalThenTermThenKill) {
  using Step = StopPlan::Step;
  StopPlan plan;
  EXPECT_EQ(plan.due(1), Step::None);
  EXPECT_EQ(plan.next_ns(), base::kNever);
  plan.order(StopReason::Preempted, {SIGUSR1, 5 * kSecond, 3 * kSecond}, 10 * kSecond);
  plan.order(StopReason::Cancelled, {}, 11 * kSecond);
  EXPECT_EQ(plan.reason(), StopReason::Preempted);
  EXPECT_EQ(plan.due(10 * kSecond), Step::Checkpoint);
  EXPECT_EQ(plan.due(14 * kSecond), Step::None);
  EXPECT_EQ(plan.next_ns(), 15 * kSecond);
  EXPECT_EQ(plan.due(15 * kSecond), Step::Terminate);
  EXPECT_EQ(plan.due(16 * kSecond), Step::None);
  EXPECT_EQ(plan.next_ns(), 18 * kSecond);
  EXPECT_EQ(plan.due(18 * kSecond), Step::Kill);
  EXPECT_EQ(plan.due(19 * kSecond), Step::None);
  EXPECT_TRUE(plan.killed());
}

TEST(StopPlan, WhereNobodyListensTermComesAtOnceAndTheGraceStays) {
  using Step = StopPlan::Step;
  StopPlan plan;
  plan.order(StopReason::Preempted, {SIGUSR1, 60 * kSecond, 3 * kSecond}, 0);
  EXPECT_EQ(plan.due(0), Step::Checkpoint);
  plan.terminate_now(kSecond);
  EXPECT_EQ(plan.due(kSecond), Step::Terminate);
  EXPECT_EQ(plan.next_ns(), 4 * kSecond);
  StopPlan plain;
  plain.order(StopReason::Preempted, {0, 0, 3 * kSecond}, 0);
  EXPECT_EQ(plain.due(0), Step::Terminate);
}

}  // namespace
}  // namespace goban::live::engine::local
