#include "serve/daemon/node_agents.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>

#include "serve/api/test_scheduler_client.hpp"
#include "site/series/codes.hpp"
#include "site/series/store_reader.hpp"

namespace goban::serve::daemon {
namespace {

using base::kSecond;
using core::model::GpuId;
using core::model::JobId;
using live::Report;
using site::series::Metric;
using site::series::State;
using site::telemetry::AgentJob;
using site::telemetry::AgentReport;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::TimeNs kAgentsBegin = 1'700'000'000 * kSecond;

/// Four nodes of four GPUs; job 1 is Slurm's 41, and runs on n0's GPUs 1 and 2.
struct NodeAgentsTest : testing::Test {
  NodeAgentsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "goban_agents_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    options.state = folder;
    options.series = folder + "/series";
    options.look_every_ns = 3600 * kSecond;
    options.wall_clock = [this] { return clock.load(); };
    options.say = [this](const std::string& line) { said += line; };
    EXPECT_TRUE(scheduler.ask(live::controller::Submit{.jobs = {live::job::JobSpec{}}}));
    scheduler.run(1, {GpuId(1U), GpuId(2U)});
    scheduler.edit(1, [&](live::controller::LiveJob& job) {
      job.engine_id = "41";
      job.spec.owner.uid = 1000;
    });
    scheduler.edit_book([](live::controller::JobBook& book) {
      book.by_engine_id["41"] = JobId(0U);
      for (auto& [id, run] : book.runs) run.started_ns = kAgentsBegin;
    });
  }
  ~NodeAgentsTest() override {
    agents.reset();
    std::filesystem::remove_all(folder);
  }

  NodeAgents& start() {
    agents = std::make_unique<NodeAgents>(scheduler, box, options);
    return *agents;
  }
  /// A report with one sample for each of two GPUs, an age of `age_s`.
  static AgentReport report(int64_t sequence, double util_pct, double age_s = 1) {
    AgentReport out{.agent = "w", .sequence = sequence, .interval_s = 60};
    for (const char* index : {"0", "1"}) {
      out.gpus.push_back({.index = index, .uuid = std::string("GPU-") + index, .name = "x"});
      out.samples.push_back({.gpu = index,
                             .age_s = age_s,
                             .readings = {{Metric::GpuUtilization, {State::Value, util_pct}},
                                          {Metric::GpuMemoryUsed, {State::Value, 1024}},
                                          {Metric::GpuPower, {State::Value, 300}}}});
    }
    return out;
  }
  [[nodiscard]] std::vector<std::pair<int64_t, uint16_t>> stored(const std::string& device) const {
    const auto reader =
        site::series::StoreReader::open(options.series, Metric::GpuUtilization).value();
    std::vector<site::series::StoreReader::Code> codes;
    (void)reader.read(reader.find({.node = "n0", .device = device, .uuid = {}}), INT64_MIN / 2,
                      INT64_MAX / 2, codes);
    std::vector<std::pair<int64_t, uint16_t>> out;
    for (const auto& each : codes) {
      if (site::series::is_value(each.code)) out.emplace_back(each.time_ms, each.code);
    }
    return out;
  }

  std::string folder;
  std::string said;
  std::atomic<base::TimeNs> clock = kAgentsBegin + 100 * kSecond;
  NodeAgentsOptions options;
  api::TestSchedulerClient scheduler;
  std::shared_ptr<AgentBox> box = std::make_shared<AgentBox>();
  std::unique_ptr<NodeAgents> agents;
};

TEST_F(NodeAgentsTest, ReadingsAreThoseOfTheirNodeUntilTheyAreOld) {
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 40)));
  api::GpuReadings now = agents->latest();
  ASSERT_EQ(now.gpus.size(), 16U);
  EXPECT_DOUBLE_EQ(now.gpus[1].util_pct, 40);
  EXPECT_EQ(now.gpus[1].mem_used_bytes, int64_t{1} << 30);
  EXPECT_DOUBLE_EQ(now.gpus[2].util_pct, -1) << "no sample of it";
  EXPECT_DOUBLE_EQ(now.gpus[4].util_pct, -1) << "another node";
  clock += 200 * kSecond;
  EXPECT_THAT(agents->latest().gpus, IsEmpty());
}

TEST_F(NodeAgentsTest, TheStoreHasSamplesAtTheTimeOfTheDaemonsClockAndOnce) {
  start();
  AgentReport late = report(1, 40, 90);
  late.clock_s = base::to_seconds(clock.load()) + 5000;  // the node's clock is wrong
  ASSERT_TRUE(agents->take("n0", late));
  EXPECT_NEAR(agents->stands().at("n0").clock_skew_s, 5000, 1e-6);
  clock += 20 * kSecond;
  late.samples[0].age_s = late.samples[1].age_s = 110;
  ASSERT_TRUE(agents->take("n0", late)) << "its answer was lost, so it is sent again";
  agents.reset();
  EXPECT_THAT(stored("0"),
              ElementsAre(std::pair((kAgentsBegin + 10 * kSecond) / base::kMillisecond, 40)));
  EXPECT_EQ(said, "");
}

