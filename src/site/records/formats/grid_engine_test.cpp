#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A line of the accounting file; defaults are those of a plain job of user ann.
struct Line {
  std::string queue = "all.q";
  std::string host = "h1";
  std::string name = "job.sh";
  std::string job = "5";
  std::string submit = "1554422400";
  std::string start = "1554422460";
  std::string end = "1554422520";
  std::string failed = "0";
  std::string exit = "0";
  std::string project = "NONE";
  std::string pe = "NONE";
  std::string slots = "1";
  std::string task = "0";
  std::string category = "-l h_rt=3600,gpu=2";
  std::string pe_task = "NONE";
  std::string tail{};  ///< from field 44

  [[nodiscard]] std::string text() const {
    std::string out = queue + ":" + host + ":users:ann:" + name + ":" + job + ":sge:0:" + submit +
                      ":" + start + ":" + end + ":" + failed + ":" + exit + ":60.5";
    for (int i = 15; i <= 31; ++i) out += ":0";
    return out + ":" + project + ":dept:" + pe + ":" + slots + ":" + task +
           ":12.5:1:0:" + category + ":0:" + pe_task + ":1048576" + tail + "\n";
  }
};

TEST(GridEngine, FieldsOfAJob) {
  const ReadTable read = read_table("# Version: 8.1.9\n#\n" + Line{}.text());
  EXPECT_EQ(read.summary.format, "grid-engine");
  ASSERT_THAT(read.ids(), ElementsAre("5"));
  EXPECT_EQ(read.summary.records, 1);
  const RecordRow& row = read.row(0);
  EXPECT_EQ(read.table.users()[row.user], "ann");
  EXPECT_EQ(read.table.groups()[row.group], "users");
  EXPECT_EQ(read.table.accounts()[row.account], "sge");
  EXPECT_EQ(read.table.partitions()[row.partition], "all.q");
  EXPECT_EQ(row.submit_ns, 1554422400 * base::kSecond);
  EXPECT_EQ(row.run_ns, 60 * base::kSecond);
  EXPECT_EQ(row.walltime_limit_ns, 3600 * base::kSecond);
  EXPECT_EQ(row.num_gpus, 2);
  EXPECT_EQ(row.num_nodes, 1);
  EXPECT_EQ(row.state, RecordedState::Completed);
  EXPECT_EQ(row.kind, JobKind::Batch);
  EXPECT_EQ(read.table.usage_of(row).cpu_s, 12.5);
  EXPECT_EQ(read.table.usage_of(row).mem_bytes_max, 1 << 20);
  EXPECT_THAT(read.node_names(0), ElementsAre("h1"));
}

TEST(GridEngine, MillisecondStampsAreToldByTheirSize) {
  Line line;
  line.submit = "1554422400123";
  line.start = "1554422460123";
  line.end = "1554422520999";
  const ReadTable read = read_table(line.text());
  EXPECT_EQ(read.row(0).submit_ns, 1554422400123 * 1'000'000);
  EXPECT_EQ(read.row(0).run_ns, 60876 * int64_t{1'000'000});
}

TEST(GridEngine, RunTimeMayBeTheWallclockField) {
  const std::string text = Line{}.text();
  ReadOptions options;
  options.site.run_time = GridRunTime::WallclockSeconds;
  const ReadTable seconds = read_table(text, options);
  EXPECT_EQ(seconds.row(0).run_ns, 60'500 * int64_t{1'000'000}) << "not end - start";
  EXPECT_EQ(seconds.row(0).start_ns, 1554422460 * base::kSecond);
  options.site.run_time = GridRunTime::WallclockMilliseconds;
  EXPECT_EQ(read_table(text, options).row(0).run_ns, 60'500 * int64_t{1'000});
  std::string broken = text;
  broken.replace(broken.find(":60.5:"), 6, ":long:");
  EXPECT_EQ(read_table(broken, options).summary.rejected, 1);
  EXPECT_EQ(read_table(broken).summary.rejected, 0) << "it was not requested";
}

TEST(GridEngine, From43To74Fields) {
  std::string text;
  int job = 1;
  for (const int fields : {43, 44, 45, 46, 55, 74}) {
    Line line{.job = std::to_string(job++)};
    for (int i = 44; i <= fields; ++i) line.tail += i == 47 ? ":NONE" : ":0";
    text += line.text();
  }
  const ReadTable read = read_table(text);
  EXPECT_THAT(read.reasons(), IsEmpty());
  EXPECT_EQ(read.table.rows().size(), 6u);
  EXPECT_EQ(read.row(5).state, RecordedState::Completed);
}

