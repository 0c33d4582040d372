// The table of a run's time, from measurements that are known.
#include "train/trainer/time_parts.hpp"

#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <thread>

#include "base/test_folder.hpp"
#include "train/trainer/write_rate.hpp"

namespace goban::train::trainer {
namespace {

using base::reports::TimePart;
using base::reports::TimeTable;

TimePart part(const TimeTable& table, const std::string& name) {
  for (const TimePart& each : table.parts) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << name;
  return {};
}

RunTimes known() {
  RunTimes times;
  times.steps = {100, 10, 1, 2, 3, 1, 0.5};  // steps, seconds, squares, input, exposed, reducing,
                                             // until the last rank arrived
  times.wall_s = 16;
  times.evaluation_s = 4;
  times.checkpoint_s = 1;
  times.samples = 1000;
  times.preparing = {.threads = 2, .read_s = 1, .busy_s = 4, .read_bytes = 50'000'000};
  times.preparing.sent_s = 2;
  times.preparing.sent_bytes = 6'000'000'000;
  times.idle_s = 0.75;
  times.evaluated = 2000;
  times.saved_bytes = 30'000'000;
  return times;
}

mesh::Plan plan_of() {
  mesh::Plan plan;
  plan.totals.flops = 1e9;
  plan.totals.sent_bytes = 40'000'000;
  plan.totals.updated_bytes = 10'000'000;
  return plan;
}

TEST(TimeParts, AddUpToTheWholeTime) {
  const TimeTable table = time_table(known(), plan_of(), {});
  double sum = 0;
  for (const TimePart& each : table.parts) sum += each.inside ? 0 : each.seconds;
  EXPECT_DOUBLE_EQ(sum, table.wall_s);
  EXPECT_DOUBLE_EQ(part(table, "compute").seconds, 5);  // 10 - 2 - 3
  EXPECT_DOUBLE_EQ(part(table, "idle").seconds, 0.75);  // of 16 - 10 - 4 - 1
  EXPECT_DOUBLE_EQ(part(table, "other").seconds, 0.25);
  for (const char* name : {"compute", "checkpoint", "evaluation"}) {
    EXPECT_FALSE(part(table, name).limit) << name;
  }
  EXPECT_THAT(table.parts,
              testing::Not(testing::Contains(testing::Field(&TimePart::name, "memory bandwidth"))))
      << "its limit is not known";
  EXPECT_DOUBLE_EQ(part(table, "late ranks").seconds, 0.5);  // of the exposed communication
}

TEST(TimeParts, RatesStandBesideTheirLimits) {
  const RunLimits limits{mesh::CostModel{1e-6, 1e-9, 50e9, 2e9}, 800, 120e6};
  const TimeTable table = time_table(known(), plan_of(), limits);
  EXPECT_DOUBLE_EQ(part(table, "input").rate.value_or(0), 100);    // 1000 samples in 10 s
  EXPECT_DOUBLE_EQ(part(table, "input").limit.value_or(0), 500);   // two threads busy for 2 s each
  EXPECT_DOUBLE_EQ(part(table, "storage").seconds, 0.5);           // a quarter of the input
  EXPECT_DOUBLE_EQ(part(table, "storage").limit.value_or(0), 50);  // MB/s while reading
  EXPECT_DOUBLE_EQ(part(table, "host to device").seconds, 1);      // half of the input
  EXPECT_DOUBLE_EQ(part(table, "host to device").limit.value_or(0), 3);  // GB/s while sending
  EXPECT_TRUE(part(table, "host to device").inside);
  EXPECT_DOUBLE_EQ(part(table, "compute").rate.value_or(0), 20);  // 100 Gflop in 5 s
  EXPECT_DOUBLE_EQ(part(table, "compute").limit.value_or(0), 50);
  EXPECT_DOUBLE_EQ(part(table, "memory bandwidth").seconds, 0.5);              // 1 GB at 2 GB/s
  EXPECT_DOUBLE_EQ(part(table, "exposed communication").rate.value_or(0), 1);  // 4 GB in 4 s
  EXPECT_DOUBLE_EQ(part(table, "checkpoint").rate.value_or(0), 30);            // 30 MB in 1 s
  EXPECT_DOUBLE_EQ(part(table, "checkpoint").limit.value_or(0), 120);
  EXPECT_EQ(part(table, "checkpoint").unit, "MB/s");
  EXPECT_DOUBLE_EQ(part(table, "evaluation").rate.value_or(0), 500);  // 2000 samples in 4 s
  EXPECT_DOUBLE_EQ(part(table, "evaluation").limit.value_or(0), 800);
  EXPECT_EQ(bottleneck_of(table).part, "evaluation");
}

TEST(TimeParts, LateRanksArePartOfTheExposedTime) {
  RunTimes times = known();
  times.steps.late_s = 3.5;  // of two threads that wait at the same time
  EXPECT_DOUBLE_EQ(part(time_table(times, plan_of(), {}), "late ranks").seconds, 3);
}

TEST(TimeParts, AdvisedOptionsAreThoseInUse) {
  TrainOptions options;
  EXPECT_THAT(advised_options(options), testing::IsEmpty());
  options.overlap = mesh::Overlap::Buckets;
  options.data_dir = "train-{0..3}.tar";
  options.precision = mesh::DType::BF16;
  options.test_limit = 50;
  EXPECT_THAT(advised_options(options),
              testing::ElementsAre("--loader-threads auto", "--data", "--overlap buckets",
                                   "--precision", "--test-limit 50"));
}

TEST(TimeParts, ARunWithoutCheckpointsHasNoRateForThem) {
  RunTimes times = known();
  times.saved_bytes = 0;
  times.checkpoint_s = 0;
  const TimeTable table = time_table(times, plan_of(), {});
  EXPECT_FALSE(part(table, "checkpoint").rate);
}

TEST(TimeParts, IdleIsWhatNeitherWorksNorBelongsToAPart) {
  IdleTime time;
  time.leave({10, 10.5, 1, 0});    // its processor was lost while the clocks were read
  time.enter({11.5, 12, 1.5, 0});  // 1.5 of 2 s without a processor
  time.leave({20, 20, 9, 3});      // a step: not counted
  time.enter({21, 21, 10, 3.5});   // busy, but half a second of it waiting for others
  EXPECT_DOUBLE_EQ(time.seconds(), 2);
  time.leave({30, 30, 11, 3.5});
  time.count({31, 31, 13, 3.5});  // clocks that disagree
  EXPECT_DOUBLE_EQ(time.seconds(), 2);
  time.count({32, 32, 13, 3.5});
  EXPECT_DOUBLE_EQ(time.seconds(), 3);
}

TEST(TimeParts, AThreadThatSleepsIsIdleAndOneThatWorksIsNot) {
  IdleTime time;
  time.leave(moment_of(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  time.count(moment_of(0));
  EXPECT_GE(time.seconds(), 0.045);
  const Moment before = moment_of(0);
  volatile double sum = 0;
  while (moment_of(0).cpu_s - before.cpu_s < 0.05) sum = sum + 1;
  const Moment after = moment_of(0);
  IdleTime busy;
  busy.leave(before);
  busy.enter(after);
  EXPECT_LE(busy.seconds(), after.end_s - before.begin_s - 0.045);
}

TEST(TimeParts, AnIntervalIsTheDifferenceOfTwoMeasurements) {
  RunTimes later = known();
  later.steps = {200, 25, 1, 3, 7, 1};
  later.evaluation_s = 6;
  later.idle_s = 1.5;
  const auto interval = time_interval(known(), later, 16, 34, 200);
  EXPECT_EQ(interval.step, 200);
  EXPECT_THAT(
      interval.parts,
      ::testing::ElementsAre(std::pair("input", 1.0), std::pair("compute", 10.0),
                             std::pair("exposed communication", 4.0), std::pair("evaluation", 2.0),
                             std::pair("checkpoint", 0.0), std::pair("idle", 0.75)));
}

TEST(WriteRate, IsMeasuredAndLeavesNothing) {
  const base::TestFolder folder;
  for (const int64_t bytes : {int64_t{1000}, int64_t{3} << 20}) {
    const auto rate = measured_write_rate(folder.path(), bytes);
    ASSERT_TRUE(rate);
    EXPECT_GT(*rate, 1000);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_FALSE(measured_write_rate(folder / "absent", 1000));
  EXPECT_FALSE(measured_write_rate(folder.path(), 0));
}

}  // namespace
}  // namespace goban::train::trainer
