#include "site/records/record_table.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.hpp"

namespace goban::site::records {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AccountingRecord small_record(std::string_view id) {
  AccountingRecord record;
  record.id = id;
  record.user = "ann";
  record.submit_ns = 10 * base::kMinute;
  record.start_ns = 20 * base::kMinute;
  record.end_ns = 50 * base::kMinute;
  record.num_gpus = 4;
  return record;
}

std::vector<std::string> node_names(const RecordTable& table, size_t row) {
  std::vector<std::string> names;
  for (const uint32_t node : table.nodes_of(table.rows()[row])) {
    names.emplace_back(table.node_names()[node]);
  }
  return names;
}

TEST(RecordTable, NamesAreKeptOnceAndEmptyOnesNotAtAll) {
  RecordTable table;
  for (const std::string_view id : {"1", "2", "3"}) {
    AccountingRecord record = small_record(id);
    record.user = id == "2" ? "bob" : "ann";
    ASSERT_THAT(table.take(record), IsEmpty());
  }
  EXPECT_EQ(table.users().size(), 2u);
  EXPECT_EQ(table.rows()[0].user, table.rows()[2].user);
  EXPECT_EQ(table.users()[table.rows()[1].user], "bob");
  EXPECT_EQ(table.rows()[0].account, kNoName);
  EXPECT_EQ(table.accounts()[kNoName], "");
  EXPECT_EQ(table.rows()[0].run_ns, 30 * base::kMinute);
}

TEST(RecordTable, NodeListsAreExpandedAndBadOnesEmpty) {
  RecordTable table;
  for (const std::string_view nodes : {"g[01-03],login", "g02", "g[1", "g[01-03],login", ""}) {
    AccountingRecord record = small_record("x");
    const std::string id = std::to_string(table.rows().size());
    record.id = id;
    record.node_list = nodes;
    ASSERT_THAT(table.take(record), IsEmpty());
  }
  EXPECT_THAT(node_names(table, 0), ElementsAre("g01", "g02", "g03", "login"));
  EXPECT_THAT(node_names(table, 1), ElementsAre("g02"));
  EXPECT_THAT(node_names(table, 2), IsEmpty());
  EXPECT_EQ(table.rows()[0].nodes, table.rows()[3].nodes);
  EXPECT_EQ(table.rows()[4].nodes, kNoList);
  EXPECT_EQ(table.rows()[2].nodes, kNoList);
}

TEST(RecordTable, RefusesWhatCannotBe) {
  RecordTable table;
  ASSERT_THAT(table.take(small_record("1")), IsEmpty());
  EXPECT_EQ(table.take(small_record("1")), "job_id 1 was used before");
  EXPECT_EQ(table.take(small_record("")), "job_id is empty");
  AccountingRecord record = small_record("2");
  record.end_ns = record.start_ns - 1;
  EXPECT_EQ(table.take(record), "the job ended before it started");
  record = small_record("2");
  record.start_ns = record.submit_ns - 1;
  EXPECT_EQ(table.take(record), "the job started before it was submitted");
  record = small_record("2");
  record.num_gpus = int64_t{1} << 40;
  EXPECT_THAT(table.take(record), HasSubstr("out of range"));
  EXPECT_EQ(table.rows().size(), 1u);
}

TEST(RecordTable, EqualIdsOfOtherClustersAndOtherStartsAreOtherJobs) {
  RecordTable table;
  for (const std::string_view cluster : {"alpha", "beta"}) {
    for (const int run : {0, 1}) {
      AccountingRecord record = small_record("7");
      record.cluster = cluster;
      record.start_ns += run * base::kMinute;
      EXPECT_THAT(table.take(record), IsEmpty()) << cluster << run;
      EXPECT_EQ(table.take(record), "job_id 7 was used before") << cluster << run;
      EXPECT_EQ(table.rows().back().run, run);
    }
  }
}

TEST(RecordTable, AttemptsWithoutTimesAreToldByTheirNumber) {
  RecordTable table;
  AccountingRecord record = small_record("7");
  record.start_ns = record.end_ns = -1;
  record.state = RecordedState::Requeued;
  ASSERT_THAT(table.take(record), IsEmpty());
  record.run = 1;
  record.state = RecordedState::Failed;
  ASSERT_THAT(table.take(record), IsEmpty());
  EXPECT_EQ(table.take(record), "job_id 7 was used before");
  EXPECT_EQ(table.rows()[1].run, 1);
}

AccountingRecord in_state(RecordedState state) {
  AccountingRecord record = small_record("7");
  record.state = state;
  if (state == RecordedState::Pending) record.start_ns = -1;
  if (!has_ended(state)) record.end_ns = -1;
  return record;
}

TEST(RecordTable, AnEndTakesThePlaceOfWhatWasNotOver) {
  RecordTable table;
  table.begin_file({.name = "monday", .format = "slurm"});
  ASSERT_THAT(table.take(in_state(RecordedState::Pending)), IsEmpty());
  ASSERT_THAT(table.take(small_record("8")), IsEmpty());
  table.begin_file({.name = "tuesday", .format = "slurm"});
  ASSERT_THAT(table.take(in_state(RecordedState::Running)), IsEmpty());
  EXPECT_EQ(table.rows()[0].state, RecordedState::Running);
  EXPECT_EQ(table.take(in_state(RecordedState::Pending)), "job_id 7 was used before");
  EXPECT_EQ(table.take(in_state(RecordedState::Running)), "job_id 7 was used before");
  ASSERT_THAT(table.take(in_state(RecordedState::Completed)), IsEmpty());
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(table.rows()[0].state, RecordedState::Completed);
  EXPECT_EQ(table.rows()[0].end_ns, 50 * base::kMinute);
  EXPECT_EQ(table.files()[table.rows()[0].file], "tuesday");
  EXPECT_EQ(table.id(0), "7");
  EXPECT_EQ(table.id(1), "8");
}

TEST(RecordTable, AnOldDumpDoesNotBringBackWhatIsOver) {
  RecordTable table;
  ASSERT_THAT(table.take(in_state(RecordedState::Completed)), IsEmpty());
  for (const RecordedState state : {RecordedState::Pending, RecordedState::Running}) {
    EXPECT_EQ(table.take(in_state(state)), "job_id 7 was used before, and its end is known");
  }
  AccountingRecord rerun = in_state(RecordedState::Pending);
  rerun.submit_ns = 60 * base::kMinute;
  EXPECT_THAT(table.take(rerun), IsEmpty()) << "submitted again";
  EXPECT_EQ(table.rows().size(), 2u);
}

TEST(RecordTable, NumbersOfRowsAreOfTheirFile) {
  RecordTable table;
  const auto take = [&table](std::string_view file, bool ids_are_rows) {
    table.begin_file({.name = file, .format = "x", .ids_are_rows = ids_are_rows});
    return table.take(small_record("0"));
  };
  EXPECT_THAT(take("a.csv", true), IsEmpty());
  EXPECT_THAT(take("b.csv", true), IsEmpty());
  EXPECT_EQ(take("a.csv", true), "job_id 0 was used before") << "the same file again";
  EXPECT_THAT(take("c.csv", false), IsEmpty());
  EXPECT_EQ(take("d.csv", false), "job_id 0 was used before");
  EXPECT_EQ(table.rows().size(), 3u);
}

TEST(RecordTable, ARecordComesBackAsItWas) {
  RecordTable table;
  table.begin_file({.name = "a.log", .format = "slurm"});
  AccountingRecord record = small_record("9_4");
  const std::array gpus = {HeldGpu{"g1", "0", 55.5F, 1 << 20, 1 << 30}, HeldGpu{"g1", "GPU-7", -1}};
  const std::array<std::string_view, 3> software = {"cuda/12", "python/3", "cuda/12"};
  record.gpus = gpus;
  record.software = software;
  record.node_list = "g1";
  record.state = RecordedState::TimedOut;
  record.kind = JobKind::Batch;
  record.usage.cpu_s = 12.5;
  record.job_number = 9;
  record.array_task = 4;
  ASSERT_THAT(table.take(record), IsEmpty());
  RecordTable::RecordBuffers buffers;
  const AccountingRecord back = table.record(0, buffers);
  EXPECT_EQ(back.id, "9_4");
  EXPECT_EQ(back.user, "ann");
  EXPECT_EQ(back.end_ns, record.end_ns);
  EXPECT_EQ(back.state, RecordedState::TimedOut);
  EXPECT_EQ(back.kind, JobKind::Batch);
  EXPECT_EQ(back.usage, record.usage);
  EXPECT_EQ(back.job_number, 9);
  EXPECT_EQ(back.node_list, "g1");
  EXPECT_THAT(back.software, ElementsAre("cuda/12", "python/3"));
  ASSERT_EQ(back.gpus.size(), 2u);
  EXPECT_EQ(back.gpus[0].util_pct, 55.5F);
  EXPECT_EQ(back.gpus[1].gpu, "GPU-7");
  EXPECT_EQ(table.files()[table.rows()[0].file], "a.log");
}

TEST(RecordedState, WordsOfManySystems) {
  EXPECT_EQ(parse_job_state("CANCELLED by 1000"), RecordedState::Cancelled);
  EXPECT_EQ(parse_job_state("CANCELLED+"), RecordedState::Cancelled);
  EXPECT_EQ(parse_job_state("OUT_OF_ME+"), RecordedState::OutOfMemory);
  EXPECT_EQ(parse_job_state("Pass"), RecordedState::Completed);
  EXPECT_EQ(parse_job_state("timeout"), RecordedState::TimedOut);
  EXPECT_EQ(parse_job_state("FOO"), std::nullopt);
  EXPECT_EQ(parse_job_state(""), std::nullopt);
  EXPECT_EQ(parse_job_state("C+"), std::nullopt);
  for (size_t i = 0; i < kNumJobStates; ++i) {
    const auto state = static_cast<RecordedState>(i);
    EXPECT_EQ(parse_job_state(job_state_name(state)), state);
  }
}

}  // namespace
}  // namespace goban::site::records
