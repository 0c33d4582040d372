// Run times that the live scheduler predicts from its own past, through replays and restarts.
#include <gmock/gmock.h>

#include "live/loop/commit_cycle.hpp"
#include "live/loop/test_log.hpp"
#include "live/loop/test_site.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;
using testing::HasSubstr;

constexpr TimeNs kBegin = 1'700'000'000 * kSecond;
constexpr TimeNs kShort_ns = 100 * kSecond;
constexpr TimeNs kLong_ns = 10'000 * kSecond;
const job::Owner kQuick{.uid = 1, .gid = 1, .user = "quick"};
const job::Owner kSlow{.uid = 2, .gid = 2, .user = "slow"};

/// Starts what is ordered; runs end as their user's do.
class UsersEngine final : public Engine {
 public:
  void launch(const LaunchOrder& order) override {
    started.push_back(order.run.job);
    events_.push_back({.kind = ReportKind::Started, .run = order.run});
    ends_.emplace_back(now + (order.spec.owner.user == "quick" ? kShort_ns : kLong_ns), order.run);
  }
  void stop(RunId, StopReason) override {}
  void resume(const LaunchOrder& order) override {
    events_.push_back({.kind = ReportKind::Started, .run = order.run});
  }
  void forget(JobId, const std::string&) override {}
  std::vector<EngineEvent> take_events() override {
    std::erase_if(ends_, [this](const auto& end) {
      if (end.first > now) return false;
      events_.push_back({.kind = ReportKind::Ended, .run = end.second, .exit_code = 0});
      return true;
    });
    std::vector<EngineEvent> out;
    for (Report& each : std::exchange(events_, {})) out.emplace_back(std::move(each));
    return out;
  }

  void says(JobId job, ProgressReport progress) {
    events_.push_back(
        {.kind = ReportKind::Progress, .run = {.job = job, .run = 1}, .progress = progress});
  }

  TimeNs now = kBegin;
  std::vector<JobId> started;

 private:
  std::vector<Report> events_;
  std::vector<std::pair<TimeNs, RunId>> ends_;
};

struct LiveForecasts : testing::Test {
  static job::JobSpec spec(const job::Owner& owner, int32_t num_gpus = 1) {
    return {.name = "train_17",
            .owner = owner,
            .num_gpus = num_gpus,
            .walltime_limit_ns = 86'400 * kSecond,
            .payload = "p"};
  }
  JobId submit(const job::JobSpec& one) {
    const auto answers = cycle->run({controller::Submit{.jobs = {one}}}, engine.now);
    EXPECT_TRUE(answers.front());
    EXPECT_TRUE(cycle->run({}, engine.now).empty()) << "its start is reported";
    return answers.front()->first_job;
  }
  /// Ends are seen after kShort_ns and at the end.
  void pass(TimeNs time) {
    const TimeNs first = std::min(time, kShort_ns);
    for (const TimeNs step : {first, time - first}) {
      engine.now += step;
      EXPECT_TRUE(cycle->run({}, engine.now).empty());
      EXPECT_TRUE(cycle->run({}, engine.now).empty());
    }
  }
  /// Enough runs of both users for predictions.
  void teach_by_running() {
    for (int i = 0; i < 15; ++i) {
      submit(spec(kQuick));
      submit(spec(kSlow));
      pass(kLong_ns);
    }
  }
  const controller::LiveJob& job(JobId id) const { return cycle->controller().book().jobs.at(id); }
  /// The daemon is killed, and another one reads what it wrote.
  CommitCycle::Fold restart() {
    log.crash();
    cycle = std::make_unique<CommitCycle>(test_site(1, 4, "goban"), log, engine);
    const auto fold = cycle->fold(log.safe);
    EXPECT_TRUE(fold) << fold.error().text();
    return fold ? *fold : CommitCycle::Fold{};
  }
  std::string snapshot() {
    auto copy = std::make_unique<CommitCycle>(test_site(1, 4, "goban"), nowhere, engine);
    EXPECT_TRUE(copy->fold(log.safe));
    EXPECT_TRUE(copy->compact());
    return nowhere.safe.snapshot;
  }

  MemoryLog log;
  MemoryLog nowhere;
  UsersEngine engine;
  std::unique_ptr<CommitCycle> cycle =
      std::make_unique<CommitCycle>(test_site(1, 4, "goban"), log, engine);
};

TEST_F(LiveForecasts, ComeFromRunsThatEndedHere) {
  const JobId first = submit(spec(kQuick));
  EXPECT_FALSE(job(first).predicted.run.known());
  teach_by_running();
  const JobId quick = submit(spec(kQuick));
  const JobId slow = submit(spec(kSlow));
  EXPECT_EQ(job(quick).predicted.basis, core::knowledge::DurationBasis::UserNameSize);
  EXPECT_LT(job(quick).predicted.run.p90_ns, 3 * kShort_ns);
  EXPECT_GT(job(slow).predicted.run.p10_ns, kLong_ns / 3);
  EXPECT_THAT(log.safe.records,
              testing::Contains(HasSubstr(R"("predicted":[{"from":"user_name_size")")));
}