TEST_F(NodeAgentsTest, SamplesOfLessThanASecondAreStoredToo) {
  start();
  AgentReport fast = report(1, 40);
  fast.interval_s = 0.2;
  ASSERT_TRUE(agents->take("n0", fast));
  agents.reset();
  EXPECT_EQ(stored("0").size(), 1U);
  EXPECT_EQ(said, "");
}

TEST_F(NodeAgentsTest, WhatDoesNotFitIsRefusedUntilTheRestIsWritten) {
  options.samples_max = 3;
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 40, 90)));
  const auto refused = agents->take("n0", report(2, 80, 30));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::Failed);
  agents.reset();
  start();
  ASSERT_TRUE(agents->take("n0", report(2, 80, 30))) << "it was written";
  agents.reset();
  EXPECT_EQ(stored("0").size(), 2U);
}

TEST_F(NodeAgentsTest, ManySamplesAreWrittenBeforeTheirTime) {
  options.samples_max = 3;
  options.look_every_ns = base::kMillisecond;
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 40, 90)));
  bool is_taken = false;
  for (int i = 0; i < 4000 && !is_taken; ++i) {
    is_taken = agents->take("n0", report(2, 80, 30)).has_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(is_taken);
}

TEST_F(NodeAgentsTest, TheOldestMakeRoomWhileTheStoreFails) {
  options.samples_max = 3;
  options.look_every_ns = base::kMillisecond;
  std::ofstream(options.series) << "no folder";
  start();
  bool is_taken = true;
  for (int i = 0, sequence = 1; i < 4000 && sequence < 4; ++i) {
    is_taken = agents->take("n0", report(sequence, 40)).has_value();
    if (is_taken) ++sequence;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(is_taken);
}

TEST_F(NodeAgentsTest, ALyingAgentAddsNoEndOfDevices) {
  start();
  AgentReport lies{.agent = "w", .sequence = 1, .interval_s = 60};
  for (int i = 0; i < 2000; ++i) {
    lies.samples.push_back({.gpu = "x" + std::to_string(i),
                            .age_s = 1,
                            .readings = {{Metric::GpuUtilization, {State::Value, 1}}}});
  }
  ASSERT_TRUE(agents->take("n0", lies));
  agents.reset();
  const auto reader =
      site::series::StoreReader::open(options.series, Metric::GpuUtilization).value();
  EXPECT_LE(reader.tracks().size(), 512U);
}

TEST_F(NodeAgentsTest, CurvesAreOfWhatIsWrittenAndOfWhatIsNot) {
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 40)));
  clock += 60 * kSecond;
  agents.reset();
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 80)));
  const auto curves = agents->curves({.gpus = {GpuId(1U)},
                                      .from_ns = kAgentsBegin,
                                      .to_ns = kAgentsBegin + 400 * kSecond,
                                      .points_max = 300});
  ASSERT_TRUE(curves) << curves.error().text();
  ASSERT_EQ(curves->gpus.size(), 1U);
  std::vector<double> values;
  for (const api::GpuPoint& point : curves->gpus[0]) values.push_back(point.mean.util_pct);
  EXPECT_THAT(values, ElementsAre(40, 80));
}

TEST_F(NodeAgentsTest, ALostAgentIsSeenAlsoAfterARestart) {
  start();
  EXPECT_THAT(agents->stands(), IsEmpty());
  ASSERT_TRUE(agents->take("n0", report(1, 40)));
  EXPECT_FALSE(agents->stands().at("n0").lost);
  clock += 181 * kSecond;
  EXPECT_TRUE(agents->stands().at("n0").lost);
  agents.reset();
  start();
  ASSERT_EQ(agents->stands().count("n0"), 1U);
  EXPECT_TRUE(agents->stands().at("n0").lost);
  EXPECT_DOUBLE_EQ(agents->stands().at("n0").report_s,
                   base::to_seconds(kAgentsBegin + 100 * kSecond));
  ASSERT_TRUE(agents->take("n0", report(2, 40)));
  EXPECT_FALSE(agents->stands().at("n0").lost);
}

TEST_F(NodeAgentsTest, ANodeThatTheClusterHasNotIsRefused) {
  start();
  const auto taken = agents->take("n9", report(1, 40));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().text().find("--node"), std::string::npos);
}

