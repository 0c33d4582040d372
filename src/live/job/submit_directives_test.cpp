#include "live/job/submit_directives.hpp"

#include <csignal>
#include <gmock/gmock.h>

#include "base/test_names.hpp"
#include "live/job/submit_options.hpp"

namespace goban::live::job {
namespace {

using base::kSecond;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kGiB = int64_t{1} << 30;

SubmitDirectives read(const std::string& lines) {
  auto read = read_directives("#!/bin/bash\n" + lines, "job.sh");
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().text());
  return read ? *read : SubmitDirectives{};
}

SubmitDirectives made(const std::string& lines) {
  const SubmitDirectives directives = read(lines);
  EXPECT_THAT(directives.unread, IsEmpty()) << lines;
  const auto submission = finish(directives);
  EXPECT_TRUE(submission.has_value()) << (submission ? "" : submission.error().text());
  return submission ? *submission : SubmitDirectives{};
}

std::string refused(const std::string& lines) {
  const auto read = read_directives("#!/bin/bash\n" + lines, "job.sh");
  return read ? std::string("taken") : read.error().text();
}

struct Case {
  const char* lines;
  bool (*holds)(const SubmitDirectives& made);
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  return out << base::test_name(each.lines);
}
std::string name_of(const testing::TestParamInfo<Case>& each) {
  return base::test_name(each.param.lines);
}

class Directive : public testing::TestWithParam<Case> {};

TEST_P(Directive, IsTaken) {
  EXPECT_TRUE(GetParam().holds(made(GetParam().lines))) << GetParam().lines;
}

#define CASE(lines, condition)                                         \
  Case {                                                               \
    lines, [](const SubmitDirectives& m) -> bool { return condition; } \
  }

INSTANTIATE_TEST_SUITE_P(
    Slurm, Directive,
    testing::Values(
        CASE("#SBATCH -J bert", m.spec.name == "bert" && m.dialect == "slurm"),
        CASE("#SBATCH --job-name='my job' # why", m.spec.name == "my job"),
        CASE("#SBATCH -Jbert -pgpu", m.spec.name == "bert" && m.spec.partition == "gpu"),
        CASE("#SBATCH --gres=gpu:4", m.spec.num_gpus == 4 && m.spec.instances == 1),
        CASE("#SBATCH -N 2\n#SBATCH --gres gpu:4", m.spec.num_gpus == 8 && m.spec.instances == 2),
        CASE("#SBATCH --gpus=6 -N2", m.spec.num_gpus == 6 && m.spec.instances == 2),
        CASE("#SBATCH --gpus-per-node=8 --nodes=3", m.spec.num_gpus == 24),
        CASE("#SBATCH --ntasks=4 --gpus-per-task=2", m.spec.num_gpus == 8),
        CASE("#SBATCH -n 8 --ntasks-per-node=4 -c 6",
             m.spec.instances == 2 && m.spec.cores == 24 && m.spec.num_gpus == 1),
        CASE("#SBATCH --mem=32G", m.spec.mem_bytes == 32 * kGiB),
        CASE("#SBATCH --mem=512", m.spec.mem_bytes == kGiB / 2),
        CASE("#SBATCH -c 4 --mem-per-cpu=2G", m.spec.mem_bytes == 8 * kGiB),
        CASE("#SBATCH --gpus 4 --mem-per-gpu 8G", m.spec.mem_bytes == 32 * kGiB),
        CASE("#SBATCH -t 90", m.spec.walltime_limit_ns == 5400 * kSecond),
        CASE("#SBATCH -t 90:30", m.spec.walltime_limit_ns == 5430 * kSecond),
        CASE("#SBATCH -t 1:30:00", m.spec.walltime_limit_ns == 5400 * kSecond),
        CASE("#SBATCH --time=1-02:03:04", m.spec.walltime_limit_ns == 93'784 * kSecond),
        CASE("#SBATCH --time 2-12", m.spec.walltime_limit_ns == 60 * 3600 * kSecond),
        CASE("#SBATCH -t UNLIMITED", m.spec.walltime_limit_ns == 0),
        CASE("#SBATCH -A lab -q high --reservation=day",
             m.spec.account == "lab" && m.spec.qos == "high" && m.spec.reservation == "day"),
        CASE("#SBATCH --gpus-per-node=2 --gpus-per-task=1", m.spec.num_gpus == 2 && m.tasks == 2),
        CASE("#SBATCH --gpus=4 --gpus-per-task=2 -c 3", m.tasks == 2 && m.spec.cores == 6),
        CASE("#SBATCH --gres=gpu:4 --ntasks-per-node=4 --gpus-per-task=1", m.spec.num_gpus == 4),
        CASE("#SBATCH --gres=gpu:2 --ntasks-per-gpu=3", m.tasks == 6 && m.spec.cores == 6),
        CASE("#SBATCH -n 5 --ntasks-per-gpu=2", m.spec.num_gpus == 3 && m.spec.cores == 5),
        CASE("#SBATCH --gres=gpu:2 --cpus-per-gpu=4", m.spec.cores == 8 && m.tasks == -1),
        CASE("#SBATCH -n 2 --gpus-per-task=2 --cpus-per-gpu=4", m.spec.cores == 16),
        CASE("#SBATCH --gres=none", m.spec.num_gpus == 0),
        CASE("#SBATCH -W -Q", m.manner.wait&& m.manner.quiet && !m.manner.test_only),
        CASE("#SBATCH --parsable --test-only", m.manner.parsable&& m.manner.test_only),
        CASE("#SBATCH -i data/%a.txt --open-mode=append",
             m.spec.stdin_path == "data/%a.txt" && m.spec.open_mode == OpenMode::Append),
        CASE("#GOBAN --open-mode append -i x",
             m.spec.stdin_path == "x" && m.spec.open_mode == OpenMode::Append),
        CASE("#SBATCH --open-mode=truncate", m.spec.open_mode == OpenMode::Truncate),
        CASE("#SBATCH -o out-%A_%a.txt", m.spec.stdout_path == "out-%A_%a.txt"),
        CASE("#SBATCH -o %u/%x-%J.out -e err-%j",
             m.spec.stdout_path == "%u/%x-%j.out" && m.spec.stderr_path == "err-%j"),
        CASE("#SBATCH --no-requeue --hold", !m.spec.requeue && m.spec.held),
        CASE("#SBATCH --signal=B:USR1@120",
             m.spec.stop.signal == SIGUSR1 && m.spec.stop.lead_ns == 120 * kSecond),
        CASE("#SBATCH --nice=5 -D /data", m.spec.priority == -5 && m.spec.work_folder == "/data"),
        CASE("#SBATCH -a 0-9%2", m.array_tasks.size() == 10 && m.spec.array_limit == 2),
        CASE("#SBATCH --array=1-10:3", (m.array_tasks == std::vector<int32_t>{1, 4, 7, 10})),
        CASE("#SBATCH --array=7,1-2,2", (m.array_tasks == std::vector<int32_t>{1, 2, 7})),
        CASE("#SBATCH -d afterok:12:13,afterany:14",
             m.spec.dependencies.size() == 3 &&
                 m.spec.dependencies[1] == (Dependency{DependencyKind::AfterOk, JobId(12U)}) &&
                 m.spec.dependencies[2].kind == DependencyKind::AfterAny),
        CASE("#SBATCH --export=NONE", !m.environment.all && m.environment.names.empty()),
        CASE("#SBATCH --export=ALL,SEED=7",
             m.environment.all&& m.environment.values[0].second == "7"),
        CASE("#SBATCH --export=PATH,SEED=7",
             !m.environment.all && m.environment.names[0] == "PATH"),
        CASE("", m.dialect.empty() && m.spec.num_gpus == 1 && m.spec.stdout_path == "%x-%j.out"),
        CASE("# a comment\n\n   \n#SBATCH -J late", m.spec.name == "late"),
        CASE("##SBATCH -J no", m.spec.name.empty()), CASE("#SBATCHX -J no", m.spec.name.empty())),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    GridEngine, Directive,
    testing::Values(
        CASE("#$ -N bert", m.spec.name == "bert" && m.spec.stdout_path == "%x.o%j" &&
                               m.spec.stderr_path == "%x.e%j"),
        CASE("#$ -cwd -j y",
             m.dialect == "sge" && m.spec.stdout_path == "%x.o%j" && m.spec.stderr_path.empty()),
        CASE("#$-l rt_G.small=1", m.spec.resource_type == "rt_G.small" && m.spec.instances == 1),
        CASE("#$ -l rt_F=4,h_rt=1:30:00", m.spec.resource_type == "rt_F" && m.spec.instances == 4 &&
                                              m.spec.walltime_limit_ns == 5400 * kSecond),
        CASE("#$ -l h_rt=3600", m.spec.walltime_limit_ns == 3600 * kSecond),
        CASE("#$ -l gpu=2 -pe smp 8 -l mem_free=4G",
             m.spec.num_gpus == 2 && m.spec.cores == 8 && m.spec.mem_bytes == 32 * kGiB),
        CASE("#$ -g gaa50000 -q gpu.q -p -10",
             m.spec.account == "gaa50000" && m.spec.partition == "gpu.q" && m.spec.priority == -10),
        CASE("#$ -t 1-10:2 -tc 3", m.array_tasks.size() == 5 && m.spec.array_limit == 3 &&
                                       m.spec.stdout_path == "%x.o%A.%a"),
        CASE("#$ -hold_jid 3,4",
             m.spec.dependencies.size() == 2 && m.spec.dependencies[1].job == JobId(3U)),
        CASE("#$ -o log/$JOB_NAME.$JOB_ID.$TASK_ID", m.spec.stdout_path == "log/%x.%j.%a"),
        CASE("#$ -o host:/log/100%", m.spec.stdout_path == "/log/100%%"),
        CASE("#$ -v SEED=7,LANG -V", m.environment.all&& m.environment.names[0] == "LANG"),
        CASE("#$ -r n -h -wd /w", !m.spec.requeue && m.spec.held && m.spec.work_folder == "/w"),
        CASE("#$ -notify", m.spec.stop.signal == SIGUSR2)),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Pbs, Directive,
    testing::Values(
        CASE("#PBS -N bert -q gpu",
             m.dialect == "pbs" && m.spec.name == "bert" && m.spec.partition == "gpu"),
        CASE("#PBS -l select=2:ncpus=8:ngpus=4:mem=64gb:mpiprocs=4",
             m.spec.instances == 2 && m.spec.num_gpus == 8 && m.spec.cores == 8 &&
                 m.spec.mem_bytes == 64 * kGiB),
        CASE("#PBS -l nodes=2:ppn=4:gpus=1,walltime=10:00",
             m.spec.num_gpus == 2 && m.spec.walltime_limit_ns == 600 * kSecond),
        CASE("#PBS -l select=2\n#PBS -q rt_HF",
             m.spec.resource_type == "rt_HF" && m.spec.instances == 2),
        CASE("#PBS -q rt_HF\n#PBS -l select=2", m.spec.instances == 2),
        CASE("#PBS -P group -j oe", m.spec.account == "group" && m.spec.stderr_path.empty()),
        CASE("#PBS -W depend=afterok:3", m.spec.dependencies[0].kind == DependencyKind::AfterOk),
        CASE("#PBS -J 0-3 -o out.^array_index^",
             m.array_tasks.size() == 4 && m.spec.stdout_path == "out.%a")),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Own, Directive,
    testing::Values(
        CASE("#GOBAN --gpus 4 --time 90m --name bert",
             m.spec.num_gpus == 4 && m.spec.walltime_limit_ns == 5400 * kSecond &&
                 m.spec.name == "bert"),
        CASE("#GOBAN --gpus-per-node=4 -N 2", m.spec.num_gpus == 8),
        CASE("#GOBAN --deadline 12h --max-wait 30m --max-slowdown 1.5",
             m.spec.training.deadline_ns == 43'200 * kSecond &&
                 m.spec.training.max_slowdown == 1.5F),
        CASE("#GOBAN --model resnet50 --class B --epochs 90 --batch-size 256 --gpu-mem 12G",
             m.spec.model == "resnet50" && m.spec.app_class == 1 && m.spec.training.epochs == 90 &&
                 m.spec.training.gpu_mem_bytes == 12 * kGiB),
        CASE("#GOBAN --gpus 2 --elastic 1..4 --steps 90 --resize-cost 0",
             m.spec.training.gpus_min == 1 && m.spec.training.gpus_max == 4 &&
                 m.spec.training.steps == 90 && m.spec.training.resize_cost_ns == 0),
        CASE("#SBATCH -d afterok:3,singleton",
             m.spec.dependencies.size() == 2 &&
                 m.spec.dependencies[1].kind == DependencyKind::Singleton),
        CASE("#SBATCH --gres=gpu:a100:2", m.spec.gpu_model == "a100" && m.spec.num_gpus == 2),
        CASE("#SBATCH --gpus=h200:4", m.spec.gpu_model == "h200" && m.spec.num_gpus == 4),
        CASE("#SBATCH --gpus=h200:4\n#GOBAN --gres gpu:2",
             m.spec.gpu_model.empty() && m.spec.num_gpus == 2),
        CASE("#SBATCH -w n1,g[3-4] -x n2",
             m.spec.node_list == std::vector<std::string>({"n1", "g3", "g4"}) &&
                 m.spec.exclude_nodes == std::vector<std::string>({"n2"})),
        CASE("#GOBAN --begin 2026-12-01T08:15:20Z", m.spec.begin_ns == 1'796'112'920 * kSecond),
        CASE("#SBATCH -b now\n#SBATCH --begin=2026-12-01T08:15:20Z",
             m.spec.begin_ns == 1'796'112'920 * kSecond),
        CASE("#GOBAN --type rt_G.small=4 --share",
             m.spec.resource_type == "rt_G.small" && m.spec.instances == 4),
        CASE("#SBATCH --gpus=8\n#GOBAN --gpus 2", m.spec.num_gpus == 2),
        CASE("#GOBAN --signal USR1@2m --grace 1m",
             m.spec.stop.lead_ns == 120 * kSecond && m.spec.stop.grace_ns == 60 * kSecond)),
    name_of);

#undef CASE

TEST(SlurmDirectives, WhatIsHonouredInPartIsRemarked) {
  const SubmitDirectives whole = read("#SBATCH --exclusive=user\n");
  EXPECT_EQ(whole.spec.training.sharing, core::model::SharingRequest::No);
  ASSERT_EQ(whole.unread.size(), 1U);
  EXPECT_THAT(whole.unread[0].why, HasSubstr("not off the node"));
  const SubmitDirectives late = read("#SBATCH --deadline=now+2hours\n");
  EXPECT_NEAR(base::to_seconds(late.spec.training.deadline_ns), 7200, 60);
  ASSERT_EQ(late.unread.size(), 1U);
  EXPECT_THAT(late.unread[0].why, HasSubstr("is not removed"));
}

TEST(SlurmDirectives, WhatWouldChangeTheJobIsRefused) {
  for (const char* option : {"--container=image", "--uid=ada", "--gid=users", "--export-file=v",
                             "--open-mode=over", "--deadline=2001-01-01"}) {
    EXPECT_THAT(refused(std::string("#SBATCH ") + option + "\n"), testing::Not("taken")) << option;
  }
  const auto odd = finish(read("#SBATCH --gpus-per-node=4 -n 2 --gpus-per-task=1\n"));
  ASSERT_FALSE(odd) << "Slurm refuses it, too";
  EXPECT_THAT(odd.error().text(), HasSubstr("4 GPUs do not suit 2 tasks"));
}

TEST(SlurmDirectives, NothingIsIgnoredWithoutAWord) {
  for (const char* option : {"--mail-type=END", "--comment=x", "--hint=nomultithread", "-C a100",
                             "--wckey=x", "--tmp=10G", "--licenses=a", "--gpu-bind=closest",
                             "--kill-on-invalid-dep=yes", "--acctg-freq=5", "-k", "--unheard=of"}) {
    EXPECT_EQ(read(std::string("#SBATCH ") + option + "\n").unread.size(), 1U) << option;
  }
}

TEST(Directives, WhatHasNoEffectIsNamedWithItsLine) {
  const SubmitDirectives found = read(
      "#SBATCH -C fast --frobnicate 3 -J x\n"
      "#SBATCH --gres=gpu:a100:2,shard:1\n"
      "#$ -M me@example.org -soft\n"
      "python train.py\n"
      "#SBATCH -N 2\n");
  std::vector<std::string> said;
  for (const UnreadDirective& each : found.unread) {
    said.push_back(std::to_string(each.line) + " " + each.text + ": " + each.why);
  }
  EXPECT_THAT(
      said,
      ElementsAre("2 -C fast: nodes are chosen by the policy", "2 --frobnicate 3: unknown option",
                  "3 --gres: unknown resource 'shard:1'", "4 -M me@example.org: no mail is sent",
                  "4 -soft: unknown option", "6 #SBATCH -N 2: it follows the first command"));
  EXPECT_EQ(found.spec.name, "x");
  EXPECT_EQ(finish(found)->spec.num_gpus, 2);
}

TEST(Directives, RefusalsNameLineOptionAndRemedy) {
  EXPECT_EQ(
      refused("#SBATCH -t soon"),
      "job.sh:2: -t: 'soon' is not a valid time (write minutes, MM:SS, H:MM:SS, D-HH, D-HH:MM, "
      "D-HH:MM:SS or UNLIMITED)");
  EXPECT_EQ(refused("\n#GOBAN --gpsu 4"),
            "job.sh:3: unknown option '--gpsu' (did you mean --gpus?)");
  EXPECT_THAT(refused("#GOBAN --time 90"), HasSubstr("--time: '90' is a time without a unit"));
  EXPECT_THAT(refused("#GOBAN --hold=1"), HasSubstr("--hold: the option takes no value"));
  EXPECT_THAT(refused("#SBATCH --time"), HasSubstr("--time: the option has no value"));
  EXPECT_THAT(refused("#SBATCH -J 'open"), HasSubstr("a quote is not closed"));
  EXPECT_THAT(refused("#SBATCH hetjob\n#SBATCH --hetjob"), HasSubstr("heterogeneous"));
  EXPECT_THAT(refused("#SBATCH -a 9-1"), HasSubstr("'9-1' is not a valid array"));
  EXPECT_THAT(refused("#SBATCH -a 0-999999"), HasSubstr("at most 10000 tasks"));
  EXPECT_THAT(refused("#SBATCH -d singleton:3"),
              HasSubstr("'singleton:3' is not a valid dependency"));
  EXPECT_THAT(refused("#$ -hold_jid prepare"), HasSubstr("'prepare' is not a valid job number"));
  EXPECT_THAT(refused("#PBS -l select=1:ngpus=1+2:ngpus=4"), HasSubstr("different kinds of nodes"));
  EXPECT_FALSE(refused("#SBATCH -w g[3-").empty());
  EXPECT_THAT(refused("#SBATCH --gpus=many:x"), HasSubstr("is not a valid number"));
  EXPECT_THAT(refused("#SBATCH --gres=gpu:a100:2,gpu:v100:2"), HasSubstr("several models"));
  for (const char* line :
       {"#SBATCH --gres=gpu:", "#GOBAN --gpus virtual:", "#GOBAN --gpus gpu::"}) {
    EXPECT_THAT(refused(line), HasSubstr("without a number")) << line;
  }
  EXPECT_THAT(refused("#SBATCH --mem=lots"), HasSubstr("'lots' is not a valid size"));
  EXPECT_THAT(refused("#SBATCH --signal=KILL"), HasSubstr("'KILL' is not a valid signal"));
}

TEST(Directives, WindowsLineEndsAreRefused) {
  const auto read = read_directives("#!/bin/bash\r\necho\r\n", "job.sh");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().text(), HasSubstr("dos2unix"));
}

TEST(SubmitDirectives, ImpossibleSizesAreRefused) {
  SubmitDirectives request;
  request.nodes = 1'000'000;
  request.gpus_per_node = 1'000'000;
  EXPECT_FALSE(finish(request).has_value());
  request.gpus_per_node = 1;
  request.mem_per_core_bytes = int64_t{1} << 50;
  request.cores_per_task = 1000;
  EXPECT_FALSE(finish(request).has_value());
}

TEST(SubmitDirectives, TheCommandLineWins) {
  SubmitDirectives request = read("#SBATCH --gres=gpu:4 -J script -c 4");
  for (const auto& [name, value] : {std::pair{"--gpus", "2"}, std::pair{"-J", "line"}}) {
    ASSERT_TRUE(find_submit_option(name)->set(request, value).has_value());
  }
  const SubmitDirectives submission = finish(request).value();
  EXPECT_EQ(submission.spec.num_gpus, 2);
  EXPECT_EQ(submission.spec.name, "line");
  EXPECT_EQ(submission.spec.cores, 4);
}

}  // namespace
}  // namespace goban::live::job
