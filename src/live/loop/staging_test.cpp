// Jobs that wait for their data, as the controller sees it: what is ordered, what starts, and what
// a restart and a replay make of it.
#include "live/controller/staging.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/controller/staging_checks.hpp"
#include "live/loop/test_scripted_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;
using controller::JobStage;
using controller::JobStaging;

constexpr int64_t kGb = 1'000'000'000;

controller::Site staging_site(int64_t fast_bytes = 100 * kGb) {
  controller::Site site = test_site(1, 4, "fifo+packed");
  site.staging.fast = core::model::StorageTier{
      .name = "nvme", .path = "/fast", .size_bytes = fast_bytes, .gateway = "gw1"};
  site.keep_ended_ns = 10 * kSecond;
  return site;
}

job::JobSpec spec_of(std::vector<std::string> stage_in) {
  job::JobSpec spec;
  spec.owner = {.uid = 1000, .gid = 100, .user = "ann", .realm = {}};
  spec.work_folder = "/home/ann";
  spec.stage_in = std::move(stage_in);
  return spec;
}

struct StagingJobs : testing::Test {
  explicit StagingJobs(int64_t fast_bytes = 100 * kGb)
      : live(std::make_unique<controller::Controller>(staging_site(fast_bytes))) {}

  void apply(controller::Input input) {
    records.push_back(controller::to_text({.at_ns = now, .input = input}));
    live->apply({.at_ns = now, .input = std::move(input)});
    collect();
  }
  void decide() {
    records.push_back(live->decide(now));
    collect();
  }
  void collect() {
    for (controller::Order& order : live->take_orders()) {
      if (const auto* stage = std::get_if<StageOrder>(&order)) stages.push_back(*stage);
      if (const auto* launch = std::get_if<LaunchOrder>(&order)) launches.push_back(*launch);
    }
  }
  JobId submit(job::JobSpec spec) {
    const JobId id = live->next_job();
    const controller::Submit submit{.jobs = {std::move(spec)}};
    EXPECT_TRUE(live->check(submit));
    apply(submit);
    decide();
    return id;
  }
  /// The next order, which must be of this kind.
  StageOrder next(StageTask task) {
    EXPECT_FALSE(stages.empty());
    if (stages.empty()) return {};
    StageOrder order = stages.front();
    stages.erase(stages.begin());
    EXPECT_EQ(order.task, task);
    return order;
  }
  void answer(const StageReport& report) {
    apply(report);
    decide();
  }
  void measured(JobId job, int64_t bytes, std::string version) {
    answer({.task = StageTask::Measure,
            .job = job,
            .is_over = true,
            .found = {{.bytes = bytes, .files = 1, .version = std::move(version)}}});
  }
  void copied(JobId job, int64_t bytes) {
    answer({.task = StageTask::In,
            .job = job,
            .is_over = true,
            .all_bytes = bytes,
            .done_bytes = bytes,
            .copied_bytes = bytes,
            .sha256 = "5a"});
  }
  /// Submitted, measured, copied and started.
  JobId started(const std::string& path, int64_t bytes, const std::string& version) {
    const JobId id = submit(spec_of({path}));
    (void)next(StageTask::Measure);
    measured(id, bytes, version);
    (void)next(StageTask::In);
    copied(id, bytes);
    apply(controller::EngineReport{{.kind = ReportKind::Started, .run = {.job = id, .run = 1}}});
    return id;
  }
  void end(JobId id, int32_t exit_code = 0) {
    apply(controller::EngineReport{
        {.kind = ReportKind::Ended, .run = {.job = id, .run = 1}, .exit_code = exit_code}});
    decide();
  }
  [[nodiscard]] const controller::LiveJob& job(JobId id) const { return *live->book().find(id); }
  [[nodiscard]] std::string words(JobId id) const {
    return controller::data_words(job(id), live->book());
  }

  std::unique_ptr<controller::Controller> live;
  std::vector<std::string> records;
  std::vector<StageOrder> stages;
  std::vector<LaunchOrder> launches;
  TimeNs now = 1'000 * kSecond;
};