TEST_F(NodeAgentsTest, ARunHasTheUsageOfItsGpus) {
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 40)));
  clock += 60 * kSecond;
  ASSERT_TRUE(agents->take("n0", report(2, 80)));
  Report ended{.kind = live::ReportKind::Ended, .run = {.job = JobId(0U), .run = 1}};
  box->complete(ended);
  EXPECT_FLOAT_EQ(ended.usage.gpu_util_pct, 60) << "of GPU 1; GPU 2 has no samples, GPU 0 is free";
  EXPECT_EQ(ended.usage.gpu_mem_bytes_max, int64_t{1} << 30);
  EXPECT_DOUBLE_EQ(ended.usage.energy_j, 300 * 120);
  Report other{.kind = live::ReportKind::Ended, .run = {.job = JobId(0U), .run = 2}};
  box->complete(other);
  EXPECT_EQ(other.usage, base::reports::RunUsage{});
}

TEST_F(NodeAgentsTest, SamplesBeforeTheStartAreNotTheRuns) {
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 40, 100)));
  Report ended{.kind = live::ReportKind::Ended, .run = {.job = JobId(0U), .run = 1}};
  box->complete(ended);
  EXPECT_LT(ended.usage.gpu_util_pct, 0);
}

TEST_F(NodeAgentsTest, ProgressIsThatOfTheOwnersProcesses) {
  start();
  AgentReport sent{.agent = "w", .sequence = 1, .interval_s = 60};
  sent.jobs = {AgentJob{.id = "41", .uid = 1001, .software = {"lie/1"}},
               AgentJob{.id = "41", .uid = 1000, .software = {"cuda/12", "cuda/12"}},
               AgentJob{.id = "77", .uid = 1000}};
  for (AgentJob& job : sent.jobs) {
    job.progress.emplace();
    job.progress->latest.loss = job.uid == 1000 ? 0.5 : 99;
    job.progress->latest.epoch = 3;
  }
  sent.jobs[1].progress->ranks = {{.rank = 1, .ranks = 2, .steps = 9, .busy_s = 4}};
  ASSERT_TRUE(agents->take("n0", sent));
  auto reports = box->take_progress();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].kind, live::ReportKind::Progress);
  EXPECT_EQ(reports[0].run, (live::RunId{.job = JobId(0U), .run = 1}));
  EXPECT_DOUBLE_EQ(reports[0].progress.loss, 0.5);
  EXPECT_THAT(box->software_of(JobId(0U)), ElementsAre("cuda/12"));
  ++sent.sequence;
  ASSERT_TRUE(agents->take("n0", sent));
  EXPECT_THAT(box->take_progress(), IsEmpty()) << "nothing new";
  Report ended{.kind = live::ReportKind::Ended, .run = reports[0].run};
  box->complete(ended);
  ASSERT_EQ(ended.ranks.size(), 1U);
  EXPECT_EQ(ended.ranks[0].steps, 9);
}

TEST_F(NodeAgentsTest, ANodeSaysNothingOfJobsOfOtherNodes) {
  start();
  AgentReport sent = report(1, 70);
  sent.jobs = {AgentJob{.id = "41", .uid = 1000, .gpus = {0}, .software = {"lie/1"}}};
  sent.jobs[0].progress.emplace();
  sent.jobs[0].progress->latest.step = 1'000'000;
  ASSERT_TRUE(agents->take("n1", sent));
  EXPECT_THAT(box->take_progress(), IsEmpty());
  EXPECT_THAT(box->software_of(JobId(0U)), IsEmpty());
  Report ended{.kind = live::ReportKind::Ended, .run = {.job = JobId(0U), .run = 1}};
  box->complete(ended);
  EXPECT_EQ(ended.usage, base::reports::RunUsage{});
}

TEST_F(NodeAgentsTest, TheLastWordsOfARunAreNotTheNextOnes) {
  base::reports::RunProgress words;
  words.latest.step = 1000;
  box->put_progress({.job = JobId(0U), .run = 1}, "n0", words);
  EXPECT_EQ(box->take_progress().size(), 1U);
  box->put_progress({.job = JobId(0U), .run = 2}, "n0", words);
  EXPECT_THAT(box->take_progress(), IsEmpty()) << "the agent repeats it after the requeue";
  words.latest.step = 3;
  box->put_progress({.job = JobId(0U), .run = 2}, "n0", words);
  const auto reports = box->take_progress();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].run.run, 2U);
  EXPECT_EQ(reports[0].progress.step, 3);
}

