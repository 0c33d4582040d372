#include "live/loop/live_scheduler.hpp"

#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using testing::HasSubstr;

/// Every run ends immediately.
class InstantEngine final : public Engine {
 public:
  void launch(const LaunchOrder& order) override {
    reports_.push_back({.kind = ReportKind::Started, .run = order.run});
    reports_.push_back({.kind = ReportKind::Ended, .run = order.run, .exit_code = 0});
  }
  void stop(RunId, StopReason) override {}
  void resume(const LaunchOrder& order) override {
    reports_.push_back({.kind = ReportKind::Ended, .run = order.run, .exit_code = 0});
  }
  void forget(JobId, const std::string&) override {}
  std::vector<EngineEvent> take_events() override { return events_of(std::exchange(reports_, {})); }

 private:
  std::vector<Report> reports_;
};

/// A MemoryLog whose records outlive the daemon.
class SharedLog final : public journal::RecordLog {
 public:
  explicit SharedLog(MemoryLog& log) : log_(log) {}
  void append(std::string_view record) override { log_.append(record); }
  base::Status commit() override { return full.load() ? base::failed("disk full") : log_.commit(); }
  base::Status compact(std::string_view snapshot) override { return log_.compact(snapshot); }
  int64_t bytes_since_snapshot() const override { return 0; }
  bool was_taken_over() const override { return taken_over; }
  inline static std::atomic<bool> full = false;
  inline static std::atomic<bool> taken_over = false;

 private:
  MemoryLog& log_;
};

class Ledger final : public Accounting {
 public:
  explicit Ledger(std::vector<JobId>& out, int failures) : out_(out), failures_(failures) {}
  base::Status record(const std::vector<FinishedJob>& jobs) override {
    if (failures_-- > 0) return base::failed("no store");
    for (const FinishedJob& each : jobs) out_.push_back(each.job.job);
    return {};
  }

 private:
  std::vector<JobId>& out_;
  int failures_;
};

struct DaemonTest : testing::Test {
  MemoryLog log;
  std::vector<JobId> stored;
  std::atomic<int> shut_outs = 0;
  std::atomic<int> beats = 0;
  TimeNs keep_ended_ns = controller::Site{}.keep_ended_ns;
  TimeNs resume_ns = DaemonOptions{}.resume_ns;
  std::mutex said_mutex;
  std::string said;

  /// A daemon with one job is killed. Its journal is changed to place the job on these GPUs, not on
  /// 0.
  void kill_with_job_on(const std::string& gpus) {
    {
      const auto daemon = start();
      ASSERT_TRUE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{}}}));
      ASSERT_TRUE(settle(*daemon));
      log.keeps_records = true;  // as if it had been killed
    }
    const std::string recorded = "\"gpus\":[0]";
    for (std::string& record : log.safe.records) {
      const size_t at = record.find(recorded);
      if (at != std::string::npos) record.replace(at, recorded.size(), "\"gpus\":" + gpus);
    }
  }
  base::Result<std::unique_ptr<Daemon>> try_start(int store_failures = 0) {
    controller::Site site = test_site(1, 4, "fifo+packed");
    site.keep_ended_ns = keep_ended_ns;
    DaemonOptions options{.poll_ns = 1'000'000, .resume_ns = resume_ns};
    options.shut_out = [this] { ++shut_outs; };
    options.beat = [this] { ++beats; };
    options.say = [this](const std::string& line) {
      const std::scoped_lock lock(said_mutex);
      said += line + "\n";
    };
    return Daemon::start(std::move(site), log.safe, std::make_unique<SharedLog>(log),
                         std::make_unique<InstantEngine>(),
                         std::make_unique<Ledger>(stored, store_failures), options);
  }
  std::unique_ptr<Daemon> start(int store_failures = 0) {
    auto daemon = try_start(store_failures);
    EXPECT_TRUE(daemon) << daemon.error().text();
    return std::move(*daemon);
  }

  /// Waits until all jobs of the table are accounted.
  static bool settle(const Daemon& daemon) {
    for (int i = 0; i < 5'000; ++i) {
      bool done = true;
      daemon.look([&](const SchedulerSnapshot& snapshot) {
        for (const auto& [id, job] : snapshot.book.jobs) done = done && job.accounted;
      });
      if (done) return true;
      (void)daemon.wait_for_change(daemon.version(), 2'000'000);
    }
    return false;
  }
};