TEST(GridEngine, HowJobsEnd) {
  const auto state = [](const std::string& failed, const std::string& exit,
                        const std::string& qdel = "") {
    Line line{.failed = failed, .exit = exit};
    if (!qdel.empty()) line.tail = ":0:0:job:" + qdel;
    return read_table(line.text()).row(0).state;
  };
  EXPECT_EQ(state("0", "1"), RecordedState::Failed);
  EXPECT_EQ(state("37", "137"), RecordedState::TimedOut);
  EXPECT_EQ(state("100", "137"), RecordedState::Cancelled);
  EXPECT_EQ(state("100", "139"), RecordedState::Failed);
  EXPECT_EQ(state("100", "139", "root@master"), RecordedState::Cancelled);
  EXPECT_EQ(state("25", "0"), RecordedState::Requeued);
  EXPECT_EQ(state("26", "0"), RecordedState::Failed);
  Line limit{.end = "1554426100", .failed = "100", .exit = "137"};
  const ReadTable read = read_table(limit.text());
  EXPECT_EQ(read.row(0).state, RecordedState::TimedOut);  // its run time equals its limit
  EXPECT_EQ(read.row(0).signal, 9);
  EXPECT_EQ(read.row(0).failed_code, 100);
}

TEST(GridEngine, JobsThatNeverStarted) {
  const ReadTable read = read_table(Line{.start = "0", .end = "0", .failed = "26"}.text());
  EXPECT_EQ(read.row(0).start_ns, -1);
  EXPECT_EQ(read.row(0).run_ns, -1);
}

TEST(GridEngine, ResourcesOfTheSite) {
  const auto row = [](const std::string& category, const std::vector<std::string>& resources) {
    ReadOptions options;
    options.site.gpu_resources = resources;
    Line line{.pe = "mpi", .slots = "8", .category = category};
    ReadTable read = read_table(line.text(), options);
    return std::tuple(read.row(0).num_gpus, read.row(0).instances,
                      std::string(read.table.resource_types()[read.row(0).resource_type]));
  };
  using Row = std::tuple<int32_t, int32_t, std::string>;
  EXPECT_EQ(row("-l rt_F=16,h_rt=1:00:00 -pe mpi 8", {}), Row(64, 16, "Full"));
  EXPECT_EQ(row("-l rt_G.small=1", {}), Row(1, 1, "G.small"));
  EXPECT_EQ(row("-l rt_C.small=1", {}), Row(0, 1, "C.small"));
  EXPECT_EQ(row("-l gpu=1", {}), Row(1, 0, ""));
  EXPECT_EQ(row("-l gpu=1", {"gpu=1*slots"}), Row(8, 0, ""));
  EXPECT_EQ(row("-U x -l v100=2 -soft -l v100=9", {"v100=1"}), Row(2, 0, ""));
  EXPECT_EQ(row("-l rt_F=2", {"rt_F=8:Node"}), Row(16, 2, "Node"));
  EXPECT_EQ(row("-l mem_free=1.000T", {}), Row(0, 0, ""));
  ReadOptions options;
  options.site.gpu_resources = {"gpu"};
  EXPECT_THAT(read_error(Line{}.text(), options), HasSubstr("it must be NAME=GPUS"));
}

TEST(GridEngine, InteractiveJobs) {
  EXPECT_EQ(read_table(Line{.category = "-I y -l gpu=1"}.text()).row(0).kind, JobKind::Interactive);
  EXPECT_EQ(read_table(Line{.name = "QLOGIN"}.text()).row(0).kind, JobKind::Interactive);
  EXPECT_EQ(read_table(Line{.category = "-I n"}.text()).row(0).kind, JobKind::Batch);
}

TEST(GridEngine, LinesOfOtherHostsAreMergedWhicheverComesFirst) {
  const Line master{.pe = "mpi", .slots = "8", .category = "-l gpu=4"};
  Line early = master;
  early.host = "h2";
  early.submit = "0";
  early.end = "1554422500";
  early.pe_task = "1.h2";
  Line late = early;
  late.host = "h3";
  late.pe_task = "1.h3";
  const ReadTable read = read_table(early.text() + Line{.job = "6"}.text() + master.text() +
                                    early.text() + late.text());
  EXPECT_THAT(read.reasons(), IsEmpty());
  ASSERT_THAT(read.ids(), ElementsAre("6", "5"));
  EXPECT_THAT(read.node_names(1), ElementsAre("h1", "h2", "h3"));
  EXPECT_EQ(read.row(1).num_nodes, 3);
  EXPECT_EQ(read.row(1).num_gpus, 4);
  EXPECT_THAT(read.summary.notes, Contains("3 lines of other hosts were merged into their jobs"));
}

TEST(GridEngine, TasksWithoutTheirJobAreRefused) {
  Line task{.job = "8", .pe = "mpi", .pe_task = "1.h2"};
  const ReadTable read = read_table(Line{}.text() + task.text());
  EXPECT_THAT(read.reasons(), ElementsAre("2: a task of job 8 on h1, but the job has no record"));
  EXPECT_EQ(read.summary.records, 2);
}

TEST(GridEngine, ArrayTasksAndReruns) {
  Line rerun{.job = "9", .start = "1554422600", .end = "1554422700", .task = "3"};
  const ReadTable read = read_table(Line{.job = "9", .task = "3"}.text() + rerun.text() +
                                    Line{.job = "9", .task = "4"}.text() + rerun.text());
  EXPECT_THAT(read.ids(), ElementsAre("9.3", "9.3", "9.4"));
  EXPECT_EQ(read.row(1).run, 1);
  EXPECT_EQ(read.row(2).array_task, 4);
  EXPECT_THAT(read.reasons(), ElementsAre("4: job 9.3 with this start was used before"));
}