TEST_F(NodeAgentsTest, ASinglePodIsKnownByItsUid) {
  scheduler.edit(1, [](live::controller::LiveJob& job) { job.spec.owner.realm = "kubernetes"; });
  scheduler.edit_book([](live::controller::JobBook& book) {
    book.by_engine_id = {{"ml/train/1f2e3d4c-0a1b-4c2d-8e3f-001122334455", JobId(0U)}};
  });
  start();
  AgentReport sent{.agent = "w", .sequence = 1, .interval_s = 60};
  sent.jobs = {AgentJob{
      .id = "1f2e3d4c-0a1b-4c2d-8e3f-001122334455", .uid = 7, .software = {"libnccl.so.2"}}};
  ASSERT_TRUE(agents->take("n0", sent));
  EXPECT_THAT(box->software_of(JobId(0U)), ElementsAre("libnccl.so.2"));
}

TEST_F(NodeAgentsTest, PodsOfAGangReportForIt) {
  scheduler.edit(1, [](live::controller::LiveJob& job) { job.spec.owner.realm = "kubernetes"; });
  scheduler.edit_book([](live::controller::JobBook& book) {
    book.by_engine_id = {{"ml/train/uid-train", JobId(0U)}};
  });
  options.parts_of_jobs = [] {
    return std::map<std::string, std::string>{{"pod-a", "ml/train/uid-train"},
                                              {"pod-b", "ml/train/uid-train"},
                                              {"pod-c", "ml/gone/uid-gone"}};
  };
  start();
  const auto words = [](const char* pod, int32_t rank, int64_t step) {
    AgentJob out{.id = pod, .uid = 7, .software = {std::string("lib") + pod}};
    out.progress.emplace();
    out.progress->latest.step = step;
    out.progress->ranks = {{.rank = rank, .ranks = 2}};
    return out;
  };
  AgentReport sent{.agent = "w", .sequence = 1, .interval_s = 60};
  sent.jobs = {words("pod-a", 0, 10), words("pod-b", 1, 11), words("pod-c", 0, 12)};
  ASSERT_TRUE(agents->take("n0", sent));
  EXPECT_THAT(box->software_of(JobId(0U)), ElementsAre("libpod-a", "libpod-b"));
  const auto reports = box->take_progress();
  ASSERT_EQ(reports.size(), 2U) << "one does not hide the other";
  EXPECT_EQ(reports[0].progress.step, 10);
  EXPECT_EQ(reports[1].progress.step, 11);
  sent.sequence = 2;
  ASSERT_TRUE(agents->take("n0", sent));
  EXPECT_THAT(box->take_progress(), IsEmpty()) << "said before";
  Report ended{.kind = live::ReportKind::Ended, .run = reports[0].run};
  box->complete(ended);
  EXPECT_EQ(ended.ranks.size(), 2U);
}

TEST_F(NodeAgentsTest, GpusThatTheEngineDoesNotKnowAreThoseOfTheJobsEnvironment) {
  scheduler.edit_book([](live::controller::JobBook& book) {
    for (auto& [id, run] : book.runs) run.gpus.clear();
  });
  start();
  AgentReport sent = report(1, 70);
  sent.jobs = {AgentJob{.id = "41", .uid = 1000, .gpus = {0}}};
  ASSERT_TRUE(agents->take("n0", sent));
  Report ended{.kind = live::ReportKind::Ended, .run = {.job = JobId(0U), .run = 1}};
  box->complete(ended);
  EXPECT_FLOAT_EQ(ended.usage.gpu_util_pct, 70);
}

/// Says what the test puts there.
struct SilentEngine final : live::Engine {
  void launch(const live::LaunchOrder&) override {}
  void stop(live::RunId, live::StopReason) override {}
  void resume(const live::LaunchOrder&) override {}
  void forget(JobId, const std::string&) override {}
  std::vector<live::EngineEvent> take_events() override { return std::move(events); }
  std::vector<live::EngineEvent> events;
};

TEST_F(NodeAgentsTest, TheEngineTellsProgressBeforeAnEndWithItsUsage) {
  start();
  ASSERT_TRUE(agents->take("n0", report(1, 40)));
  AgentReport sent{.agent = "w", .sequence = 2, .interval_s = 60};
  sent.jobs = {AgentJob{.id = "41", .uid = 1000}};
  sent.jobs[0].progress.emplace();
  sent.jobs[0].progress->latest.step = 7;
  ASSERT_TRUE(agents->take("n0", sent));
  auto inner = std::make_unique<SilentEngine>();
  inner->events = {Report{.kind = live::ReportKind::Ended, .run = {.job = JobId(0U), .run = 1}}};
  AgentEngine engine(std::move(inner), box);
  const auto events = engine.take_events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<Report>(events[0]).progress.step, 7);
  EXPECT_FLOAT_EQ(std::get<Report>(events[1]).usage.gpu_util_pct, 40);
}

}  // namespace
}  // namespace goban::serve::daemon