TEST_F(StagingJobs, AJobStartsWhenItsDataIsThere) {
  const JobId id = submit(spec_of({"/lustre/images", "words.txt"}));
  EXPECT_EQ(job(id).stage, JobStage::Depends);
  const StageOrder measure = next(StageTask::Measure);
  EXPECT_EQ(measure.owner.uid, 1000U);
  EXPECT_EQ(measure.gateway, "gw1");
  ASSERT_EQ(measure.paths.size(), 2U);
  EXPECT_EQ(measure.paths[0].from, "/lustre/images");
  EXPECT_EQ(measure.paths[1].from, "/home/ann/words.txt");
  EXPECT_NE(words(id).find("it waits for its data"), std::string::npos);
  EXPECT_EQ(controller::blocked_words(job(id)), "waits for its data");
  answer({.task = StageTask::Measure,
          .job = id,
          .is_over = true,
          .found = {{.bytes = 3 * kGb, .files = 9, .version = "ab"},
                    {.bytes = kGb, .files = 1, .version = "cd"}}});
  const StageOrder copy = next(StageTask::In);
  EXPECT_EQ(copy.folder, "/fast/1000");
  EXPECT_EQ(copy.paths[0].to, "/fast/1000/in/ab/images");
  EXPECT_EQ(copy.paths[1].to, "/fast/1000/in/cd/words.txt");
  answer({.task = StageTask::In, .job = id, .all_bytes = 4 * kGb, .done_bytes = kGb});
  EXPECT_EQ(words(id), "it waits for its data: 1 GB of 4 GB are on the fast tier");
  EXPECT_TRUE(launches.empty());
  copied(id, 4 * kGb);
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].staged,
            (std::vector<std::string>{"/fast/1000/in/ab/images", "/fast/1000/in/cd/words.txt"}));
  EXPECT_EQ(launches[0].fast_folder, "/fast/1000/jobs/1-1000");
  EXPECT_TRUE(stages.empty());
  EXPECT_EQ(words(id), "");
}

TEST_F(StagingJobs, JobsWithoutDataDoNotWait) {
  const JobId id = submit(spec_of({}));
  EXPECT_EQ(job(id).stage, JobStage::Starting);
  EXPECT_TRUE(stages.empty());
  EXPECT_EQ(job(id).staging, JobStaging{});
  EXPECT_EQ(live->snapshot().find("\"staging\""), std::string::npos);
  EXPECT_EQ(live->snapshot().find("\"staged\""), std::string::npos);
}

TEST_F(StagingJobs, TheLeastRecentlyUsedLeavesAndNeverDataInUse) {
  const JobId first = started("/lustre/a", 40 * kGb, "aa");
  const JobId second = started("/lustre/b", 40 * kGb, "bb");
  end(first);
  (void)next(StageTask::Out);  // its folder goes
  now += kSecond;
  const JobId third = submit(spec_of({"/lustre/c"}));
  (void)next(StageTask::Measure);
  measured(third, 50 * kGb, "cc");
  const StageOrder removal = next(StageTask::Remove);
  EXPECT_EQ(removal.paths[0].to, "/fast/1000/in/aa/a");
  EXPECT_EQ(removal.owner.uid, 1000U);
  EXPECT_TRUE(stages.empty()) << "nothing is copied before there is room";
  answer({.task = StageTask::Remove, .key = "/fast/1000/in/aa/a", .is_over = true});
  (void)next(StageTask::In);
  copied(third, 50 * kGb);
  EXPECT_EQ(launches.size(), 3U);

  // 40 GB of a running job and 50 GB of a starting one stay.
  const JobId fourth = submit(spec_of({"/lustre/d"}));
  (void)next(StageTask::Measure);
  measured(fourth, 20 * kGb, "dd");
  EXPECT_TRUE(stages.empty());
  EXPECT_EQ(job(fourth).staging.stage, JobStaging::Stage::NeedsRoom);
  EXPECT_NE(words(fourth).find("has no room for 20 GB; it keeps the data of jobs 2, 3"),
            std::string::npos)
      << words(fourth);
  end(second);
  EXPECT_EQ(next(StageTask::Out).paths.size(), 0U);
  EXPECT_EQ(next(StageTask::Remove).paths[0].to, "/fast/1000/in/bb/b");
}

