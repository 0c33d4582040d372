// Jobs that share a GPU under the live scheduler: the knowledge it requires, what it learns, and
// that this survives restarts.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/knowledge/colocation/colocation_file.hpp"
#include "live/controller/decision_core.hpp"
#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;
constexpr int64_t kGiB = int64_t{1} << 30;

/// One GPU; `measured`: a co-location file.
controller::Site site(const std::string& measured = {}) {
  core::model::ClusterBuilder builder("test");
  const uint32_t gpu = builder.add_gpu_model({.name = "V100", .mem_bytes = 16 * kGiB});
  core::model::ClusterBuilder::Placed placed;
  placed.node.name = "n0";
  placed.node.num_gpus = 1;
  placed.node.gpu_model = gpu;
  builder.add_node(placed);
  controller::Site out;
  out.cluster = *builder.build();
  out.scores = core::knowledge::PmScores::uniform(1);
  out.penalties = core::knowledge::LocalityPenalties(out.cluster, 1);
  std::optional<core::knowledge::ColocationHistory> known;
  if (!measured.empty()) known = *core::knowledge::parse_colocation(measured, "measured");
  add_knowledge(out, std::move(known));
  out.composition = *core::policy::compose("eaco");
  out.composition.options.rules = core::policy::kLiveSharing;
  out.composition.options.observation.min_residence_s = 0;
  return out;
}

/// Declares its GPU memory: no job joins one without a declaration.
job::JobSpec job(const std::string& model) {
  job::JobSpec spec{.name = model, .model = model};
  spec.training.gpu_mem_bytes = 2 * kGiB;
  spec.training.sharing = core::model::SharingRequest::Yes;
  return spec;
}

/// A controller whose inputs pass through their journal text.
struct Sharing : testing::Test {
  controller::Controller controller{site()};
  TimeNs now = 0;

  void apply(controller::Input input) {
    const auto read =
        controller::parse_input(controller::to_text({.at_ns = now, .input = std::move(input)}));
    ASSERT_TRUE(read) << read.error().text();
    controller.apply(*read);
    (void)controller.decide(now);
  }
  JobId submit(job::JobSpec spec) {
    const JobId id = controller.next_job();
    apply(controller::Submit{.jobs = {std::move(spec)}});
    return id;
  }
  void report(JobId id, Report sent) {
    sent.run = {.job = id, .run = controller.book().find(id)->runs};
    apply(controller::EngineReport{std::move(sent)});
  }
  void start(JobId id) { report(id, {.kind = ReportKind::Started}); }
  void finish(JobId id, const RunUsage& usage = {}) {
    report(id, {.kind = ReportKind::Ended, .exit_code = 0, .usage = usage});
  }
  /// Both jobs run for `seconds`, at these seconds per epoch.
  void run(const std::vector<std::pair<JobId, double>>& jobs, int seconds) {
    for (int i = 0; i < seconds; i += 10) {
      now += 10 * kSecond;
      for (const auto& [id, epoch_s] : jobs) {
        done[id] += 10 / epoch_s;
        report(id, {.kind = ReportKind::Progress, .progress = {.epoch = done[id], .epochs = 1000}});
      }
    }
  }
  /// The same for jobs without progress reports: busy for this share of the time.
  void keep_busy(const std::vector<std::pair<JobId, double>>& jobs, int seconds) {
    for (int i = 0; i < seconds; i += 10) {
      now += 10 * kSecond;
      for (const auto& [id, part] : jobs) {
        done[id] += 10 * part;
        report(id, {.kind = ReportKind::Progress, .progress = {.busy_s = done[id]}});
      }
    }
  }
  /// Runs it alone once, so that its application is known.
  void profile(const job::JobSpec& spec, double epoch_s, float util_pct) {
    const JobId id = submit(spec);
    start(id);
    if (epoch_s > 0) run({{id, epoch_s}}, 100);
    if (epoch_s <= 0) keep_busy({{id, static_cast<double>(util_pct) / 100}}, 100);
    finish(id, {.gpu_mem_bytes_max = 2 * kGiB, .gpu_util_pct = util_pct, .energy_j = 100 * 90.0});
  }
  /// Two jobs of known applications; the second joins the first.
  std::pair<JobId, JobId> share_a_gpu() {
    profile(job("resnet"), 20, 35);
    profile(job("bert"), 50, 25);
    const JobId resident = submit(job("resnet"));
    start(resident);
    run({{resident, 20}}, 100);
    const JobId joined = submit(job("bert"));
    start(joined);
    return {resident, joined};
  }
  [[nodiscard]] std::string learned() const {
    return core::knowledge::to_csv(controller.colocation());
  }
  [[nodiscard]] controller::JobStage stage(JobId id) const {
    return controller.book().find(id)->stage;
  }
  std::map<JobId, double> done;
};

