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

TEST(TimeTable, RemediesAreNotWhatTheRunDoesAlready) {
  TimeTable table = run_of(1, 10, 4);
  table.options = {"--overlap delayed", "--loader-threads 2", "--data", "--test-limit 50"};
  EXPECT_THAT(bottleneck_of(table).remedy,
              testing::StartsWith("--overlap delayed is on already: use larger batches"));
  const auto remedy_of = [&](const char* part) {
    table.parts = {{part, 9}};
    return bottleneck_of(table).remedy;
  };
  EXPECT_THAT(remedy_of("input"), HasSubstr("--loader-threads 2 is on already"));
  EXPECT_THAT(remedy_of("input"), testing::Not(HasSubstr("pack")));
  EXPECT_THAT(remedy_of("evaluation"), HasSubstr("fewer samples than --test-limit 50"));
  const auto again = parse_time_table(to_json(table), "t.json");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->options, table.options);
  table.options.clear();
  EXPECT_THAT(remedy_of("input"), HasSubstr("add loader threads (--loader-threads), pack"));
  EXPECT_THAT(remedy_of("evaluation"), HasSubstr("(--test-limit)"));
  EXPECT_THAT(remedy_of("compute"), HasSubstr("(--precision)"));
}

TEST(TimeTable, NeighboursAreJoinedAndNothingIsLost) {
  TimeTable table{5001, {{"compute", 4000}, {"input", 1000}}};
  for (int i = 0; i < 5001; ++i) {
    table.intervals.push_back({static_cast<double>(i), i + 1.0, i, {{"compute", 0.5}}});
    table.intervals.back().parts.emplace_back(i % 2 == 0 ? "input" : "evaluation", 0.25);
  }
  auto joined = table.intervals;
  join_neighbours(joined);
  ASSERT_EQ(joined.size(), 1667U);  // by three
  EXPECT_DOUBLE_EQ(joined[1].begin_s, 3);
  EXPECT_DOUBLE_EQ(joined[1].end_s, 6);
  EXPECT_EQ(joined.back().step, 5000);
  double compute_s = 0;
  for (const TimeInterval& each : joined) compute_s += each.parts.at(0).second;
  EXPECT_DOUBLE_EQ(compute_s, 5001 * 0.5);
  EXPECT_DOUBLE_EQ(joined[1].parts.at(1).second, 0.5);  // evaluations at 3 and 5
  // The page has the slow interval that it would have passed over.
  table.intervals[1].parts = {{"checkpoint", 0.9}};
  EXPECT_THAT(to_html(table, "run"), HasSubstr("to step 2: checkpoint 0.9 s"));
  join_neighbours(joined, 1667);
  EXPECT_EQ(joined.size(), 1667U);
  EXPECT_LT(to_json({1, table.parts, joined}).size(), size_t{1} << 20);
}

TEST(TimeTable, NumbersThatContradictEachOtherAreRefused) {
  const auto with_parts = [](const std::string& parts) {
    const auto read =
        parse_time_table(R"({"version":1,"wall_s":10,"parts":[)" + parts + "]}", "t.json");
    return read ? "" : read.error().text();
  };
  const std::string compute = R"({"name":"compute","seconds":5})";
  EXPECT_EQ(with_parts(compute + R"(,{"name":"memory","seconds":5.05,"inside":true})"), "");
  EXPECT_THAT(with_parts(compute + R"(,{"name":"memory","seconds":6,"inside":true})"),
              HasSubstr("parts: has 6.000 s of 'memory' inside of 'compute', which has 5.000 s"));
  EXPECT_THAT(with_parts(R"({"name":"memory","seconds":1,"inside":true})"),
              HasSubstr("'memory', which is inside of no other part"));
  for (const auto& [field, value] :
       {std::pair("rate", R"("fast")"), std::pair("rate", "-1"), std::pair("limit", "[]"),
        std::pair("unit", "7"), std::pair("inside", "1"), std::pair("name", "{}")}) {
    const std::string name = std::string(field) == "name" ? "" : R"("name":"x",)";
    EXPECT_THAT(
        with_parts(compute + ",{" + name + R"("seconds":1,")" + field + "\":" + value + "}"),
        HasSubstr(std::string("parts[1].") + field));
  }
  const auto with_intervals = [&](const std::string& intervals) {
    const auto read = parse_time_table(
        R"({"version":1,"wall_s":10,"parts":[)" + compute + R"(],"intervals":[)" + intervals + "]}",
        "t.json");
    return read ? "" : read.error().text();
  };
  const std::string first = R"({"begin_s":0,"end_s":4,"step":5,"seconds":{"compute":4}})";
  EXPECT_EQ(with_intervals(first + R"(,{"begin_s":4,"end_s":10.05,"step":5,"seconds":{}})"), "");
  EXPECT_THAT(with_intervals(first + R"(,{"begin_s":3,"end_s":9,"step":6,"seconds":{}})"),
              HasSubstr("intervals[1]: begins at 3.000 s, before the end of the one before"));
  EXPECT_THAT(with_intervals(first + R"(,{"begin_s":5,"end_s":9,"step":4,"seconds":{}})"),
              HasSubstr("intervals[1]: ends at step 4, before"));
  EXPECT_THAT(with_intervals(first + R"(,{"begin_s":5,"end_s":11,"step":6,"seconds":{}})"),
              HasSubstr("intervals[1]: ends at 11.000 s, later than wall_s"));
  EXPECT_THAT(
      with_intervals(first + R"(,{"begin_s":5,"end_s":6,"step":6,"seconds":{"a":0.6,"b":0.6}})"),
      HasSubstr("intervals[1]: has parts of 1.200 s in all, more than its length (1.000 s)"));
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
  EXPECT_THAT(error(R"({"version":1,"wall_s":500,"parts":[{"name":"compute","seconds":2},)"
                    R"({"name":"other","seconds":1}]})"),
              HasSubstr("parts: has 3.000 s in all, less than wall_s (500.000 s)"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":1e308,"parts":[]})"), HasSubstr("wall_s"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":9,"parts":[{"name":"idle","seconds":2},)"
                    R"({"name":"idle","seconds":1}]})"),
              HasSubstr("parts: has 'idle' twice"));
  EXPECT_THAT(error(R"({"version":1,"wall_s":1,"parts":[{"name":"idle","seconds":1}],)"
                    R"("intervals":[{"begin_s":2,"end_s":1}]})"),
              HasSubstr("intervals[0]: must have begin_s <= end_s"));
}

}  // namespace
}  // namespace goban::base::reports