TEST_F(StagingJobs, WhatIsThereIsNotMeasuredAsMissing) {
  const JobId first = started("/lustre/a", 60 * kGb, "aa");
  const JobId second = submit(spec_of({"/lustre/a"}));
  (void)next(StageTask::Measure);
  measured(second, 60 * kGb, "aa");
  (void)next(StageTask::In);  // which finds everything there
  answer({.task = StageTask::In,
          .job = second,
          .is_over = true,
          .all_bytes = 60 * kGb,
          .done_bytes = 60 * kGb});
  EXPECT_EQ(launches.size(), 2U);
  EXPECT_EQ(job(first).staging.copied_bytes, 60 * kGb);
  EXPECT_EQ(job(second).staging.copied_bytes, 0);
}

TEST_F(StagingJobs, EqualSourcesAreMeasuredOnce) {
  const JobId first = submit(spec_of({"/lustre/a"}));
  const JobId second = submit(spec_of({"/lustre/a"}));
  EXPECT_EQ(stages.size(), 1U);
  (void)next(StageTask::Measure);
  measured(first, kGb, "aa");
  EXPECT_EQ(job(second).staging.stage, JobStaging::Stage::Copying);
  EXPECT_EQ(next(StageTask::In).job, first);
  EXPECT_TRUE(stages.empty()) << "one process copies it";
  copied(first, kGb);
  EXPECT_EQ(next(StageTask::In).job, second) << "which finds it there";
}

TEST_F(StagingJobs, AFinalFailureEndsTheJobAndATransientOneIsTriedAgain) {
  const JobId missing = submit(spec_of({"/lustre/none"}));
  (void)next(StageTask::Measure);
  answer({.task = StageTask::Measure,
          .job = missing,
          .is_over = true,
          .problem = "cannot read /lustre/none: No such file or directory",
          .is_final = true});
  EXPECT_EQ(job(missing).result, controller::JobResult::NeverRuns);
  EXPECT_EQ(job(missing).detail,
            "its data cannot be staged: cannot read /lustre/none: No such file or directory");
  EXPECT_TRUE(stages.empty());

  const JobId changing = submit(spec_of({"/lustre/a"}));
  for (const int wait_s : {10, 20, 40}) {
    (void)next(StageTask::Measure);
    measured(changing, kGb, "aa");
    (void)next(StageTask::In);
    answer({.task = StageTask::In,
            .job = changing,
            .is_over = true,
            .problem = "/lustre/a changed while it was copied"});
    EXPECT_EQ(words(changing),
              "it waits for its data: /lustre/a changed while it was copied; it is tried again");
    EXPECT_EQ(live->wake_ns(), now + wait_s * kSecond);
    now += wait_s * kSecond - 1;
    decide();
    EXPECT_TRUE(stages.empty());
    now += 1;
    decide();
  }
  EXPECT_EQ(job(changing).stage, JobStage::Depends);
  (void)next(StageTask::Measure);
}

TEST_F(StagingJobs, WhatTheTierNeverHoldsEndsTheJob) {
  const JobId id = submit(spec_of({"/lustre/a"}));
  (void)next(StageTask::Measure);
  measured(id, 101 * kGb, "aa");
  EXPECT_EQ(job(id).result, controller::JobResult::NeverRuns);
  EXPECT_NE(job(id).detail.find("the fast tier nvme holds 100"), std::string::npos)
      << job(id).detail;
}

TEST_F(StagingJobs, ACancelledJobWithdrawsItsCopyAndFreesItsRoom) {
  const JobId first = submit(spec_of({"/lustre/a"}));
  (void)next(StageTask::Measure);
  measured(first, 90 * kGb, "aa");
  (void)next(StageTask::In);
  const JobId second = submit(spec_of({"/lustre/b"}));
  (void)next(StageTask::Measure);
  measured(second, 90 * kGb, "bb");
  EXPECT_TRUE(stages.empty());
  apply(controller::Cancel{.job = first, .by = {.is_operator = true}});
  decide();
  EXPECT_TRUE(next(StageTask::In).withdrawn);
  const StageOrder clean = next(StageTask::Out);
  EXPECT_TRUE(clean.paths.empty()) << "the folder of the job goes";
  EXPECT_EQ(clean.job_folder, "/fast/1000/jobs/1-1000");
  (void)next(StageTask::Remove);
  // The folder of a job that was only measured was never made.
  apply(controller::Cancel{.job = second, .by = {.is_operator = true}});
  decide();
  EXPECT_TRUE(stages.empty());
}

