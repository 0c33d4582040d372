#include "base/reports/time_table.hpp"

#include <gmock/gmock.h>

namespace goban::base::reports {
namespace {

using ::testing::HasSubstr;

TimeTable run_of(double input_s, double compute_s, double exposed_s) {
  return {input_s + compute_s + exposed_s,
          {{"input", input_s, 900, 1000, "samples/s", false},
           {"compute", compute_s, 50, 100, "Gflop/s", false},
           {"memory bandwidth", compute_s / 2, {}, {}, "", true},
           {"exposed communication", exposed_s, {}, 2, "GB/s", false}}};
}

TEST(TimeTable, TheBottleneckIsTheLargestPartThatIsWorthIt) {
  EXPECT_EQ(bottleneck_of(run_of(5, 10, 2)).part, "input");
  EXPECT_EQ(bottleneck_of(run_of(1, 10, 4)).part, "exposed communication");
  EXPECT_EQ(bottleneck_of(run_of(0.1, 10, 0.4)).part, "compute");
  EXPECT_DOUBLE_EQ(bottleneck_of(run_of(5, 10, 5)).share, 0.25);
  EXPECT_THAT(bottleneck_of(run_of(1, 10, 4)).remedy, HasSubstr("--overlap buckets"));
}

TEST(TimeTable, IsReadAsWritten) {
  TimeTable table = run_of(5, 10, 2);
  table.intervals = {{0, 8, 10, {{"compute", 6}, {"input", 1}}}, {8, 17, 20, {{"compute", 9}}}};
  const auto again = parse_time_table(to_json(table), "t.json");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_text(*again), to_text(table));
  EXPECT_EQ(to_json(*again), to_json(table));
  EXPECT_THAT(to_text(table), HasSubstr("900 of 1000 samples/s (90 %)"));
  EXPECT_THAT(to_text(table), HasSubstr("  of it memory bandwidth"));
  EXPECT_THAT(to_text(table), HasSubstr("bottleneck: input (29.4 %)"));
}

TEST(TimeTable, ThePageDrawsEachIntervalWithItsParts) {
  TimeTable table = run_of(5, 10, 5);
  table.intervals = {{0, 10, 7, {{"compute", 4}, {"<b>", 5}}}, {10, 20, 14, {{"compute", 20}}}};
  const std::string page = to_html(table, "a <run>");
  EXPECT_THAT(page, HasSubstr("<h1>a &lt;run&gt;</h1>"));
  // 10 of 20 s are half of the width; 4 of 10 s are 40 % of the height.
  EXPECT_THAT(page, HasSubstr("<rect x=\"0.00\" y=\"120.00\" width=\"480.00\" height=\"80.00\""));
  EXPECT_THAT(page, HasSubstr("to step 7: &lt;b&gt; 5 s (50.0 %)"));
  EXPECT_THAT(page, HasSubstr("to step 7: other 1 s (10.0 %)"));
  EXPECT_THAT(page, HasSubstr("<rect x=\"480.00\" y=\"0.00\" width=\"480.00\" height=\"200.00\""));
  EXPECT_THAT(page, HasSubstr("bottleneck: input (25.0 %)"));
  EXPECT_THAT(to_html(run_of(1, 1, 1), ""), HasSubstr("has no intervals"));
}

TEST(TimeTable, FilesOfOlderReleasesHaveNoIdleTimeAndNoLimitsOfCheckpoints) {
  const auto old =
      parse_time_table(R"({"version":1,"wall_s":10,"parts":[{"name":"compute","seconds":9},)"
                       R"({"name":"checkpoint","seconds":0.3},{"name":"other","seconds":0.7}]})",
                       "t.json");
  ASSERT_TRUE(old) << old.error().text();
  EXPECT_THAT(to_text(*old), HasSubstr("checkpoint                   0.300 s    3.0 %\n"));
  EXPECT_THAT(to_text(*old), ::testing::Not(HasSubstr("idle")));
  TimeTable now = *old;
  now.parts.back().name = "idle";
  EXPECT_EQ(bottleneck_of(now).part, "idle");
  EXPECT_THAT(bottleneck_of(now).remedy, HasSubstr("what else runs on the machine"));
  now.intervals = {{0, 10, 5, {{"compute", 9}, {"idle", 1}}}};
  EXPECT_THAT(to_html(now, "run"), HasSubstr("fill=\"#f0e442\"><title>to step 5: idle 1 s"));
}

TEST(TimeTable, BadFilesAreNamedByField) {
  const auto error = [](const char* text) {
    const auto read = parse_time_table(text, "t.json");
    return read ? "" : read.error().text();
  };
  EXPECT_THAT(error(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(error(R"({"version":2,"wall_s":1,"parts":[]})"), HasSubstr("newer Goban"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":-1,"parts":[]})"), HasSubstr("wall_s"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":1,"parts":[{"name":"x"}]})"),
              HasSubstr("parts[0].seconds"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":1,"parts":[]})"), HasSubstr("parts: is empty"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":0.01,"parts":[{"name":"compute","seconds":2}]})"),
              HasSubstr("parts: has 2.000 s in all, more than wall_s (0.010 s)"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":9,"parts":[{"name":"idle","seconds":2},)"
                    R"({"name":"idle","seconds":1}]})"),
              HasSubstr("parts: has 'idle' twice"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":1,"parts":[{"name":"idle","seconds":1}],)"
                    R"("intervals":[{"begin_s":2,"end_s":1}]})"),
              HasSubstr("intervals[0]: must have begin_s <= end_s"));
}

}  // namespace
}  // namespace goban::base::reports