TEST_F(Sharing, AnApplicationThatRanAloneIsKnownFromThen) {
  const JobId stranger = submit(job("resnet"));
  start(stranger);
  const JobId waits = submit(job("bert"));
  EXPECT_EQ(stage(waits), controller::JobStage::Waiting) << "nobody knows what they take of a GPU";
  run({{stranger, 20}}, 100);
  finish(stranger, {.gpu_mem_bytes_max = 2 * kGiB, .gpu_util_pct = 40, .energy_j = 100 * 90.0});
  const auto history = controller.colocation();
  const auto resnet = history.find_app("resnet", "");
  ASSERT_TRUE(resnet.valid());
  const auto* alone = history.find_alone(history.find_gpu_type("V100"), resnet);
  ASSERT_NE(alone, nullptr);
  EXPECT_DOUBLE_EQ(alone->util_pct, 40);
  EXPECT_EQ(alone->mem_bytes, 2 * kGiB);
  EXPECT_GT(alone->power_w, 90) << "with its part of the host";
}

TEST_F(Sharing, NothingIsMeasuredUntilTheEngineHasStartedTheJoiner) {
  profile(job("resnet"), 20, 35);
  profile(job("bert"), 50, 25);
  const JobId resident = submit(job("resnet"));
  start(resident);
  run({{resident, 20}}, 100);
  const JobId joiner = submit(job("bert"));
  ASSERT_EQ(stage(joiner), controller::JobStage::Starting);
  run({{resident, 20}}, 60);  // three epochs, as fast as alone
  start(joiner);
  run({{resident, 24}, {joiner, 55}}, 120);
  const auto history = controller.colocation();
  std::vector<core::model::AppId> apps = {history.find_app("resnet", ""),
                                          history.find_app("bert", "")};
  std::ranges::sort(apps);
  const auto* set = history.find(history.find_gpu_type("V100"), apps);
  ASSERT_NE(set, nullptr) << learned();
  const size_t resnet = history.app_name(set->apps[0]) == "resnet" ? 0 : 1;
  EXPECT_NEAR(set->slowdown[resnet], 1.2, 0.02) << "1 before the joiner ran";
  EXPECT_NEAR(set->slowdown[1 - resnet], 1.1, 0.02);
}

TEST_F(Sharing, TwoJobsThatShareAreMeasuredAndRememberedBySnapshots) {
  profile(job("resnet"), 20, 35);
  profile(job("bert"), 50, 25);
  const JobId resident = submit(job("resnet"));
  start(resident);
  run({{resident, 20}}, 100);
  const JobId joiner = submit(job("bert"));
  ASSERT_EQ(stage(joiner), controller::JobStage::Starting) << "joins at once";
  EXPECT_TRUE(controller.book().find(joiner)->shares);
  start(joiner);
  // The joiner was never alone, but other jobs of its application were.
  run({{resident, 24}, {joiner, 55}}, 120);
  const auto pair = [](const core::knowledge::ColocationHistory& history) {
    std::vector<core::model::AppId> apps = {history.find_app("resnet", ""),
                                            history.find_app("bert", "")};
    std::ranges::sort(apps);
    return history.find(history.find_gpu_type("V100"), apps);
  };
  const auto history = controller.colocation();
  const core::knowledge::MeasuredSet* set = pair(history);
  ASSERT_NE(set, nullptr) << learned();
  const size_t resnet = history.app_name(set->apps[0]) == "resnet" ? 0 : 1;
  EXPECT_NEAR(set->slowdown[resnet], 1.2, 0.02);
  EXPECT_NEAR(set->slowdown[1 - resnet], 1.1, 0.02);

  // After a restart the daemon has another co-location file with other ids.
  const std::string snapshot = controller.snapshot();
  controller::Controller again(
      site("gpu_type,members,slowdowns\nA100,zebra + bert,1.5 + 1.2\n"
           "V100,vgg + bert,1.3 + 1.1\n"));
  const auto restored = again.restore(snapshot);
  ASSERT_TRUE(restored) << restored.error().text();
  const auto later = again.colocation();
  const core::knowledge::MeasuredSet* kept = pair(later);
  ASSERT_NE(kept, nullptr) << core::knowledge::to_csv(later);
  EXPECT_EQ(kept->size, 2);
  const size_t bert = later.app_name(kept->apps[0]) == "bert" ? 0 : 1;
  EXPECT_DOUBLE_EQ(kept->slowdown[bert], set->slowdown[1 - resnet]);
  // Restoring loses nothing, and the written file can be read.
  const auto file = core::knowledge::parse_colocation(core::knowledge::to_csv(later), "learned");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_NE(pair(*file), nullptr);
}

struct NoProgress : core::model::ReportedProgress {
  double reported_left_s(JobId, TimeNs) const override { return -1; }
  double reported_total_s(JobId) const override { return -1; }
};