/// A job that holds all GPUs, and one whose data is ready and that waits for them.
struct DataOfWaitingJobs : StagingJobs {
  DataOfWaitingJobs() {
    job::JobSpec all = spec_of({});
    all.num_gpus = 4;
    runs = submit(all);
    apply(controller::EngineReport{{.kind = ReportKind::Started, .run = {.job = runs, .run = 1}}});
    job::JobSpec one = spec_of({"/lustre/a"});
    one.num_gpus = 4;
    waits = submit(one);
    (void)next(StageTask::Measure);
    measured(waits, kGb, "aa");
    (void)next(StageTask::In);
    copied(waits, kGb);
    EXPECT_EQ(job(waits).stage, JobStage::Waiting);
    now += 3600 * kSecond;
    end(runs);
    launches.clear();
  }
  void looked(std::string problem) {
    answer({.task = StageTask::Look, .job = waits, .is_over = true, .problem = std::move(problem)});
  }
  JobId runs{};
  JobId waits{};
};

TEST_F(DataOfWaitingJobs, IsLookedForBeforeTheyStart) {
  const StageOrder look = next(StageTask::Look);
  EXPECT_EQ(look.paths, (std::vector<StagePath>{{.from = {}, .to = "/fast/1000/in/aa/a"}}));
  decide();
  EXPECT_TRUE(launches.empty()) << "nobody has seen it yet";
  EXPECT_TRUE(stages.empty()) << "one look is enough";
  looked("");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].run.job, waits);
  EXPECT_TRUE(stages.empty());
}

TEST_F(DataOfWaitingJobs, IsStagedAgainIfSomebodyRemovedIt) {
  (void)next(StageTask::Look);
  looked("/fast/1000/in/aa/a is no longer on the fast tier");
  EXPECT_TRUE(launches.empty());
  EXPECT_EQ(job(waits).stage, JobStage::Depends) << "it holds no GPUs meanwhile";
  EXPECT_FALSE(live->core().state().is_active(waits));
  EXPECT_NE(words(waits).find("a is no longer on the fast tier"), std::string::npos);
  EXPECT_EQ(controller::blocked_words(job(waits)), "waits for its data");
  (void)next(StageTask::Measure);
  measured(waits, kGb, "aa");
  (void)next(StageTask::In);
  EXPECT_TRUE(launches.empty());
  copied(waits, kGb);
  ASSERT_EQ(launches.size(), 1U) << "what was just copied is not looked for";
  EXPECT_EQ(launches[0].run, (RunId{.job = waits, .run = 1}));
}

TEST_F(DataOfWaitingJobs, IsLookedForAgainAfterARestart) {
  controller::Controller again(staging_site());
  ASSERT_TRUE(again.restore(live->snapshot()));
  std::vector<StageOrder> repeated;
  for (controller::Order& order : again.orders_to_repeat()) {
    if (auto* stage = std::get_if<StageOrder>(&order)) repeated.push_back(std::move(*stage));
  }
  ASSERT_EQ(repeated.size(), 1U);
  EXPECT_EQ(repeated[0], next(StageTask::Look));
  again.apply(
      {.at_ns = now, .input = StageReport{.task = StageTask::Look, .job = waits, .is_over = true}});
  (void)again.decide(now);
  std::vector<controller::Order> orders = again.take_orders();
  EXPECT_TRUE(std::ranges::any_of(orders, [](const controller::Order& order) {
    return std::holds_alternative<LaunchOrder>(order);
  }));
}

TEST_F(DataOfWaitingJobs, IsNotLookedForAfterACancel) {
  (void)next(StageTask::Look);
  apply(controller::Cancel{.job = waits, .by = {.is_operator = true}});
  decide();
  EXPECT_TRUE(next(StageTask::Look).withdrawn);
  EXPECT_TRUE(next(StageTask::Out).paths.empty());
  looked("/fast/1000/in/aa/a is no longer on the fast tier");
  EXPECT_TRUE(stages.empty());
  EXPECT_EQ(job(waits).result, controller::JobResult::Cancelled);
}