TEST_F(LiveForecasts, OrderTheQueueOfGoban) {
  teach_by_running();
  pass(kLong_ns);
  submit(spec(kSlow, 4));  // all GPUs
  const JobId promised = submit(spec(kSlow, 4));
  const JobId slow = submit(spec(kSlow, 4));
  const JobId quick = submit(spec(kQuick, 4));
  pass(kLong_ns);
  EXPECT_EQ(engine.started.back(), promised) << "promises hold";
  pass(kLong_ns);
  EXPECT_EQ(engine.started.back(), quick);
  pass(kLong_ns);
  EXPECT_EQ(engine.started.back(), slow);
}

TEST_F(LiveForecasts, TellScriptsOfOneNameApart) {
  log.keeps_records = true;
  const auto with_script = [](const job::Owner& owner, uint32_t hash) {
    job::JobSpec out = spec(owner);
    out.script_hash = hash;
    return out;
  };
  for (int i = 0; i < 25; ++i) {
    submit(with_script(kQuick, 7));
    pass(kShort_ns);
  }
  EXPECT_EQ(job(submit(with_script(kQuick, 7))).predicted.basis,
            core::knowledge::DurationBasis::UserScriptSize);
  const JobId edited = submit(with_script(kQuick, 8));
  EXPECT_EQ(job(edited).predicted.basis, core::knowledge::DurationBasis::UserNameSize);
  const std::string before = snapshot();
  ASSERT_TRUE(cycle->compact());
  restart();
  EXPECT_EQ(snapshot(), before);
  EXPECT_EQ(job(submit(with_script(kQuick, 7))).predicted.basis,
            core::knowledge::DurationBasis::UserScriptSize);
}

TEST_F(LiveForecasts, ProgressSaysHowLongARunningJobGoesOn) {
  log.keeps_records = true;
  teach_by_running();
  const JobId slow = submit(spec(kSlow));
  const auto in_core = [&](JobId id) {
    const auto& state = cycle->controller().core().state();
    return state.job(state.slot_of(id)).forecast;
  };
  EXPECT_EQ(in_core(slow), job(slow).predicted.run);
  engine.says(slow, {.step = 1, .steps = 100});
  pass(kShort_ns);
  EXPECT_FALSE(job(slow).expected.known()) << "the first steps say nothing";
  engine.says(slow, {.step = 50, .steps = 100});
  pass(kShort_ns);
  const auto half = job(slow).expected;
  EXPECT_NEAR(base::to_seconds(half.p50_ns), 400, 1);
  EXPECT_EQ(in_core(slow), half);
  engine.says(slow, {.step = 74});  // about as expected: nothing is noted
  const size_t lines = log.safe.records.size();
  pass(kShort_ns);
  EXPECT_EQ(job(slow).expected, half);
  EXPECT_THAT(log.safe.records[lines], testing::Not(HasSubstr("expected")));
  const std::string before = snapshot();
  const CommitCycle::Fold fold = restart();
  EXPECT_EQ(fold.other, 0);
  EXPECT_EQ(snapshot(), before);
  EXPECT_EQ(in_core(slow), half);
  // Journals of releases that made nothing of progress are read, and nothing is made of it now.
  for (std::string& record : log.safe.records) {
    const size_t at = record.find(R"("expected":{)");
    if (at != std::string::npos) record.erase(at, record.find("},", at) + 2 - at);
  }
  restart();
  EXPECT_FALSE(job(slow).expected.known());
  EXPECT_EQ(job(slow).progress.step, 74);
}

TEST_F(LiveForecasts, ReplaysAreEqual) {
  log.keeps_records = true;
  teach_by_running();
  submit(spec(kQuick, 4));
  submit(spec(kSlow, 4));
  submit(spec(kQuick, 4));
  pass(kShort_ns);
  const std::string before = snapshot();
  const CommitCycle::Fold fold = restart();
  EXPECT_EQ(fold.other, 0);
  EXPECT_GT(fold.reproduced, 30);
  EXPECT_EQ(snapshot(), before);
}

