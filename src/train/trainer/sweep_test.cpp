#include "train/trainer/sweep.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "base/html_text.hpp"
#include "train/comm/thread_world.hpp"
#include "train/mesh/layout.hpp"
#include "train/trainer/folder_lock.hpp"
#include "train/trainer/line_chart.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/sweep_claims.hpp"
#include "train/trainer/sweep_files.hpp"
#include "train/trainer/test_images.hpp"
#include "train/trainer/trainer.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

TEST(SweepGrid, IsEveryCombinationOnceAndTheLargestBatchIsItsOwnControl) {
  SweepOptions options;
  options.batch_sizes = {10, 50};
  options.hidden = {8, 16};
  options.layouts = {"batch:rows;hidden1:cols"};
  options.train.mesh = "rows:2;cols:2";
  options.both_orientations = true;
  options.learning_rates = {0, 0.1};
  options.seeds = 3;
  const auto points = grid_of(options);
  ASSERT_TRUE(points);
  const auto count = [&](Control control) {
    return std::count_if(points->begin(), points->end(),
                         [&](const SweepPoint& p) { return p.control == control; });
  };
  EXPECT_EQ(count(Control::Plain), 2 * 2 * 2 * 2 * 3);
  EXPECT_EQ(count(Control::EqualSteps), 1 * 2 * 2 * 2 * 3);
  EXPECT_EQ(count(Control::EqualSchedule), 1 * 2 * 2 * 1 * 3);  // a fixed rate does not decrease
  EXPECT_EQ((*points)[6].layout, "batch:cols;hidden1:rows");
  options.train.mesh = "rows:4";
  EXPECT_THAT(grid_of(options).error().text(), HasSubstr("requires a mesh with two axes"));
}

TEST(SweepGrid, LayoutsAfterTheFirstMayHaveFewerSeeds) {
  SweepOptions options;
  options.batch_sizes = {10, 50};
  options.layouts = {"batch:x", "hidden1:x", "hidden2:x"};
  options.controls = {};
  options.layout_seeds = 1;
  const auto points = grid_of(options);
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 2U * (3 + 1 + 1));
  EXPECT_EQ(points->back().layout, "hidden2:x");
  EXPECT_EQ(points->back().seed, 1U);
}

TEST(SweepGrid, ControlsChangeWhatTheySay) {
  SweepOptions options;
  options.batch_sizes = {10, 250};
  options.train.epochs = 4;
  options.out = "s";
  const TrainOptions plain = options_of(options, {Control::Plain, 10, 512, "", 0, 2}, 1100);
  EXPECT_EQ(plain.most_steps, 0);
  EXPECT_EQ(plain.optimizer.schedule_scale, 1);
  EXPECT_EQ(plain.seed, 2U);
  const TrainOptions steps = options_of(options, {Control::EqualSteps, 10, 512, "", 0, 1}, 1100);
  EXPECT_EQ(steps.evaluate_every, 5);  // 4 whole batches of 250 and one of 100
  EXPECT_EQ(steps.most_steps, 20);
  const TrainOptions rates =
      options_of(options, {Control::EqualSchedule, 10, 512, "b:x;c:y", 0, 1}, 1100);
  EXPECT_EQ(rates.optimizer.schedule_scale, 0.04);
  EXPECT_EQ(rates.out, "s/runs/equal-schedule-batch10-hidden512-b-x_c-y-rate0-seed1");
}

class SweepRuns : public ::testing::Test {
 protected:
  SweepRuns() {
    fs::remove_all(folder_);
    write_images(folder_ / "mnist");
    options_.train.model = "mlp";
    options_.train.data_dir = folder_.string();
    options_.train.epochs = 2;
    options_.batch_sizes = {12, 48};
    options_.hidden = {8};
    options_.seeds = 2;
    options_.out = (folder_ / "sweep").string();
    options_.command = "goban-train sweep";
    options_.largest_limit_bytes = 0;
    launcher_.train = [this](const TrainOptions& train) {
      ++started_;
      base::Result<std::vector<EpochResult>> out;
      const auto mesh = mesh::MeshShape::parse(train.mesh);
      const auto status = comm::run_threads(static_cast<int>(mesh->devices()), {},
                                            [&](comm::Communicator& end) -> base::Status {
                                              auto result = trainer::train(train, end);
                                              if (!result) return base::failure(result.error());
                                              if (end.rank() == 0) out = std::move(result);
                                              return {};
                                            });
      if (!status) out = base::failure(status.error());
      return out;
    };
    launcher_.same = [](const Facts&) { return base::Status(); };
    launcher_.agree = launcher_.any = [](bool mine) -> base::Result<bool> { return mine; };
  }
  ~SweepRuns() override { fs::remove_all(folder_); }