TEST_F(StagingJobs, ResultsForOnePlaceAreCopiedOneAfterTheOther) {
  std::vector<JobId> jobs;
  for (const char* to : {"/home/ann/out", "/home/ann/out/part", "/home/ann/other"}) {
    job::JobSpec spec = spec_of({});
    spec.stage_out = {{.from = "results", .to = to}};
    const JobId id = submit(spec);
    (void)next(StageTask::In);
    copied(id, 0);
    apply(controller::EngineReport{{.kind = ReportKind::Started, .run = {.job = id, .run = 1}}});
    jobs.push_back(id);
  }
  for (const JobId id : jobs) end(id);
  EXPECT_EQ(next(StageTask::Out).job, jobs[0]);
  EXPECT_EQ(next(StageTask::Out).job, jobs[2]) << "the second one's place lies in the first one's";
  EXPECT_TRUE(stages.empty());
  answer({.task = StageTask::Out, .job = jobs[0], .is_over = true, .sha256 = "77"});
  EXPECT_TRUE(next(StageTask::Out).paths.empty());
  EXPECT_EQ(next(StageTask::Out).job, jobs[1]);
}

TEST_F(StagingJobs, ResultsCanBeGivenUp) {
  job::JobSpec spec = spec_of({});
  spec.stage_out = {{.from = "results", .to = "out"}};
  const JobId id = submit(spec);
  (void)next(StageTask::In);
  copied(id, 0);
  const controller::Caller ann{.uid = 1000, .user = "ann"};
  const controller::Cancel giving_up{.job = id, .by = ann, .results = true};
  EXPECT_FALSE(live->check(giving_up)) << "it has not ended";
  apply(controller::EngineReport{{.kind = ReportKind::Started, .run = {.job = id, .run = 1}}});
  job::JobSpec after = spec_of({});
  after.dependencies = {{.kind = job::DependencyKind::AfterOk, .job = id}};
  const JobId dependent = submit(after);
  end(id);
  (void)next(StageTask::Out);
  answer({.task = StageTask::Out,
          .job = id,
          .is_over = true,
          .problem = "cannot read /fast/1000/jobs/1-1000/results: No such file or directory",
          .is_final = true});
  now += 10 * kSecond;
  decide();
  (void)next(StageTask::Out);
  EXPECT_FALSE(live->check(controller::Cancel{.job = id, .by = {.uid = 7}, .results = true}));
  EXPECT_FALSE(live->check(controller::Cancel{.job = id, .by = ann})) << "the job is over";
  ASSERT_TRUE(live->check(giving_up));
  apply(giving_up);
  decide();
  EXPECT_TRUE(next(StageTask::Out).withdrawn);
  const StageOrder last = next(StageTask::Out);
  EXPECT_TRUE(last.gives_up);
  EXPECT_EQ(last.paths.size(), 1U);
  EXPECT_EQ(job(id).result, controller::JobResult::Completed);
  EXPECT_EQ(job(id).staging.stage, JobStaging::Stage::OutDone);
  EXPECT_TRUE(job(id).staging.gave_up);
  EXPECT_EQ(job(id).staging.problem,
            "given up by ann: cannot read /fast/1000/jobs/1-1000/results: No such file or "
            "directory");
  EXPECT_EQ(job(dependent).stage, JobStage::Starting);
  EXPECT_FALSE(live->check(giving_up)) << "nothing is left to give up";
  controller::Controller again(staging_site());
  ASSERT_TRUE(again.restore(live->snapshot()));
  EXPECT_EQ(again.snapshot(), live->snapshot());
  EXPECT_TRUE(again.book().find(id)->staging.gave_up);
  const auto read =
      controller::parse_input(controller::to_text({.at_ns = now, .input = giving_up}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::get<controller::Cancel>(read->input).results);
}

TEST_F(StagingJobs, ResultsAreCopiedAfterASuccessAndTriedUntilTheyAre) {
  job::JobSpec spec = spec_of({});
  spec.stage_out = {{.from = "results", .to = "out-%j"}};
  const JobId id = submit(spec);
  EXPECT_EQ(next(StageTask::In).paths.size(), 0U) << "it makes the folder";
  copied(id, 0);
  apply(controller::EngineReport{{.kind = ReportKind::Started, .run = {.job = id, .run = 1}}});
  job::JobSpec after = spec_of({});
  after.dependencies = {{.kind = job::DependencyKind::AfterOk, .job = id}};
  const JobId dependent = submit(after);
  end(id);
  const StageOrder out = next(StageTask::Out);
  EXPECT_EQ(out.paths[0].from, "/fast/1000/jobs/1-1000/results");
  EXPECT_EQ(out.paths[0].to, "/home/ann/out-1");
  apply(controller::Accounted{id});
  answer({.task = StageTask::Out,
          .job = id,
          .is_over = true,
          .problem = "cannot write /home/ann/out-1: Disk quota exceeded",
          .is_final = true});
  EXPECT_EQ(job(id).staging.retry_ns, now + 10 * kSecond) << "however final it seems";
  EXPECT_EQ(job(id).result, controller::JobResult::Completed);
  EXPECT_NE(controller::result_words(job(id)).find("Disk quota exceeded"), std::string::npos);
  EXPECT_EQ(job(dependent).stage, JobStage::Depends) << "the results are not there";
  now += 100 * kSecond;  // longer than ended jobs are kept
  decide();
  (void)next(StageTask::Out);
  answer({.task = StageTask::Out,
          .job = id,
          .is_over = true,
          .all_bytes = kGb,
          .done_bytes = kGb,
          .sha256 = "77"});
  EXPECT_EQ(job(id).staging.stage, JobStaging::Stage::OutDone);
  EXPECT_EQ(job(dependent).stage, JobStage::Starting);
  EXPECT_TRUE(next(StageTask::Out).paths.empty()) << "only then its folder goes";
}

TEST_F(StagingJobs, ResultsOfAFailureAreCopiedIfAsked) {
  for (const bool always : {false, true}) {
    job::JobSpec spec = spec_of({});
    spec.stage_out = {{.from = "results", .to = "/home/ann/out"}};
    spec.stage_out_always = always;
    const JobId id = submit(spec);
    (void)next(StageTask::In);
    copied(id, 0);
    apply(controller::EngineReport{{.kind = ReportKind::Started, .run = {.job = id, .run = 1}}});
    end(id, 1);
    EXPECT_EQ(job(id).result, controller::JobResult::Failed);
    EXPECT_EQ(next(StageTask::Out).paths.size(), always ? 1U : 0U);
  }
}

TEST_F(StagingJobs, ARestartGoesOnWhereItWas) {
  const JobId ready = started("/lustre/a", 40 * kGb, "aa");
  const JobId copying = submit(spec_of({"/lustre/b"}));
  (void)next(StageTask::Measure);
  measured(copying, 40 * kGb, "bb");
  (void)next(StageTask::In);
  const JobId waiting = submit(spec_of({"/lustre/c"}));
  (void)next(StageTask::Measure);
  measured(waiting, 40 * kGb, "cc");
  for (const bool by_snapshot : {true, false}) {
    controller::Controller again(staging_site());
    if (by_snapshot) {
      ASSERT_TRUE(again.restore(live->snapshot()));
    } else {
      for (const std::string& record : records) {
        const auto input = controller::parse_input(record);
        if (input) {
          again.apply(*input);
        } else {
          EXPECT_EQ(again.decide(nlohmann::json::parse(record)["decided"]["at"].get<TimeNs>()),
                    record);
        }
      }
      (void)again.take_orders();
    }
    EXPECT_EQ(again.snapshot(), live->snapshot());
    std::vector<StageOrder> repeated;
    for (controller::Order& order : again.orders_to_repeat()) {
      if (auto* stage = std::get_if<StageOrder>(&order)) repeated.push_back(std::move(*stage));
    }
    ASSERT_EQ(repeated.size(), 1U);
    EXPECT_EQ(repeated[0].task, StageTask::In);
    EXPECT_EQ(repeated[0].job, copying);
    const auto launched = again.launched_runs();
    ASSERT_EQ(launched.size(), 1U);
    EXPECT_EQ(launched[0].staged, std::vector<std::string>{"/fast/1000/in/aa/a"});
    // The data of the running job still is in use.
    again.apply(
        {.at_ns = now,
         .input = StageReport{
             .task = StageTask::In, .job = copying, .is_over = true, .all_bytes = 40 * kGb}});
    (void)again.decide(now);
    EXPECT_EQ(again.book().find(waiting)->staging.stage, JobStaging::Stage::NeedsRoom);
    EXPECT_EQ(again.book().find(copying)->stage, JobStage::Starting);
  }
  EXPECT_EQ(job(ready).stage, JobStage::Running);
}

TEST_F(StagingJobs, ALogOfOtherRulesIsFoldedByThem) {
  // The data is tried again after 1 s, and arrives before the 10 s of the new rules.
  controller::Site before = staging_site();
  before.staging.retry_ns = kSecond;
  live = std::make_unique<controller::Controller>(before);
  const JobId id = submit(spec_of({"/lustre/a"}));
  (void)next(StageTask::Measure);
  answer({.task = StageTask::Measure, .job = id, .is_over = true, .problem = "busy"});
  now += 2 * kSecond;
  decide();
  (void)next(StageTask::Measure);
  measured(id, 40 * kGb, "aa");
  (void)next(StageTask::In);
  copied(id, 40 * kGb);
  ASSERT_EQ(launches.size(), 1U);
  controller::Site after = staging_site(60 * kGb);
  after.staging.retry_ns = 10 * kSecond;
  MemoryLog log;
  ScriptedEngine engine;
  journal::Recovered recovered;
  recovered.records = records;
  CommitCycle cycle(after, log, engine);
  const auto fold = cycle.fold(recovered, before.staging);
  ASSERT_TRUE(fold) << fold.error().text();
  EXPECT_EQ(fold->first_other, -1);
  EXPECT_EQ(cycle.controller().book().find(id)->stage, JobStage::Starting);
  EXPECT_EQ(cycle.controller().site().staging.retry_ns, 10 * kSecond);
  EXPECT_EQ(cycle.controller().site().staging.fast->size_bytes, 60 * kGb);
}

TEST_F(StagingJobs, WhatCannotBeStagedIsRefused) {
  const auto problem = [&](const job::JobSpec& spec, const controller::Site& site) {
    const auto status = controller::check_staging(spec, site);
    return status ? "" : status.error().place.field + ": " + status.error().message;
  };
  EXPECT_EQ(problem(spec_of({"/lustre/a"}), test_site(1, 1, "fifo+packed")),
            "stage_in: this site has no fast storage tier");
  const controller::Site site = staging_site();
  EXPECT_EQ(problem(spec_of({"/lustre/a"}), site), "");
  EXPECT_NE(problem(spec_of({"/lustre/../etc"}), site).find("stage_in: the path contains .."),
            std::string::npos);
  EXPECT_NE(problem(spec_of({std::string("/a\0b", 4)}), site).find("NUL"), std::string::npos);
  job::JobSpec homeless = spec_of({"a"});
  homeless.work_folder.clear();
  EXPECT_NE(problem(homeless, site).find("relative"), std::string::npos);
  job::JobSpec foreign = spec_of({"/lustre/a"});
  foreign.owner.realm = "kubernetes";
  EXPECT_NE(problem(foreign, site).find("unknown on this machine"), std::string::npos);
}

TEST_F(StagingJobs, ResultsThatWouldReplaceEachOtherAreRefused) {
  const controller::Site site = staging_site();
  const auto problem = [&](std::vector<job::StageOut> out, int32_t task = -1) {
    job::JobSpec spec = spec_of({"/lustre/a"});
    spec.stage_out = std::move(out);
    spec.array_task = task;
    const auto status = controller::check_staging(spec, site);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(problem({{"a", "slow/a-%j"}, {"b", "slow/b-%j"}}), "");
  EXPECT_NE(problem({{"a", "slow/same"}, {"b", "/home/ann/slow/./same/"}}).find("same place"),
            std::string::npos);
  EXPECT_NE(problem({{"a", "slow/out/a"}, {"b", "slow/out"}}).find("in the other"),
            std::string::npos);
  EXPECT_NE(problem({{"a", "slow/out"}}, 2).find("needs %a or %j"), std::string::npos);
  EXPECT_EQ(problem({{"a", "slow/out-%a"}}, 2), "");
  EXPECT_EQ(problem({{"a", "slow/out-%j"}}, 2), "");
  EXPECT_NE(problem({{".", "slow/all"}}).find("links to the staged data"), std::string::npos);
}

TEST_F(StagingJobs, JobsOfOtherRealmsAreStagedByTheUserOfTheSite) {
  controller::Site site = staging_site();
  site.staging.others = job::Owner{.uid = 77, .gid = 7, .user = "stage", .realm = {}};
  live = std::make_unique<controller::Controller>(std::move(site));
  job::JobSpec spec = spec_of({"/lustre/a"});
  spec.owner = {.uid = 0, .gid = 0, .user = "ml", .realm = "kubernetes"};
  (void)submit(spec);
  const StageOrder order = next(StageTask::Measure);
  EXPECT_EQ(order.owner.uid, 77U);
  EXPECT_EQ(order.folder, "/fast/77");
}

}  // namespace
}  // namespace goban::live::loop
