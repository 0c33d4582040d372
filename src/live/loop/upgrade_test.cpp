// State folders written by earlier releases, with waiting and running jobs, from which every later
// release must continue. How to add one: docs/journal.md.
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

#include "base/test_folder.hpp"
#include "live/journal/journal_file.hpp"
#include "live/loop/commit_cycle.hpp"
#include "live/loop/test_site.hpp"

namespace goban::live::loop {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

controller::Site two_nodes(const std::string& policy) { return test_site(2, 4, policy, 1.5); }

/// Everything that a run can report.
Report full_end(RunId run, int32_t exit_code) {
  return {.kind = ReportKind::Ended,
          .run = run,
          .exit_code = exit_code,
          .usage = {.cpu_s = 12.125,
                    .mem_bytes_max = 3'221'225'472,
                    .gpu_mem_bytes_max = 9'007'199'254'740'993,
                    .gpu_util_pct = 63.3F,
                    .memory_busy_pct = 21.7F,
                    .dram_util_pct = 11.1F,
                    .fu_util_pct = 0,
                    .energy_j = 0.1},
          .ranks = {{.rank = 0, .ranks = 2, .steps = 40, .busy_s = 3.3, .wait_s = 0.7, .data_s = 0},
                    {.rank = 1, .ranks = 2, .steps = 41, .busy_s = 3.9, .wait_s = 0.1}},
          .pace = {.steps = {.done = 40, .over_s = 4.1}, .epochs = {.done = 0.3, .over_s = 4}},
          .detail = "as measured"};
}

Report full_progress(RunId run) {
  return {.kind = ReportKind::Progress,
          .run = run,
          .progress = {.epoch = 1.3,
                       .epochs = 4,
                       .step = 130,
                       .steps = 400,
                       .samples_per_s = 1e3 / 3,
                       .loss = 0.7,
                       .busy_s = 6.1,
                       .input_stall_pct = 2.5,
                       .checkpointed = true}};
}

/// Starts runs as ordered and ends them on request of the test.
class PatientEngine final : public Engine {
 public:
  void launch(const LaunchOrder& order) override {
    launched.push_back(order.run);
    report(ReportKind::Started, order.run);
  }
  void stop(RunId run, StopReason) override { report(full_end(run, -1)); }
  void resume(const LaunchOrder& order) override { report(ReportKind::Started, order.run); }
  void forget(JobId, const std::string&) override {}
  std::vector<EngineEvent> take_events() override { return events_of(std::exchange(reports_, {})); }

  void report(ReportKind kind, RunId run, int32_t exit_code = 0) {
    reports_.push_back({.kind = kind, .run = run, .exit_code = exit_code});
  }
  void report(Report full) { reports_.push_back(std::move(full)); }
  std::vector<RunId> launched;