  std::string contents(const char* name) const {
    std::ifstream in(options_.out + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / ("goban_sweep_" + std::to_string(getpid()));
  SweepOptions options_;
  Launcher launcher_;
  std::atomic<int> started_ = 0;
};

TEST_F(SweepRuns, WritesCsvReportAndScriptAndTrainsNothingTwice) {
  const auto result = run_sweep(options_, launcher_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(started_, 4 + 2 + 2);
  const std::string csv = contents("sweep.csv");
  EXPECT_THAT(csv, ::testing::StartsWith("batch,seed,epoch,step,train_loss,test_loss,test_acc,"
                                         "wall_s,images_s,control,hidden,layout,learning_rate\n"
                                         "12,1,1,20,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 8);
  const std::string html = contents("report.html");
  for (const char* part : {"Test accuracy", "Loss, hidden 8", "<td>S6</td>", "Control: equal steps",
                           "Control: equal learning rates", "Environment", "LOCAL_RANK"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, Not(HasSubstr("http")));  // self-contained
  ASSERT_TRUE(run_sweep(options_, launcher_));
  EXPECT_EQ(started_, 8);
  EXPECT_EQ(contents("sweep.csv"), csv);
}

TEST_F(SweepRuns, SeveralAtOnceGiveTheSameNumbers) {
  const auto alone = run_sweep(options_, launcher_);
  ASSERT_TRUE(alone) << alone.error().text();
  options_.out += "_at_once";
  options_.jobs = 3;
  EXPECT_THAT(run_sweep(options_, launcher_).error().text(), HasSubstr("without mpirun"));
  launcher_.several_at_once = true;
  std::atomic<int> running = 0, most = 0;
  std::mutex mutex;
  std::vector<int64_t> batches;  // in the order of their begin
  const auto train = launcher_.train;
  launcher_.train = [&](const TrainOptions& options) {
    const int now = ++running;
    {
      const std::scoped_lock lock(mutex);
      most = std::max(most.load(), now);
      batches.push_back(options.batch_size);
    }
    auto out = train(options);
    --running;
    return out;
  };
  const auto together = run_sweep(options_, launcher_);
  ASSERT_TRUE(together) << together.error().text();
  EXPECT_GE(most, 2);
  EXPECT_LE(most, 3);
  EXPECT_EQ(batches.front(), 12);
  EXPECT_EQ(batches.back(), 48);
  ASSERT_EQ(together->runs.size(), alone->runs.size());
  for (size_t i = 0; i < alone->runs.size(); ++i) {
    EXPECT_EQ(together->runs[i].point, alone->runs[i].point);
    EXPECT_EQ(together->runs[i].rows.back().test_loss, alone->runs[i].rows.back().test_loss);
  }
}

TEST_F(SweepRuns, AFailureStopsTheRunsBesideIt) {
  options_.controls.clear();
  options_.jobs = 2;
  launcher_.several_at_once = true;
  std::atomic<bool> begun = false;
  launcher_.train = [&](const TrainOptions& options) -> base::Result<std::vector<EpochResult>> {
    ++started_;
    if (options.seed == 1) {
      while (!begun) std::this_thread::yield();
      return base::failed("the disk is full");
    }
    begun = true;
    while (!stop_requested) std::this_thread::yield();  // a run saves and returns
    return std::vector<EpochResult>();
  };
  const auto result = run_sweep(options_, launcher_);
  stop_requested = false;
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("the disk is full"));
  EXPECT_EQ(started_, 2);
}

TEST_F(SweepRuns, AFolderThatCannotBeReadIsAnError) {
  fs::create_symlink("loop", folder_ / "loop");
  options_.out = (folder_ / "loop").string();
  const auto result = run_sweep(options_, launcher_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("cannot use the folder"));
}

TEST_F(SweepRuns, ASignalInTheSearchForTheLargestBatchStopsIt) {
  options_.controls.clear();
  options_.batch_sizes = {48};
  ASSERT_TRUE(run_sweep(options_, launcher_));
  options_.largest_limit_bytes = 3'000'000;
  options_.largest_ranks = {1, 2};
  stop_requested = true;  // all runs are complete: only the search remains
  const auto stopped = run_sweep(options_, launcher_);
  stop_requested = false;
  ASSERT_TRUE(stopped) << stopped.error().text();
  EXPECT_TRUE(stopped->stopped);
  EXPECT_TRUE(stopped->largest.empty());
  const auto again = run_sweep(options_, launcher_);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->stopped);
  EXPECT_EQ(again->largest.size(), 2U);
  const std::string claims = contents("claims.csv");
  stop_requested = true;  // the search has ended: its result is kept
  const auto third = run_sweep(options_, launcher_);
  stop_requested = false;
  ASSERT_TRUE(third);
  EXPECT_FALSE(third->stopped);
  EXPECT_EQ(contents("claims.csv"), claims);
  options_.largest_ranks = {1};
  const auto other = run_sweep(options_, launcher_);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->largest.size(), 1U) << "another search";
}

TEST_F(SweepRuns, RunsOfOtherOptionsOrDataAreNotMixed) {
  options_.controls.clear();
  ASSERT_TRUE(run_sweep(options_, launcher_));
  const auto refusal = [&] {
    const auto result = run_sweep(options_, launcher_);
    return result ? std::string() : result.error().text();
  };
  options_.train.optimizer.warmup_steps = 3;
  EXPECT_THAT(refusal(), HasSubstr("it has '--warmup-steps: 0', not '--warmup-steps: 3'"));
  options_.train.optimizer.warmup_steps = 0;
  options_.train.epochs = 3;
  EXPECT_EQ(refusal(), "") << "more epochs go on";
  for (const auto& file : fs::directory_iterator(folder_ / "mnist")) {
    std::fstream bytes(file.path(), std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(-1, std::ios::end);
    bytes.put(1);
  }
  EXPECT_THAT(refusal(), HasSubstr("it has 'training data: "));
}

TEST_F(SweepRuns, OneOfWhichNothingCanBeTrainedFails) {
  options_.batch_sizes = {1'000'000};
  const auto result = run_sweep(options_, launcher_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("none of the runs could be trained: "));
}

TEST_F(SweepRuns, ShardsAreRefused) {
  options_.train.data_dir = "train-{000..011}.tar";
  const auto result = run_sweep(options_, launcher_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("not on shards"));
}

TEST_F(SweepRuns, GoesOnWhereItWasStoppedWithTheSameNumbers) {
  options_.controls.clear();
  ASSERT_TRUE(run_sweep(options_, launcher_));
  const auto whole =
      read_metrics(options_of(options_, grid_of(options_)->back(), 240).out + "/metrics.csv");
  fs::remove_all(options_.out);
  started_ = 0;
  const auto train = launcher_.train;
  launcher_.train = [&](const TrainOptions& options) {
    if (started_ == 2) stop_requested = true;
    return train(options);
  };
  const auto stopped = run_sweep(options_, launcher_);
  stop_requested = false;
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(stopped->stopped);
  EXPECT_EQ(started_, 3);
  EXPECT_THAT(contents("report.html"), HasSubstr("was stopped before its end"));
  launcher_.train = train;
  const auto rest = run_sweep(options_, launcher_);
  ASSERT_TRUE(rest);
  EXPECT_EQ(started_, 3 + 2);
  EXPECT_EQ(rest->runs.back().rows.back().train_loss, whole->back().train_loss);
  EXPECT_EQ(rest->runs.back().rows.back().test_loss, whole->back().test_loss);
}

TEST_F(SweepRuns, ARunWithoutItsLastLineIsTrainedAgain) {
  options_.controls.clear();
  ASSERT_TRUE(run_sweep(options_, launcher_));
  const std::string path =
      options_of(options_, grid_of(options_)->front(), 240).out + "/metrics.csv";
  const auto rows = read_metrics(path);
  std::ifstream in(path);
  std::string header, first;
  std::getline(in, header);
  std::getline(in, first);
  std::ofstream(path, std::ios::trunc) << header << "\n" << first << "\n" << first.substr(0, 9);
  const auto again = run_sweep(options_, launcher_);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->runs.front().rows.back().train_loss, rows->back().train_loss);
}

TEST_F(SweepRuns, APointThatDivergesIsMarkedAndTheSweepGoesOn) {
  options_.learning_rates = {1e30, 0.01};  // the first one ends in NaN
  options_.train.optimizer.kind = mesh::OptimizerOptions::Kind::Sgd;
  options_.controls = {};
  options_.seeds = 1;
  const auto result = run_sweep(options_, launcher_);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->runs.size(), 4U);
  EXPECT_EQ(started_, 4);
  for (const SweepRun& each : result->runs) {
    const bool diverges = each.point.learning_rate > 1;
    EXPECT_EQ(each.complete, !diverges);
    EXPECT_EQ(each.refused.starts_with("diverged: "), diverges) << each.refused;
  }
  EXPECT_FALSE(result->stopped);
  const std::string html = contents("report.html");
  EXPECT_THAT(html, HasSubstr("Not completed"));
  EXPECT_THAT(html, HasSubstr("diverged: "));
  EXPECT_THAT(html, Not(HasSubstr("was stopped before its end")));
  // The same command does not train the point again.
  const auto again = run_sweep(options_, launcher_);
  ASSERT_TRUE(again);
  EXPECT_EQ(started_, 4);
  EXPECT_THAT(again->runs.front().refused, HasSubstr("diverged: "));
}

TEST_F(SweepRuns, AFolderThatAnotherSweepUsesIsRefused) {
  fs::create_directories(options_.out);
  const auto other = FolderLock::take(options_.out, "--out");
  ASSERT_TRUE(other);
  const auto result = run_sweep(options_, launcher_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("another run uses the folder"));
}

TEST_F(SweepRuns, AnotherSweepsFolderIsRefused) {
  ASSERT_TRUE(run_sweep(options_, launcher_));
  options_.train.train_limit = 100;
  const auto other = run_sweep(options_, launcher_);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("belongs to a sweep with different settings"));
}

TEST_F(SweepRuns, LayoutsAreComparedAndIllegalOnesListed) {
  options_.controls.clear();
  options_.seeds = 1;
  options_.train.mesh = "x:2;y:2";
  options_.layouts = {"batch:x;hidden1:y"};
  options_.both_orientations = true;
  options_.batch_sizes = {12, 15};
  const auto result = run_sweep(options_, launcher_);
  ASSERT_TRUE(result) << result.error().text();
  const auto agreement = layout_agreement(result->runs);
  ASSERT_EQ(agreement.size(), 1U);
  EXPECT_EQ(agreement[0].layout, "batch:y;hidden1:x");
  EXPECT_LT(agreement[0].worst, 1e-4);
  EXPECT_GT(result->runs[0].rows[0].train_loss, 0);
  EXPECT_THAT(result->runs[1].refused, HasSubstr("does not divide"));
  EXPECT_THAT(contents("report.html"), HasSubstr("<h2>Not completed</h2>"));
}

SweepRun made(int64_t batch, uint64_t seed, const std::vector<double>& accuracy,
              const std::vector<double>& loss) {
  SweepRun run;
  run.point = {Control::Plain, batch, 512, "", 0, seed};
  run.complete = true;
  for (size_t i = 0; i < accuracy.size(); ++i) {
    EpochResult row;
    row.epoch = static_cast<int64_t>(i) + 1;
    row.test_accuracy = accuracy[i];
    row.test_loss = loss[i];
    run.rows.push_back(row);
  }
  return run;
}

std::vector<std::string> verdicts(const SweepResult& result, int64_t epochs) {
  SweepOptions options;
  options.train.epochs = epochs;
  std::vector<std::string> out;
  for (const Claim& each : claims_of(options, result)) {
    out.push_back(each.id + " " + verdict_name(each.verdict));
  }
  return out;
}

TEST(SweepClaims, FollowTheCurves) {
  // Twenty epochs as described in the experiment.
  std::vector<double> small_accuracy(20, 0.988), large_accuracy(20, 0.985);
  std::vector<double> small_loss(20, 0.10), large_loss(20, 0.05);
  small_accuracy[0] = 0.9715;
  large_accuracy[0] = 0.9405;
  small_loss[0] = 0.097;
  large_loss[0] = 0.187;
  small_loss[4] = 0.05;
  SweepResult result;
  result.runs = {made(10, 1, small_accuracy, small_loss), made(250, 1, large_accuracy, large_loss)};
  EXPECT_THAT(verdicts(result, 20), ElementsAre("S1 holds", "S2 holds", "S3 holds", "S4 holds",
                                                "S5 holds", "S6 holds", "S7 not measured"));
  result.runs[1].rows[19].test_accuracy = 0.97;
  result.runs[1].rows[0].test_accuracy = 0.95;
  result.runs[1].rows[0].test_loss = 0.09;
  for (size_t i = 5; i < 20; ++i) result.runs[1].rows[i].test_loss = 0.09;
  for (size_t i = 1; i < 10; ++i) result.runs[0].rows[i].test_accuracy = 0.98;
  result.largest = {{1, "", 100, 100, 0, 0, ""}, {4, "batch:x", 400, 200, 0, 0, ""}};
  EXPECT_THAT(verdicts(result, 20), ElementsAre("S1 fails", "S2 fails", "S3 fails", "S4 fails",
                                                "S5 fails", "S6 fails", "S7 fails"));
}

TEST(SweepClaims, LayoutsHaveEqualCurvesWithinTheRangeOfTheSeeds) {
  SweepOptions options;
  options.train.epochs = 1;
  SweepResult result;
  const auto add = [&](const char* layout, uint64_t seed, double accuracy) {
    EpochResult row;
    row.epoch = 1;
    row.test_accuracy = accuracy;
    row.test_loss = 1;
    result.runs.push_back({{Control::Plain, 10, 8, layout, 0, seed}, {row}, true, ""});
  };
  const auto verdict = [&] {
    const auto claims = claims_of(options, result);
    return claims.back().id == "L1" ? verdict_name(claims.back().verdict) : "absent";
  };
  add("batch:x", 1, 0.90);
  EXPECT_STREQ(verdict(), "absent");
  add("hidden1:x", 1, 0.94);
  EXPECT_STREQ(verdict(), "not measured");  // one seed has no range
  add("batch:x", 2, 0.91);
  add("batch:x", 3, 0.92);
  EXPECT_STREQ(verdict(), "holds");  // .02 above a range of .02
  result.runs[1].rows[0].test_accuracy = 0.941;
  EXPECT_STREQ(verdict(), "fails");
}

TEST(SweepClaims, SaySoWhenTheRunIsTooShort) {
  SweepResult result;
  result.runs = {made(10, 1, {0.97, 0.98}, {0.1, 0.05}), made(10, 2, {0.95, 0.98}, {0.1, 0.05}),
                 made(250, 1, {0.90, 0.95}, {0.2, 0.1})};
  EXPECT_THAT(verdicts(result, 2),
              ElementsAre("S1 not measured", "S2 holds", "S3 not measured", "S4 holds",
                          "S5 not measured", "S6 not measured", "S7 not measured"));
  const auto curves = curves_of(result.runs, selections_of(result.runs, Control::Plain).front());
  EXPECT_DOUBLE_EQ(curves.at(10).accuracy[0], 0.96);
  EXPECT_DOUBLE_EQ(curves.at(10).accuracy_low[0], 0.95);
  EXPECT_DOUBLE_EQ(curves.at(10).accuracy_high[0], 0.97);
}

TEST(SweepFiles, MetricsAreReadBackAndDamageIsNamed) {
  const std::string path = ::testing::TempDir() + "/metrics_" + std::to_string(getpid()) + ".csv";
  std::ofstream(path) << "header\n10,1,1,600,0.85,0.47,0.864,0.22,27138\n10,1,2,12";
  const auto rows = read_metrics(path);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);  // the second line was truncated by a crash
  EXPECT_EQ((*rows)[0].step, 600);
  EXPECT_EQ((*rows)[0].test_accuracy, 0.864);
  std::ofstream(path) << "header\n10,1,1,600,0.85,nonsense,0.864,0.22,27138\n";
  EXPECT_THAT(read_metrics(path).error().text(), HasSubstr(".csv:2"));
  fs::remove(path);
  EXPECT_TRUE(read_metrics(path)->empty());
}

TEST(LineCharts, TicksAreRoundAndCover) {
  EXPECT_THAT(
      ticks(0.93, 0.99, 6),
      ElementsAre(::testing::DoubleEq(0.93), ::testing::DoubleEq(0.94), ::testing::DoubleEq(0.95),
                  ::testing::DoubleEq(0.96), ::testing::DoubleEq(0.97), ::testing::DoubleEq(0.98),
                  ::testing::DoubleEq(0.99)));
  EXPECT_THAT(ticks(1, 3, 8, 1), ElementsAre(1, 2, 3));
  EXPECT_GE(ticks(5, 5, 6).size(), 2U);
  EXPECT_EQ(base::html_escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
}

}  // namespace
}  // namespace goban::train::trainer
