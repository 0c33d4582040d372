// The engine on a real Slurm, which tests/slurm/slurm_site.py starts: four nodes of four GPUs that
// do not exist. Skipped where Slurm or root is missing.
#include "live/engine/slurm/slurm_engine.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/text_file.hpp"
#include "live/engine/slurm/job_submit.hpp"
#include "live/engine/slurm/release_all.hpp"
#include "live/engine/slurm/slurm_kind.hpp"

namespace goban::live::engine::slurm {
namespace {

using testing::ElementsAre;

struct Shell {
  int code = 0;
  std::string out{};
};

Shell shell(const std::string& command) {
  Shell result;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.out.append(buffer.data(), count);
  }
  result.code = WEXITSTATUS(pclose(pipe));
  while (result.out.ends_with('\n')) result.out.pop_back();
  return result;
}

/// Everything that an engine said, in the words of the core.
struct Told {
  std::map<std::string, JobSeen> jobs{};
  std::map<std::string, JobGone> gone{};
  std::vector<Report> reports{};
  ClusterSeen cluster{};

  void take(SlurmEngine& engine) {
    for (EngineEvent& event : engine.take_events()) {
      if (auto* seen = std::get_if<JobSeen>(&event)) jobs[seen->id] = *seen;
      if (auto* all = std::get_if<ClusterSeen>(&event)) cluster = *all;
      if (auto* report = std::get_if<Report>(&event)) reports.push_back(*report);
      if (auto* end = std::get_if<JobGone>(&event)) {
        jobs.erase(end->id);
        gone[end->id] = *end;
      }
    }
  }
};

class SlurmEngineTest : public testing::Test {
 protected:
  void start(bool typed) {
    folder_ = testing::TempDir() + fmt::format("goban-slurm-{}", ::getpid());
    const std::string site = "python3 " GOBAN_SOURCE_DIR "/tests/slurm/slurm_site.py ";
    if (::geteuid() != 0 || shell("command -v slurmctld slurmd munged").code != 0) {
      GTEST_SKIP() << "needs root, slurmctld, slurmd and munge";
    }
    lua_ = {.partitions = {"gpu"}, .gpus_per_node = 4};
    if (typed) lua_.index_types = {"g0", "g1", "g2", "g3"};
    shell("mkdir -p " + folder_);
    std::FILE* file = std::fopen((folder_ + "/lua").c_str(), "w");
    std::fputs(job_submit_lua(lua_).c_str(), file);
    std::fclose(file);
    const Shell up = shell(site + "up --folder " + folder_ + "/s --lua " + folder_ + "/lua" +
                           (typed ? "" : " --untyped"));
    ASSERT_EQ(up.code, 0) << up.out;
    down_ = site + "down --folder " + folder_ + "/s; rm -r " + folder_;
    options_ = {
        .conf = folder_ + "/s/etc/slurm.conf",
        .rules = {.partitions = {"gpu"}, .indices = typed ? Indices::Types : Indices::Nodes},
        .epoch = 3,
        .rhythm = {.poll_s = 0.2, .rest_s = 0.2, .nodes_s = 0.2},
        .timeout_s = 3};
    engine_ = std::make_unique<SlurmEngine>(options_);
  }
  void TearDown() override {
    engine_.reset();
    if (down_.empty()) return;
    EXPECT_EQ(shell(down_).code, 0);
  }