TEST_F(Sharing, APolicyOfWholeGpusDoesNotTakeOver) {
  share_a_gpu();
  const nlohmann::json snapshot = nlohmann::json::parse(controller.snapshot());
  base::FieldReader in(snapshot, "");
  const NoProgress progress;
  controller::DecisionCore core(site(), progress);
  const auto names = core.read_names(in);
  const base::Status restored = core.restore(in, names);
  ASSERT_TRUE(restored) << restored.error().text();
  ASSERT_EQ(core.core().num_running(), 2u);
  EXPECT_FALSE(core.use_policy(*core::policy::compose("fifo")));
  EXPECT_EQ(core.site().composition.name, "eaco");
  EXPECT_EQ(core.core().num_running(), 2u);
}

TEST_F(Sharing, WhoSaysNothingIsMeasuredByWhatHeGetsOfTheGpu) {
  job::JobSpec silent = job("");
  silent.application = "program-1234";
  profile(silent, 0, 40);
  profile(job("bert"), 50, 25);
  const JobId resident = submit(silent);
  start(resident);
  keep_busy({{resident, 0.4}}, 100);
  const JobId joiner = submit(job("bert"));
  ASSERT_EQ(stage(joiner), controller::JobStage::Starting);
  start(joiner);
  for (int i = 0; i < 20; ++i) {
    keep_busy({{resident, 0.32}}, 10);
    now -= 10 * kSecond;
    run({{joiner, 50}}, 10);
  }
  EXPECT_NE(learned().find("program-1234"), std::string::npos);
  const auto history = controller.colocation();
  std::vector<core::model::AppId> apps = {history.find_app("program-1234", ""),
                                          history.find_app("bert", "")};
  std::ranges::sort(apps);
  const auto* set = history.find(history.find_gpu_type("V100"), apps);
  ASSERT_NE(set, nullptr) << learned();
  const size_t at = history.app_name(set->apps[0]) == "bert" ? 1 : 0;
  EXPECT_NEAR(set->slowdown[at], 0.4 / 0.32, 0.05);
}

TEST_F(Sharing, AWatchOfAJobThatDoesNotRunEnds) {
  const auto [resident, joined] = share_a_gpu();
  ASSERT_TRUE(controller.book().find(joined)->shares) << "nobody is watched: this tests nothing";
  now += 5 * kSecond;
  apply(controller::Requeue{.job = joined, .by = {}});
  apply(controller::Hold{.job = joined, .by = {}});
  report(joined, {.kind = ReportKind::Ended, .signal = 15});
  apply(controller::Hold{.job = joined, .by = {}});
  ASSERT_EQ(stage(joined), controller::JobStage::Held);
  now += 4 * 3600 * kSecond;
  (void)controller.decide(now);
  EXPECT_GT(controller.wake_ns(), now);
}

TEST_F(Sharing, WhatIsSaidInTheTurnThatANeighbourLeavesIsNotOfTheTimeAlone) {
  const auto [resident, joined] = share_a_gpu();
  ASSERT_TRUE(controller.book().find(joined)->shares);
  run({{resident, 24}, {joined, 55}}, 300);
  now += 10 * kSecond;
  const double left_s = controller.reported_left_s(resident, now);
  const auto tell = [&](JobId id, Report sent) {
    sent.run = {.job = id, .run = controller.book().find(id)->runs};
    controller.apply({.at_ns = now, .input = controller::EngineReport{.report = std::move(sent)}});
  };
  tell(joined, {.kind = ReportKind::Ended, .exit_code = 0});
  done[resident] += 10 / 24.0;
  tell(resident,
       {.kind = ReportKind::Progress, .progress = {.epoch = done[resident], .epochs = 1000}});
  (void)controller.decide(now);
  EXPECT_NEAR(controller.reported_left_s(resident, now), left_s - 10 / 24.0 * 20, 0.1);
}

TEST_F(Sharing, WhatASubmitterDeclaresCountsUntilSomebodyMeasures) {
  job::JobSpec spec = job("resnet");
  spec.training.gpu_util_pct = 5;
  spec.training.gpu_mem_bytes = kGiB;
  const JobId first = submit(spec);
  start(first);
  const auto util = [&] {
    const auto history = controller.colocation();
    const auto* alone =
        history.find_alone(history.find_gpu_type("V100"), history.find_app("resnet", ""));
    return alone == nullptr ? -1 : alone->util_pct;
  };
  EXPECT_DOUBLE_EQ(util(), 5);
  now += 100 * kSecond;
  finish(first, {.gpu_mem_bytes_max = 2 * kGiB, .gpu_util_pct = 90});
  EXPECT_NEAR(util(), 90, 0.1);
  submit(spec);
  EXPECT_NEAR(util(), 90, 0.1);
}

TEST_F(Sharing, ANameThatNoFileCouldHoldIsMadeFit) {
  job::JobSpec spec = job(" a+b,c@d\"\n");
  spec.training.gpu_util_pct = 5;
  spec.training.batch_size = 32;
  submit(spec);
  EXPECT_TRUE(controller.colocation().find_app("a_b_c_d__", "batch 32").valid()) << learned();
  EXPECT_TRUE(core::knowledge::parse_colocation(learned(), "learned"));
}

}  // namespace
}  // namespace goban::live::loop
