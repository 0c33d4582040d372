// The table of a run's time, from measurements that are known.
#include "train/trainer/time_parts.hpp"

#include <gmock/gmock.h>

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
  const TimeTable table = time_table(known(), plan_of(), std::nullopt);
  double sum = 0;
  for (const TimePart& each : table.parts) sum += each.inside ? 0 : each.seconds;
  EXPECT_DOUBLE_EQ(sum, table.wall_s);
  EXPECT_DOUBLE_EQ(part(table, "compute").seconds, 5);  // 10 - 2 - 3
  EXPECT_DOUBLE_EQ(part(table, "other").seconds, 1);    // 16 - 10 - 4 - 1
  EXPECT_FALSE(part(table, "compute").limit);
  EXPECT_DOUBLE_EQ(part(table, "late ranks").seconds, 0.5);  // of the exposed communication
}

TEST(TimeParts, RatesStandBesideTheirLimits) {
  const mesh::CostModel limits{1e-6, 1e-9, 50e9, 2e9};
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
  EXPECT_EQ(bottleneck_of(table).part, "evaluation");
}

TEST(TimeParts, AnIntervalIsTheDifferenceOfTwoMeasurements) {
  RunTimes later = known();
  later.steps = {200, 25, 1, 3, 7, 1};
  later.evaluation_s = 6;
  const auto interval = time_interval(known(), later, 16, 34, 200);
  EXPECT_EQ(interval.step, 200);
  EXPECT_THAT(interval.parts,
              ::testing::ElementsAre(std::pair("input", 1.0), std::pair("compute", 10.0),
                                     std::pair("exposed communication", 4.0),
                                     std::pair("evaluation", 2.0), std::pair("checkpoint", 0.0)));
}

}  // namespace
}  // namespace goban::train::trainer