TEST_F(LiveForecasts, ARestartPredictsAsIfThereHadBeenNone) {
  log.keeps_records = true;
  teach_by_running();
  const JobId open = submit(spec(kSlow));
  const auto now_and_then = [&] {
    pass(kLong_ns);
    const job::PredictedRun quick = job(submit(spec(kQuick))).predicted;
    pass(kLong_ns);
    return std::pair(quick, job(submit(spec(kSlow))).predicted);
  };
  const std::vector<std::string> records = log.safe.records;
  const TimeNs then = engine.now;
  const auto without = now_and_then();
  EXPECT_EQ(job(open).stage, controller::JobStage::Done);
  // The same from the journal, and from a snapshot.
  for (const bool compacts : {false, true}) {
    SCOPED_TRACE(compacts);
    log.safe = {.records = records};
    engine = {};
    engine.now = then;
    restart();
    if (compacts) {
      log.keeps_records = false;
      ASSERT_TRUE(cycle->compact());
      restart();
    }
    for (const auto& [id, run] : cycle->controller().book().runs) {
      engine.launch({.run = id, .spec = job(id.job).spec});
    }
    EXPECT_EQ(now_and_then(), without);
  }
}

TEST_F(LiveForecasts, TheSitesHistoryTeachesANewDaemon) {
  EXPECT_TRUE(cycle->needs_past());
  std::vector<controller::EarlierJob> past;
  for (int i = 0; i < 40; ++i) {
    const TimeNs submit_ns = kBegin - (100 - i) * kLong_ns;
    past.push_back({.spec = spec(i % 2 == 0 ? kQuick : kSlow),
                    .submit_ns = submit_ns,
                    .end_ns = submit_ns + kLong_ns,
                    .held_ns = i % 2 == 0 ? kShort_ns : kLong_ns});
  }
  cycle->teach(past);
  EXPECT_FALSE(cycle->needs_past());
  ASSERT_TRUE(cycle->compact());
  const JobId quick = submit(spec(kQuick));
  EXPECT_LT(job(quick).predicted.run.p90_ns, 3 * kShort_ns);
  const std::string before = snapshot();
  restart();
  EXPECT_EQ(snapshot(), before);
}

TEST_F(LiveForecasts, JobsThatNeverRanTeachNothing) {
  for (int i = 0; i < 30; ++i) {
    job::JobSpec held = spec(kQuick);
    held.held = true;
    const JobId id = submit(held);
    (void)cycle->run({controller::Cancel{.job = id, .by = {.is_operator = true}}}, engine.now);
  }
  EXPECT_TRUE(cycle->needs_past());
}

// Releases without predictions wrote neither: their journals are read, and their queue, which had
// another order under the same name, is sorted again.
TEST_F(LiveForecasts, JournalsAndSnapshotsWithoutThemAreRead) {
  cycle = std::make_unique<CommitCycle>(test_site(1, 4, "las-levels+skip+sticky+pal"), log, engine);
  submit(spec(kSlow, 4));
  const JobId slow = submit(spec(kSlow, 4));
  const JobId quick = submit(spec(kQuick, 4));
  ASSERT_TRUE(cycle->compact());
  std::string& old = log.safe.snapshot;
  const auto replace = [&](const std::string& what, const std::string& by) {
    const size_t at = old.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    old.replace(at, what.size(), by);
  };
  replace(R"("policy":"las-levels+skip+sticky+pal")", R"("policy":"goban")");
  const size_t at = old.find(R"("forecasts":")");
  ASSERT_NE(at, std::string::npos);
  old.erase(at, old.find("\",", at) + 2 - at);
  log.safe.records = {
      R"({"at":1700000001000000000,"jobs":[{"name":"old","num_gpus":4,"payload":"p",)"
      R"("owner":{"gid":1,"uid":1,"user":"quick"}}],"take":"submit"})"};
  restart();
  const JobId last(3U);
  EXPECT_FALSE(job(last).predicted.run.known());
  EXPECT_EQ(job(slow).stage, controller::JobStage::Waiting);
  for (int i = 0; i < 6; ++i) pass(kLong_ns);
  for (const JobId id : {slow, quick, last}) {
    EXPECT_EQ(job(id).stage, controller::JobStage::Done) << id.value;
  }
}

TEST_F(LiveForecasts, DamagedOnesAreAnError) {
  teach_by_running();
  ASSERT_TRUE(cycle->compact());
  journal::Recovered damaged = log.safe;
  const std::string field = R"("forecasts":")";
  const size_t at = damaged.snapshot.find(field);
  ASSERT_NE(at, std::string::npos);
  const size_t end = damaged.snapshot.find('"', at + field.size());
  const size_t length = end - at - field.size();
  for (const size_t keeps : {size_t{0}, size_t{4}, length / 8 * 4, length - 8}) {
    journal::Recovered cut = damaged;
    cut.snapshot.erase(at + field.size() + keeps, length - keeps);
    CommitCycle other(test_site(1, 4, "goban"), nowhere, engine);
    const auto fold = other.fold(cut);
    ASSERT_FALSE(fold) << keeps;
    EXPECT_THAT(fold.error().text(), HasSubstr("is damaged"));
  }
}

}  // namespace
}  // namespace goban::live::loop