 private:
  std::vector<Report> reports_;
};

/// The job table as text, one line per job.
std::string describe(const controller::JobBook& book) {
  constexpr std::array<const char*, controller::kNumJobStages> kStages = {
      "held", "depends", "waiting", "starting", "running", "stopping", "done", "suspended"};
  std::string out;
  for (const auto& [id, job] : book.jobs) {
    std::string gpus;
    const auto run = book.runs.find({.job = id, .run = job.runs});
    if (run != book.runs.end()) {
      for (const GpuId gpu : run->second.gpus) gpus += fmt::format(" {}", gpu.value);
    }
    out += fmt::format("job {} {} {} runs {} epoch {} gpus{}\n", job::job_number(id), job.spec.name,
                       kStages[static_cast<size_t>(job.stage)], job.runs, job.progress.epoch, gpus);
  }
  return out;
}

std::string describe(const RunUsage& usage) {
  return fmt::format("cpu {} mem {} gpu mem {} util {} memory {} dram {} fu {} energy {}",
                     usage.cpu_s, usage.mem_bytes_max, usage.gpu_mem_bytes_max, usage.gpu_util_pct,
                     usage.memory_busy_pct, usage.dram_util_pct, usage.fu_util_pct, usage.energy_j);
}

/// The reports of runs as text: one line per job, run and rank.
std::string describe_reports(const controller::JobBook& book) {
  std::string out;
  for (const auto& [id, job] : book.jobs) {
    const auto& said = job.progress;
    out += fmt::format("job {} {}\n", job::job_number(id), describe(job.usage));
    out +=
        fmt::format("  epoch {} of {} step {} of {} speed {} loss {} busy {} stall {} saved {}\n",
                    said.epoch, said.epochs, said.step, said.steps, said.samples_per_s, said.loss,
                    said.busy_s, said.input_stall_pct, said.checkpointed);
    for (const controller::PastRun& run : job.past) {
      out += fmt::format("  run {} {} steps {} in {} epochs {} in {}\n", run.run,
                         describe(run.usage), run.pace.steps.done, run.pace.steps.over_s,
                         run.pace.epochs.done, run.pace.epochs.over_s);
      for (const RankTimes& rank : run.ranks) {
        out += fmt::format("    rank {} of {} steps {} busy {} wait {} data {}\n", rank.rank,
                           rank.ranks, rank.steps, rank.busy_s, rank.wait_s, rank.data_s);
      }
    }
  }
  return out;
}

std::string read_file(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

constexpr TimeNs kBegin = 1'700'000'000 * base::kSecond;
const job::Owner kAnn{.uid = 1001, .gid = 1001, .user = "ann"};
const controller::Caller kAnOperator{.uid = 0, .user = "root", .is_operator = true};

job::JobSpec spec(std::string name, int32_t num_gpus) {
  return {.name = std::move(name), .owner = kAnn, .num_gpus = num_gpus, .payload = "p"};
}

/// Jobs of every stage before the snapshot, and more after it.
void write_sample(const fs::path& folder) {
  auto journal = journal::open_journal(folder / "journal", {.build = "sample"});
  ASSERT_TRUE(journal) << journal.error().text();
  PatientEngine engine;
  CommitCycle cycle(two_nodes("easy-backfill+pal"), *journal->log, engine);
  TimeNs now = kBegin;
  const auto turn = [&](std::vector<controller::Input> inputs) {
    now += base::kSecond;
    for (const auto& answer : cycle.run(std::move(inputs), now)) {
      ASSERT_TRUE(answer) << answer.error().text();
    }
  };
  job::JobSpec long_one = spec("long", 4);
  long_one.walltime_limit_ns = 86'400 * base::kSecond;
  long_one.model = "resnet50";
  long_one.training.epochs = 90;
  job::JobSpec stopped = spec("stopped", 2);
  stopped.preemptible = true;
  stopped.account = "physics";
  job::JobSpec held = spec("held", 1);
  held.held = true;
  turn({controller::Submit{.jobs = {long_one}}, controller::Submit{.jobs = {spec("done", 2)}},
        controller::Submit{.jobs = {stopped}}, controller::Submit{.jobs = {held}},
        controller::Submit{.jobs = {spec("wide", 8)}}});
  turn({});
  engine.report(full_progress({.job = JobId(1U), .run = 1}));
  turn({});
  engine.report(full_end({.job = JobId(1U), .run = 1}, 0));
  turn({});
  cycle.accounted(JobId(1U), now);
  job::JobSpec after = spec("after", 1);
  after.dependencies = {{.kind = job::DependencyKind::AfterOk, .job = JobId(0U)}};
  turn({controller::Submit{.jobs = {after}},
        controller::Drain{.node = NodeId(1U), .from_ns = now, .reason = "fan"}});
  ASSERT_TRUE(cycle.compact());
  turn({controller::EngineReport{{.kind = ReportKind::Progress,
                                  .run = {.job = JobId(0U), .run = 1},
                                  .progress = {.epoch = 2.5, .epochs = 90, .step = 12'345}}},
        controller::Resume{NodeId(1U)}, controller::Requeue{.job = JobId(2U), .by = kAnOperator}});
  turn({});
  job::JobSpec task = spec("array", 1);
  task.array_task = 0;
  task.array_limit = 1;
  job::JobSpec next = task;
  next.array_task = 1;
  turn({controller::Submit{.jobs = {task, next}},
        controller::Submit{.jobs = {spec("cancelled", 1)}}});
  turn({controller::Cancel{.job = JobId(8U), .by = kAnOperator}});
  turn({});
  engine.report(full_progress({.job = JobId(0U), .run = 1}));
  turn({});
  std::ofstream(folder / "reports.txt") << describe_reports(cycle.controller().book());
  std::ofstream(folder / "book.txt") << describe(cycle.controller().book());
}

struct Upgrade : testing::TestWithParam<fs::path> {
  /// A copy of the sample, opened by a daemon with this policy.
  void open(const std::string& policy) {
    fs::copy(GetParam() / "journal", folder / "journal", fs::copy_options::recursive);
    auto opened = journal::open_journal(folder / "journal", {.build = "test"});
    ASSERT_TRUE(opened) << opened.error().text();
    journal = std::move(*opened);
    cycle = std::make_unique<CommitCycle>(two_nodes(policy), *journal.log, engine);
    const auto fold = cycle->fold(journal.recovered);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_GT(fold->reproduced + fold->other, 2);
    now = cycle->controller().now_ns();
  }
  const controller::JobBook& book() const { return cycle->controller().book(); }
  void turn(std::vector<controller::Input> inputs = {}) {
    now += base::kSecond;
    for (const auto& answer : cycle->run(std::move(inputs), now)) EXPECT_TRUE(answer);
  }

  base::TestFolder folder;
  journal::OpenJournal journal;
  PatientEngine engine;
  std::unique_ptr<CommitCycle> cycle;
  TimeNs now = 0;
};

TEST_P(Upgrade, EveryJobIsAsItWas) {
  open("easy-backfill+pal");
  if (HasFatalFailure()) return;
  EXPECT_EQ(describe(book()), read_file(GetParam() / "book.txt"));
  EXPECT_THAT(describe(book()), HasSubstr(" running runs 1"));
  EXPECT_THAT(describe(book()), HasSubstr(" waiting runs 0"));
}

TEST_P(Upgrade, WhatRunsReportedIsAsItWas) {
  open("easy-backfill+pal");
  if (HasFatalFailure()) return;
  EXPECT_EQ(describe_reports(book()), read_file(GetParam() / "reports.txt"));
}

// Also under another policy, running jobs keep their GPUs, waiting jobs run later, and no job runs
// twice.
TEST_P(Upgrade, WorkGoesOnUnderAnotherPolicy) {
  for (const char* policy : {"easy-backfill+pal", "goban", "las+pal"}) {
    SCOPED_TRACE(policy);
    fs::remove_all(folder / "journal");
    engine.launched.clear();
    open(policy);
    if (HasFatalFailure()) return;
    EXPECT_EQ(describe(book()), read_file(GetParam() / "book.txt"));
    std::set<RunId> known;
    for (const auto& [id, run] : book().runs) {
      if (run.stage != controller::LiveRun::Stage::Ordered) known.insert(id);
    }
    cycle->resume();
    turn({controller::Release{.job = JobId(3U), .by = kAnOperator}});
    for (int i = 0; i < 100; ++i) {
      for (const auto& [id, run] : book().runs) engine.report(ReportKind::Ended, id);
      turn();
      for (const JobId job : cycle->take_accounts()) cycle->accounted(job, now);
    }
    for (const auto& [id, job] : book().jobs) {
      EXPECT_EQ(job.stage, controller::JobStage::Done) << job.spec.name;
    }
    const std::set<RunId> launched(engine.launched.begin(), engine.launched.end());
    EXPECT_EQ(launched.size(), engine.launched.size()) << "a run was launched twice";
    for (const RunId id : known) {
      EXPECT_FALSE(launched.contains(id)) << "job " << job::job_number(id.job) << " ran already";
    }
  }
}

TEST_P(Upgrade, ASnapshotOfAnotherFormatSaysSo) {
  open("easy-backfill+pal");
  if (HasFatalFailure()) return;
  for (const char* version : {"0", "4"}) {
    journal::Recovered other = journal.recovered;
    const std::string mine = "\"version\":1,\"watched\"";
    const size_t at = other.snapshot.find(mine);
    ASSERT_NE(at, std::string::npos);
    other.snapshot.replace(at + std::string("\"version\":").size(), 1, version);
    CommitCycle again(two_nodes("easy-backfill+pal"), *journal.log, engine);
    const auto fold = again.fold(other);
    ASSERT_FALSE(fold);
    EXPECT_THAT(fold.error().text(), HasSubstr(std::string("has version ") + version));
    EXPECT_THAT(fold.error().text(), HasSubstr("start the release that wrote it"));
  }
}

/// tests/journal/release-*; with GOBAN_WRITE_JOURNAL=FOLDER a sample of this release first.
std::vector<fs::path> samples() {
  const char* folder = std::getenv("GOBAN_WRITE_JOURNAL");
  if (folder != nullptr) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_sample(folder);
    return {folder};
  }
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(GOBAN_SOURCE_DIR "/tests/journal")) {
    if (entry.path().filename().string().starts_with("release-")) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Releases, Upgrade, testing::ValuesIn(samples()), [](const auto& one) {
  std::string name = one.param.filename().string();
  std::ranges::replace_if(name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace goban::live::loop