TEST_F(DaemonTest, ManyInputsShareOneCycle) {
  const auto daemon = start();
  ASSERT_TRUE(daemon->ask(controller::Submit{.jobs = {100, job::JobSpec{.held = true}}}));
  std::vector<controller::Input> inputs;
  for (size_t i = 0; i < 101; ++i) {
    inputs.emplace_back(controller::Cancel{.job = JobId(i), .by = {.is_operator = true}});
  }
  const int64_t before = log.commits;
  const auto answers = daemon->ask_all(std::move(inputs));
  ASSERT_EQ(answers.size(), 101u);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[100]) << "there is no such job";
  daemon->look([&](const SchedulerSnapshot& snapshot) {
    EXPECT_EQ(snapshot.book.find(JobId(99U))->result, controller::JobResult::Cancelled);
  });
  // The cycle itself, and those that store the accounts.
  EXPECT_LE(log.commits - before, 10);
}

TEST_F(DaemonTest, ReadersDoNotKeepTheSchedulerWaiting) {
  const auto daemon = start();
  std::atomic<bool> stops = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&] {
      while (!stops) {
        daemon->look([](const SchedulerSnapshot&) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        });
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto answer = std::async(std::launch::async, [&] {
    return daemon->ask(controller::Submit{.jobs = {job::JobSpec{.held = true}}}).has_value();
  });
  const bool in_time = answer.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  stops = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(in_time) << "readers that overlap kept it out";
  EXPECT_TRUE(answer.get());
}

TEST_F(DaemonTest, JobsRunAndAreAccounted) {
  const auto daemon = start();
  const auto answer =
      daemon->ask(controller::Submit{.jobs = {job::JobSpec{}, job::JobSpec{.num_gpus = 4}}});
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->first_job, JobId(0U));
  ASSERT_TRUE(settle(*daemon));
  EXPECT_THAT(stored, testing::ElementsAre(JobId(0U), JobId(1U)));
  EXPECT_GT(daemon->stats().decisions, 0);
}

TEST_F(DaemonTest, RefusesWhatCannotRun) {
  const auto daemon = start();
  const auto answer = daemon->ask(controller::Submit{.jobs = {job::JobSpec{.num_gpus = 5}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().place.field, "num_gpus");
  EXPECT_FALSE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{.num_gpus = 0}}}));
  const auto cancel = daemon->ask(controller::Cancel{.job = JobId(7U)});
  ASSERT_FALSE(cancel);
  EXPECT_THAT(cancel.error().text(), HasSubstr("job 8 is unknown"));
}

TEST_F(DaemonTest, ManyCallersAtOnce) {
  const auto daemon = start();
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  callers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 50; ++j)
        good += daemon->ask(controller::Submit{.jobs = {job::JobSpec{}}}) ? 1 : 0;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(good, 400);
  ASSERT_TRUE(settle(*daemon));
  EXPECT_EQ(stored.size(), 400U);
}

TEST_F(DaemonTest, ARestartGoesOnWhereItWas) {
  {
    const auto daemon = start();
    ASSERT_TRUE(
        daemon->ask(controller::Submit{.jobs = {job::JobSpec{.name = "kept", .held = true}}}));
  }
  const auto daemon = start();
  ASSERT_TRUE(daemon->ask(controller::Release{.job = JobId(0U), .by = {.is_operator = true}}));
  ASSERT_TRUE(settle(*daemon));
  daemon->look([](const SchedulerSnapshot& snapshot) {
    EXPECT_EQ(snapshot.book.find(JobId(0U))->spec.name, "kept");
    EXPECT_EQ(snapshot.book.find(JobId(0U))->result, controller::JobResult::Completed);
  });
}