TEST(GridEngine, NumbersThatBeganAgainInTheNextFileAreOtherJobs) {
  RecordTable table;
  const auto read = [&table](const std::string& name, const std::string& text) {
    base::MemorySource source(text);
    return read_records(source, name, {}, table).value();
  };
  const Line again{.submit = "1654422400", .start = "1654422460", .end = "1654422520"};
  EXPECT_EQ(read("2019", Line{}.text()).rejected, 0);
  EXPECT_EQ(read("2022", again.text()).rejected, 0);
  EXPECT_EQ(read("copy", Line{}.text() + again.text()).rejected, 2);
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(table.rows()[0].run, 0);
  EXPECT_EQ(table.rows()[1].run, 1);
}

TEST(GridEngine, WhatMakesNoSenseIsRefusedWithItsReason) {
  const ReadTable read = read_table(
      Line{}.text() + "a:b:c\n" + Line{.slots = "x"}.text() + Line{.submit = "soon"}.text() +
      Line{.job = "7", .start = "1554422500", .end = "1554422499"}.text());
  EXPECT_THAT(read.reasons(), ElementsAre("2: 3 fields instead of 43 or more",
                                          "3: slots \"x\" is not an integer >= 0",
                                          "4: submission_time \"soon\" is not a valid time",
                                          "5: the job ended before it started"));
}

TEST(GridEngine, LinesGluedTogetherAreRefused) {
  const auto reasons = [](const std::string& text) {
    const ReadTable read = read_table(Line{.job = "1"}.text() + text + Line{.job = "9"}.text());
    EXPECT_THAT(read.ids(), ElementsAre("1", "9")) << text;
    return read.reasons();
  };
  const std::string line = Line{.job = "5", .pe = "mpi"}.text();
  const std::string whole = line.substr(0, line.size() - 1);
  EXPECT_THAT(reasons(whole + line),
              ElementsAre("2: 85 fields instead of at most 74: several lines in one"));
  // The write of a line ended anywhere, and another line follows it without a line end.
  for (size_t end = 12; end < whole.size(); ++end) {
    const auto found = reasons(whole.substr(0, end) + Line{.host = "h2", .job = "6"}.text());
    EXPECT_EQ(found.size(), 1U) << whole.substr(0, end);
  }
}

TEST(GridEngine, TornLinesAreRefusedAndNotMerged) {
  Line other{.host = "h2", .job = "5", .pe = "mpi", .tail = ":0:0"};
  const Line job{.job = "5", .pe = "mpi", .tail = ":0:0"};
  const std::string next = Line{.job = "6", .tail = ":0:0"}.text();
  const auto reasons = [&](const std::string& text) {
    const ReadTable read = read_table(job.text() + text + next);
    EXPECT_THAT(read.ids(), ElementsAre("6", "5"));
    EXPECT_EQ(read.row(1).num_nodes, 1) << text;
    return read.reasons();
  };
  const std::string text = other.text();
  for (size_t end = 12; end + 3 < text.size(); ++end) {
    EXPECT_EQ(reasons(text.substr(0, end) + "\n").size(), 1U) << text.substr(0, end);
  }
  EXPECT_THAT(reasons(Line{.host = "h2", .job = "5", .pe = "mpi"}.text()),
              ElementsAre("2: 43 fields between lines of 45: the line is torn"));
  other.pe_task = "NON";
  EXPECT_THAT(reasons(other.text()),
              ElementsAre("2: pe_taskid \"NON\" is neither NONE nor NUMBER.HOST"));
  other.pe_task = "1.h2";
  other.name = "job";
  EXPECT_THAT(reasons(other.text()), ElementsAre(HasSubstr("differs from that of job 5")));
  // The last line of a file that is being written.
  const ReadTable last = read_table(job.text() + Line{.job = "6"}.text());
  EXPECT_THAT(last.ids(), ElementsAre("5"));
  // A part of the file by an older version.
  const ReadTable older =
      read_table(job.text() + Line{.job = "6"}.text() + Line{.job = "7"}.text() + next);
  EXPECT_THAT(older.ids(), testing::UnorderedElementsAre("5", "6", "7"));
}

TEST(GridEngine, RealLines) {
  const auto path = base::test_data("fixtures/shredder/sge__accounting-logs.log");
  if (!path) GTEST_SKIP() << path.error().text();
  const ReadTable read = read_table_file(*path);
  EXPECT_EQ(read.summary.format, "grid-engine");
  // The second line is the same run of the same job with another category.
  EXPECT_EQ(read.summary.records, 2);
  ASSERT_EQ(read.table.rows().size(), 1u);
  EXPECT_EQ(read.row(0).run_ns, 60 * base::kSecond);
  EXPECT_EQ(read.row(0).walltime_limit_ns, 36000 * base::kSecond);
  EXPECT_EQ(read.row(0).num_gpus, 0);
}

}  // namespace
}  // namespace goban::site::records
