#include "records/record_table.hpp"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::records {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimeNs kMinute = 60 * base::kSecond;

AccountingRecord small_record(std::string_view id) {
  AccountingRecord record;
  record.id = id;
  record.user = "ann";
  record.submit_ns = 10 * kMinute;
  record.start_ns = 20 * kMinute;
  record.end_ns = 50 * kMinute;
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
  EXPECT_EQ(table.rows()[0].run_ns, 30 * kMinute);
}

TEST(RecordTable, NodeListsAreExpandedAndBadOnesCounted) {
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
  EXPECT_EQ(table.bad_node_lists(), 1);
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

TEST(RecordTable, EqualIdsOfOtherClustersAndOtherRunsAreOtherJobs) {
  RecordTable table;
  for (const std::string_view cluster : {"alpha", "beta"}) {
    for (const int32_t run : {0, 1}) {
      AccountingRecord record = small_record("7");
      record.cluster = cluster;
      record.run = run;
      EXPECT_THAT(table.take(record), IsEmpty()) << cluster << run;
      EXPECT_EQ(table.take(record), "job_id 7 was used before") << cluster << run;
    }
  }
}

TEST(RecordTable, ARecordComesBackAsItWas) {
  RecordTable table;
  table.begin_file({.name = "a.log", .format = "slurm"});
  AccountingRecord record = small_record("9_4");
  const std::array gpus = {GpuUse{"g1", "0", 55.5F, 1 << 20, 1 << 30}, GpuUse{"g1", "GPU-7", -1}};
  const std::array<std::string_view, 3> software = {"cuda/12", "python/3", "cuda/12"};
  record.gpus = gpus;
  record.software = software;
  record.node_list = "g1";
  record.state = JobState::TimedOut;
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
  EXPECT_EQ(back.state, JobState::TimedOut);
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

TEST(JobState, WordsOfManySystems) {
  EXPECT_EQ(parse_job_state("CANCELLED by 1000"), JobState::Cancelled);
  EXPECT_EQ(parse_job_state("CANCELLED+"), JobState::Cancelled);
  EXPECT_EQ(parse_job_state("OUT_OF_ME+"), JobState::OutOfMemory);
  EXPECT_EQ(parse_job_state("Pass"), JobState::Completed);
  EXPECT_EQ(parse_job_state("timeout"), JobState::TimedOut);
  EXPECT_EQ(parse_job_state("FOO"), std::nullopt);
  EXPECT_EQ(parse_job_state(""), std::nullopt);
  EXPECT_EQ(parse_job_state("C+"), std::nullopt);
  for (size_t i = 0; i < kNumJobStates; ++i) {
    const auto state = static_cast<JobState>(i);
    EXPECT_EQ(parse_job_state(job_state_name(state)), state);
  }
}

}  // namespace
}  // namespace goban::records