TEST_F(DaemonTest, AJournalThatComesOutOtherwiseIsRedone) {
  ASSERT_NO_FATAL_FAILURE(kill_with_job_on("[3]"));
  log.keeps_records = false;
  {
    const auto daemon = start();
    EXPECT_THAT(said, HasSubstr("1 recorded decisions differ"));
    EXPECT_THAT(log.safe.snapshot, HasSubstr("\"gpus\":[3]"));
    daemon->look([](const SchedulerSnapshot& snapshot) {
      EXPECT_THAT(snapshot.book.find(JobId(0U))->gpus, testing::ElementsAre(GpuId(3U)));
    });
  }
  said.clear();
  (void)start();
  EXPECT_THAT(said, testing::Not(HasSubstr("differ")));
}

TEST_F(DaemonTest, ADecisionThatCannotBeStopsTheStart) {
  ASSERT_NO_FATAL_FAILURE(kill_with_job_on("[9]"));
  auto daemon = try_start();
  ASSERT_FALSE(daemon);
  EXPECT_THAT(daemon.error().text(), HasSubstr("cannot take these GPUs"));
  EXPECT_THAT(daemon.error().text(), HasSubstr("configuration with which the journal was written"));
}

TEST_F(DaemonTest, AStoreThatFailsIsTriedAgain) {
  const auto daemon = start(1);
  ASSERT_TRUE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{}}}));
  ASSERT_TRUE(settle(*daemon));
  EXPECT_EQ(stored.size(), 1U);
  EXPECT_THAT(said, HasSubstr("no store"));
}

TEST_F(DaemonTest, AStoreThatWasDownGetsEachJobOnce) {
  resume_ns = 1'000'000;  // unaccounted jobs are repeated frequently
  keep_ended_ns = 1'000'000;
  const auto daemon = start(2);
  constexpr size_t kJobs = 20;
  ASSERT_TRUE(daemon->ask(controller::Submit{.jobs = std::vector<job::JobSpec>(kJobs)}));
  ASSERT_TRUE(settle(*daemon));
  ASSERT_TRUE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{}}})) << "the daemon is there";
  ASSERT_TRUE(settle(*daemon));
  EXPECT_EQ(stored.size(), kJobs + 1);
}

TEST_F(DaemonTest, NothingStartsWhileTheJournalCannotBeWritten) {
  const auto daemon = start();
  SharedLog::full = true;
  const auto refused = daemon->ask(controller::Submit{.jobs = {job::JobSpec{}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("disk full"));
  EXPECT_FALSE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{}}}));
  EXPECT_TRUE(stored.empty());
  SharedLog::full = false;
  ASSERT_TRUE(settle(*daemon));
  EXPECT_EQ(stored.size(), 1U) << "the first was taken before the disk was known to be full";
}

TEST_F(DaemonTest, BeatsWhileItsCommitCyclesAreCompleted) {
  const auto daemon = start();
  for (int i = 0; i < 5'000 && beats == 0; ++i) ::usleep(2'000);
  EXPECT_GT(beats, 0);
  SharedLog::full = true;
  ASSERT_FALSE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{}}}));
  const int before = beats;
  ::usleep(1'500'000);
  EXPECT_EQ(beats, before) << "nothing is decided";
  SharedLog::full = false;
  for (int i = 0; i < 5'000 && beats == before; ++i) ::usleep(2'000);
  EXPECT_GT(beats, before);
}

TEST_F(DaemonTest, WhoIsShutOutWritesAndOrdersNothing) {
  auto daemon = start();
  ASSERT_TRUE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{.name = "before"}}}));
  ASSERT_TRUE(settle(*daemon));
  const size_t records = log.safe.records.size();
  SharedLog::taken_over = true;
  for (int i = 0; i < 5'000 && shut_outs == 0; ++i) ::usleep(2'000);
  EXPECT_EQ(shut_outs, 1);
  EXPECT_TRUE(daemon->was_taken_over());
  EXPECT_FALSE(daemon->ask(controller::Submit{.jobs = {job::JobSpec{.name = "after"}}}));
  daemon.reset();
  SharedLog::taken_over = false;
  EXPECT_EQ(log.safe.records.size(), records);
  EXPECT_EQ(log.safe.snapshot, "") << "a daemon that ends in order writes one, this one must not";
  EXPECT_EQ(stored.size(), 1U);
}

}  // namespace
}  // namespace goban::live::loop