  Shell slurm(const std::string& command) const {
    return shell("cd /tmp; export SLURM_CONF=" + options_.conf + "; " + command);
  }
  std::string submit(const std::string& options) const {
    return slurm("sbatch --parsable --output=/dev/null " + options + " --wrap 'sleep 300'").out;
  }
  void wait(const char* what, const std::function<bool()>& holds) {
    for (int i = 0; i < 600 && !HasFailure(); ++i) {
      told_.take(*engine_);
      if (holds()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL() << what << ": not within 30 s; " << engine_->problem();
  }
  /// Waits for a report of a run and removes all up to it.
  Report report(ReportKind kind, RunId run) {
    Report found;
    wait(fmt::format("report {} of run {}", static_cast<int>(kind), run.run).c_str(), [&] {
      const auto it = std::ranges::find_if(told_.reports, [&](const Report& each) {
        return each.run == run && each.kind != ReportKind::Progress;
      });
      if (it == told_.reports.end()) return false;
      found = *it;
      told_.reports.erase(told_.reports.begin(), it + 1);
      return true;
    });
    EXPECT_EQ(found.kind, kind) << found.detail;
    return found;
  }
  LaunchOrder order(const std::string& id, uint32_t job, uint32_t run,
                    std::vector<NodePart> parts) {
    return {.run = {JobId{job}, run}, .engine_id = id, .parts = std::move(parts)};
  }

  std::string folder_, down_;
  SubmitRules lua_{};
  SlurmOptions options_{};
  std::unique_ptr<SlurmEngine> engine_{};
  Told told_{};
};

TEST_F(SlurmEngineTest, JobsRunOnTheGpusThatWereChosen) {
  start(true);
  if (IsSkipped()) return;
  wait("the nodes", [&] { return told_.cluster.nodes.size() == 4; });
  EXPECT_EQ(told_.cluster.nodes[1].name, "n2");
  EXPECT_EQ(told_.cluster.nodes[1].num_gpus, 4);
  const std::string id = submit("--gres=gpu:2 -J 'a b' -t 60");
  const std::string other =
      slurm("salloc --no-shell --gres=gpu:1 -x n2,n3,n4 2>/dev/null; squeue -h -t R -o %A").out;
  wait("the job", [&] { return told_.jobs.contains(id); });
  const JobSeen seen = told_.jobs[id];
  EXPECT_TRUE(seen.managed);
  EXPECT_EQ(seen.state, SeenState::Waiting);
  EXPECT_EQ(seen.spec.num_gpus, 2);
  EXPECT_EQ(seen.spec.name, "a b");
  EXPECT_EQ(seen.spec.walltime_limit_ns, 3600 * base::kSecond);
  EXPECT_EQ(seen.spec.owner.user, "root");
  wait("the other", [&] { return told_.jobs.contains(other); });
  EXPECT_FALSE(told_.jobs[other].managed);
  EXPECT_EQ(told_.jobs[other].state, SeenState::Running);
  EXPECT_EQ(told_.jobs[other].parts.at(0).node, "n1");
  EXPECT_EQ(told_.jobs[other].parts.at(0).gpus.size(), 1U);

  // An engine that only observes takes part in nothing.
  auto observing = make_slurm(
      {.epoch = 9,
       .choice = {
           .name = "slurm",
           .table = base::parse_config(
                        fmt::format("mode = 'observe'\nconf = '{}'\n", options_.conf), "goban.toml")
                        .value()}});
  ASSERT_TRUE(observing) << observing.error().text();
  observing->engine->recall({});
  observing->engine->launch(order(id, 5, 1, {{.node = "n1", .gpus = {0}}}));
  bool declined = false;
  for (int i = 0; i < 200 && !declined; ++i) {
    for (const EngineEvent& event : observing->engine->take_events()) {
      const auto* report = std::get_if<Report>(&event);
      declined = declined || (report != nullptr && report->kind == ReportKind::Declined);
      const auto* job = std::get_if<JobSeen>(&event);
      EXPECT_FALSE(job != nullptr && job->managed);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(declined);
  observing->engine.reset();
  EXPECT_EQ(slurm("squeue -h -O admin_comment,Reason -j " + id).out.find("goban"),
            std::string::npos);

  // Its owner has changed his mind meanwhile.
  const std::string changed = submit("--gres=gpu:1");
  wait("the request", [&] { return told_.jobs.contains(changed); });
  slurm("scontrol update jobid=" + changed + " TresPerNode=gpu:3");
  engine_->launch(order(changed, 4, 1, {{.node = "n4", .gpus = {0}}}));
  EXPECT_NE(report(ReportKind::Declined, {JobId{4U}, 1}).detail.find("changed"), std::string::npos);
  wait("the other request", [&] { return told_.jobs[changed].spec.num_gpus == 3; });
  slurm("scancel " + changed);

  engine_->launch(order(id, 5, 1, {{.node = "n2", .gpus = {1, 3}}}));
  EXPECT_TRUE(report(ReportKind::Started, {JobId{5U}, 1}).parts.empty()) << "as ordered";
  EXPECT_NE(slurm("scontrol -d show job " + id).out.find("GRES=gpu:g1:1(IDX:1),gpu:g3:1(IDX:3)"),
            std::string::npos);
  wait("its run", [&] { return told_.jobs[id].state == SeenState::Running; });
  EXPECT_EQ(told_.jobs[id].run, (RunId{JobId{5U}, 1}));

  // Preempted, and started elsewhere.
  engine_->stop({JobId{5U}, 1}, StopReason::Preempted);
  EXPECT_EQ(report(ReportKind::Ended, {JobId{5U}, 1}).signal, SIGTERM);
  engine_->launch(order(id, 5, 2, {{.node = "n3", .gpus = {0, 2}}}));
  report(ReportKind::Started, {JobId{5U}, 2});
  EXPECT_NE(slurm("scontrol -d show job " + id).out.find("Nodes=n3 "), std::string::npos);

  // What is taken by somebody else is declined.
  const std::string third = submit("--gres=gpu:1");
  wait("the third", [&] { return told_.jobs.contains(third); });
  engine_->launch(order(third, 6, 1, {{.node = "n9", .gpus = {0}}}));
  EXPECT_FALSE(report(ReportKind::Declined, {JobId{6U}, 1}).detail.empty());
  EXPECT_EQ(slurm("squeue -h -o %r -j " + third).out, "JobHeldUser");

  // Two jobs share GPU 3 of n4; one of them is requeued alone, and runs elsewhere.
  const std::string elder = submit("--gres=shard:2");
  const std::string younger = submit("--gres=shard:2");
  const std::string late = submit("--gres=shard:1");
  wait("the jobs of shards", [&] { return told_.jobs.contains(late); });
  engine_->launch(order(elder, 10, 1, {{.node = "n4", .gpus = {3}}}));
  report(ReportKind::Started, {JobId{10U}, 1});
  LaunchOrder beside = order(younger, 11, 1, {{.node = "n4", .gpus = {3}}});
  beside.shares = true;
  engine_->launch(beside);
  EXPECT_TRUE(report(ReportKind::Started, {JobId{11U}, 1}).parts.empty()) << "as ordered";
  wait("both", [&] { return told_.jobs[younger].state == SeenState::Running; });
  for (const std::string& each : {elder, younger}) {
    EXPECT_NE(slurm("scontrol -d show job " + each).out.find("GRES=shard:2(IDX:3)"),
              std::string::npos);
  }
  engine_->launch(order(late, 12, 1, {{.node = "n4", .gpus = {3}}}));
  EXPECT_EQ(report(ReportKind::Declined, {JobId{12U}, 1}).detail,
            "4 of the 4 shards of GPU 3 of n4 are taken");
  engine_->stop({JobId{11U}, 1}, StopReason::Preempted);
  report(ReportKind::Ended, {JobId{11U}, 1});
  EXPECT_EQ(slurm("squeue -h -o %T -j " + elder).out, "RUNNING") << "it stays where it is";
  engine_->launch(order(younger, 11, 2, {{.node = "n4", .gpus = {1}}}));
  report(ReportKind::Started, {JobId{11U}, 2});
  EXPECT_NE(slurm("scontrol -d show job " + younger).out.find("GRES=shard:2(IDX:1)"),
            std::string::npos);
  slurm("scancel " + elder + " " + younger + " " + late);

  // Where Slurm refuses the types, the job has its request as before.
  engine_.reset();
  told_ = {};
  options_.gres_prefix = "gres:x";
  engine_ = std::make_unique<SlurmEngine>(options_);
  wait("the third", [&] { return told_.jobs.contains(third); });
  engine_->launch(order(third, 6, 2, {{.node = "n2", .gpus = {0}}}));
  EXPECT_FALSE(report(ReportKind::Declined, {JobId{6U}, 2}).detail.empty());
  EXPECT_TRUE(slurm("squeue -h -O tres-per-node:20 -j " + third).out.starts_with("gres:gpu:1 "));
  options_.gres_prefix = "gres:";

  // Another daemon takes over.
  engine_.reset();
  options_.epoch = 4;
  engine_ = std::make_unique<SlurmEngine>(options_);
  told_ = {};
  engine_->recall({{.job = JobId{5U},
                    .engine_id = id,
                    .managed = true,
                    .run = {JobId{5U}, 2},
                    .launched = true},
                   {.job = JobId{9U}, .engine_id = "99", .managed = true}});
  engine_->resume(order(id, 5, 2, {{.node = "n3", .gpus = {0, 2}}}));
  report(ReportKind::Started, {JobId{5U}, 2});
  wait("that 99 is gone", [&] { return told_.gone.contains("99"); });

  // Cancelled on either side.
  slurm("scancel " + id);
  report(ReportKind::Ended, {JobId{5U}, 2});
  wait("its end", [&] { return told_.gone.contains(id); });
  EXPECT_EQ(told_.gone[id].how, GoneHow::Cancelled);
  engine_->withdraw(JobId{6U}, third);
  wait("the third's end", [&] { return told_.gone.contains(third); });
}

TEST_F(SlurmEngineTest, AJobOfShardsIsPlacedAgainAfterSlurmHadIt) {
  start(true);
  if (IsSkipped()) return;
  wait("the nodes", [&] { return told_.cluster.nodes.size() == 4; });
  const std::string id = submit("--gres=shard:2");
  wait("the job", [&] { return told_.jobs.contains(id); });
  engine_->launch(order(id, 1, 1, {{.node = "n4", .gpus = {1}}}));
  report(ReportKind::Started, {JobId{1U}, 1});
  engine_->stop({JobId{1U}, 1}, StopReason::Preempted);
  report(ReportKind::Ended, {JobId{1U}, 1});
  // As if the daemon had been away.
  const auto released = release_all(Client(options_.conf), {"gpu"});
  ASSERT_TRUE(released) << released.error().text();
  EXPECT_THAT(released->problems, testing::IsEmpty());
  wait("its start by Slurm", [&] { return slurm("squeue -h -o %T -j " + id).out == "RUNNING"; });
  slurm("scontrol requeuehold Incomplete " + id);
  wait("that it is held", [&] {
    return slurm("squeue -h -o %T%r -j " + id).out.starts_with("PENDINGjob requeued in held");
  });
  engine_->launch(order(id, 1, 2, {{.node = "n3", .gpus = {3}}}));
  report(ReportKind::Started, {JobId{1U}, 2});
  EXPECT_THAT(slurm("scontrol -d show job " + id).out, testing::HasSubstr("GRES=shard:2(IDX:3)"));
}

TEST_F(SlurmEngineTest, NodesFailAndSlurmctldIsKilled) {
  start(false);
  if (IsSkipped()) return;
  const std::string id = submit("--gres=gpu:2");
  wait("the job", [&] { return told_.jobs.contains(id); });
  engine_->launch(order(id, 1, 1, {{.node = "n2", .gpus = {2, 3}}}));
  const Report started = report(ReportKind::Started, {JobId{1U}, 1});
  EXPECT_THAT(started.parts, ElementsAre(testing::Field(&NodePart::gpus, ElementsAre(0, 1))))
      << "Slurm's choice";

  slurm("scontrol update nodename=n2 state=down reason=test");
  report(ReportKind::Lost, {JobId{1U}, 1});
  wait("it is held", [&] { return slurm("squeue -h -o %r -j " + id).out.starts_with("JobHeld"); });
  slurm("scontrol update nodename=n2 state=drain reason=broken");
  wait("the node", [&] { return told_.cluster.nodes.at(1).state == SeenNodeState::Drained; });
  EXPECT_TRUE(told_.cluster.nodes.at(1).reason.starts_with("broken"));
  engine_->launch(order(id, 1, 2, {{.node = "n4", .gpus = {0, 1}}}));
  report(ReportKind::Started, {JobId{1U}, 2});

  // slurmctld is gone for some seconds: nobody is told anything, and no call hangs.
  const std::string pid = shell("pgrep -f '^slurmctld -D -f " + options_.conf + "'").out;
  // Killed after it has written this change of the job, and with it the start.
  slurm("scontrol update jobid=" + id + " comment=after-the-start");
  wait("its state", [&] {
    return slurm("grep -q after-the-start " + folder_ + "/s/state/job_state").code == 0;
  });
  slurm("kill -9 " + pid);
  const auto began = std::chrono::steady_clock::now();
  engine_->launch(order("77", 7, 1, {{.node = "n4", .gpus = {0}}}));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(100));
  wait("that it does not answer", [&] { return !engine_->problem().empty(); });
  EXPECT_TRUE(told_.gone.empty());
  shell(
      fmt::format("SLURM_CONF={0}/s/etc/slurm.conf GOBAN_SLURM_SITE=$(realpath {0}/s) setsid "
                  "slurmctld -D </dev/null >/dev/null 2>&1 &",
                  folder_));
  wait("that it answers", [&] { return engine_->problem().empty(); });
  EXPECT_NE(report(ReportKind::Declined, {JobId{7U}, 1}).detail, "");
  engine_->stop({JobId{1U}, 2}, StopReason::Cancelled);
  report(ReportKind::Ended, {JobId{1U}, 2});
  wait("its end", [&] { return told_.gone.contains(id); });
}

}  // namespace
}  // namespace goban::live::engine::slurm
