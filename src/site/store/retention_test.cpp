// Hook records, and retention of old years; run on all databases by store_test.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/test_folder.hpp"
#include "site/store/test_store_checks.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ImportSummary import_seen_text(JobStore& store, const std::string& text) {
  const base::TestFolder folder;
  write_file(folder.path() + "/seen", text);
  auto summary = store.import_seen_file(folder.path() + "/seen", {});
  if (!summary) throw std::runtime_error(summary.error().text());
  return std::move(*summary);
}

/// `id: software; GPUs` of every job.
std::vector<std::string> software_of(JobStore& store) {
  RecordTable table;
  const auto read = store.read({}, table);
  EXPECT_TRUE(read);
  std::vector<std::string> out;
  RecordTable::RecordBuffers buffers;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const auto record = table.record(i, buffers);
    out.push_back(fmt::format("{}: {}", table.id(i), records::software_text(record.software)));
    for (const records::HeldGpu& gpu : record.gpus) {
      out.back() += fmt::format(" [{} {}]", gpu.node, gpu.gpu);
    }
  }
  return out;
}

std::vector<std::string> sums_of(JobStore& store) {
  std::vector<std::string> out;
  const auto status = store.daily_sums([&out](const DailySum& sum) {
    out.push_back(fmt::format("{} {} {} state {}: {} jobs, {} ran, {} gpu_s, {} node_s, {} wait_s",
                              sum.day, sum.user, sum.account, sum.state, sum.jobs, sum.ran,
                              sum.gpu_s, sum.node_s, sum.wait_s));
  });
  EXPECT_TRUE(status);
  return out;
}

std::string two_years() {
  return kSacct +
         sacct("1", "2020-03-30T10:00:00", "2020-03-30T10:01:00", "2020-03-30T11:01:00",
               "COMPLETED") +
         sacct("2", "2020-03-30T12:00:00", "2020-03-30T12:00:30", "2020-03-30T12:30:30",
               "COMPLETED") +
         sacct("3", "2020-03-31T23:00:00", "2020-04-01T01:00:00", "2020-04-01T02:00:00", "FAILED") +
         sacct("4", "2020-04-02T00:00:00", "2020-04-02T00:00:00", "2020-04-02T00:10:00",
               "COMPLETED");
}

}  // namespace

void check_seen(TestServer& server) {
  JobStore store = open_store(server.fresh());
  import_text(store, two_years());
  const std::string csv =
      "kind,time,job_id,name,node,extra\n"
      "modules,2020-03-30T10:02:00,1,gcc/9.3:cuda/10.2:gcc/9.3,,\n"
      ",2020-03-30T10:03:00,1,openmpi/4,,\n"
      "container,1585569900,2,docker://nvcr.io/nvidia/pytorch:20.03,,\n"
      "process,2020-03-30T12:10:00,2,/home/ann/secret/bin/python3 train.py,g1,\n"
      "gpus,2020-03-30T12:30:33,2,GPU-a GPU-b,g1,\n"
      "module,2020-04-20T00:00:00,3,too/late,,\n"
      "module,2019-04-20T00:00:00,4,too/early,,\n"
      "module,2020-03-30T10:02:00,99,no/such/job,,\n"
      "module,soon,1,x,,\n"
      "smell,2020-03-30T10:02:00,1,x,,\n"
      "module,2020-03-30T10:02:00,,x,,\n"
      "module,2020-03-30T10:02:00,1,,,\n"
      "module,2020-03-30T10:02:00\n";
  const ImportSummary summary = import_seen_text(store, csv);
  EXPECT_EQ(summary.read.records, 13);
  EXPECT_EQ(summary.written, 11);
  EXPECT_THAT(summary.read.ignored_columns, ElementsAre("extra"));
  std::vector<std::string> reasons;
  for (const records::Rejection& each : summary.read.first_rejections) {
    reasons.push_back(fmt::format("{}: {}", each.line, each.reason));
  }
  EXPECT_THAT(
      reasons,
      ElementsAre("10: time \"soon\" is not a valid date and time",
                  "11: kind \"smell\" is not one of module, modules, container, process, gpu, gpus",
                  "12: job_id is empty", "13: name is empty", "14: 2 fields instead of 6"));
  const std::vector<std::string> expected = {
      "1: cuda/10.2;gcc/9.3;openmpi/4",
      "2: docker://nvcr.io/nvidia/pytorch:20.03;process:python3 [g1 GPU-a] [g1 GPU-b]",
      "3: ", "4: "};
  const auto sorted = [&store] {
    auto out = software_of(store);
    // Names are numbered in order of arrival, which is the order in the record.
    out[0] = out[0] == "1: gcc/9.3;cuda/10.2;openmpi/4" ? "1: cuda/10.2;gcc/9.3;openmpi/4" : out[0];
    return out;
  };
  EXPECT_EQ(sorted(), expected);
  // The same lines in another file change nothing; a new dump of the jobs keeps the hook records.
  EXPECT_EQ(import_seen_text(store, csv + "\n").written, 11);
  JobImportOptions again;
  again.again = true;
  import_text(store, two_years(), again);
  EXPECT_EQ(sorted(), expected);
  EXPECT_EQ(**store.connection().query_whole("SELECT COUNT(*) FROM goban_seen"), 10);
  EXPECT_EQ(*store.lone_sightings(), 1);
  const base::TestFolder folder;
  write_file(folder.path() + "/seen", "time,name\n");
  const auto bad = store.import_seen_file(folder.path() + "/seen", {});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().text(), HasSubstr("the header has no column job_id"));
}

void check_seen_runs(TestServer& server) {
  JobStore store = open_store(server.fresh());
  import_text(store, kSacct +
                         sacct("7", "2024-02-01T10:00:00", "2024-02-01T10:10:00",
                               "2024-02-01T11:00:00", "REQUEUED") +
                         sacct("7", "2024-02-01T11:00:00", "2024-02-01T12:00:00",
                               "2024-02-01T13:00:00", "COMPLETED"));
  const std::string run =
      "modules,2024-02-01T{0}:10:05,7,cuda/12:/home/ann/modules/tool/3,g1\n"
      "container,2024-02-01T{0}:10:06,7,/home/ann/images/secret-project.sif,g1\n"
      "gpus,2024-02-01T{0}:50:00,7,GPU-a,g1\ngpus,2024-02-01T{0}:56:00,7,GPU-a,g1\n"
      "process,2024-02-01T{0}:20:00,7,python3,g1\nprocess,2024-02-01T{0}:21:00,7,python3,g1\n";
  import_seen_text(store, "kind,time,job_id,name,node\n" + fmt::format(fmt::runtime(run), 10));
  const std::string all = "7: cuda/12;3;secret-project.sif;process:python3 [g1 GPU-a]";
  EXPECT_THAT(software_of(store), ElementsAre(all, "7: "));
  import_seen_text(store, "kind,time,job_id,name,node\n" + fmt::format(fmt::runtime(run), 12));
  EXPECT_THAT(software_of(store), ElementsAre(all, all));
  EXPECT_EQ(**store.connection().query_whole("SELECT COUNT(*) FROM goban_names WHERE name LIKE "
                                             "'%/home/%'"),
            0);
}

void check_retention(TestServer& server) {
  JobStore store = open_store(server.fresh());
  import_text(store, two_years());
  const std::vector<std::string> expected = {
      "18351 ann acc state 5: 2 jobs, 2 ran, 10800 gpu_s, 5400 node_s, 90 wait_s",
      "18352 ann acc state 6: 1 jobs, 1 ran, 7200 gpu_s, 3600 node_s, 7200 wait_s",
      "18354 ann acc state 5: 1 jobs, 1 ran, 1200 gpu_s, 600 node_s, 0 wait_s"};
  EXPECT_EQ(sums_of(store), expected);
  EXPECT_THAT(*store.reduce_before(2020), ElementsAre(2019));
  EXPECT_EQ(sums_of(store), expected);
  EXPECT_THAT(years_of(store), ElementsAre(2020));
  EXPECT_THAT(*reduced_years(store.connection()), ElementsAre(2019));
  EXPECT_THAT(*store.reduce_before(2020), IsEmpty());

  // Jobs of a reduced year would be counted twice.
  JobImportOptions again;
  again.again = true;
  const ImportSummary summary = import_text(store, two_years(), again);
  EXPECT_EQ(summary.written, 1);
  ASSERT_EQ(summary.read.rejected, 3);
  EXPECT_EQ(summary.read.first_rejections[0].reason,
            "the store keeps only sums of fiscal year 2019");
  EXPECT_EQ(sums_of(store), expected);

  // Interrupted between the sums and the removal of the jobs: the jobs are valid.
  ASSERT_TRUE(store.connection().execute(
      "INSERT INTO goban_daily SELECT 2020,day,user_id,account_id,partition_id,resource_type_id,"
      "state,7,ran,gpu_s,node_s,wait_s FROM goban_daily WHERE day=18351"));
  EXPECT_EQ(sums_of(store), expected);
  EXPECT_THAT(*store.reduce_before(2021), ElementsAre(2020));
  EXPECT_EQ(sums_of(store), expected);
  EXPECT_THAT(*store.drop_before(2020), ElementsAre(2019));
  EXPECT_THAT(sums_of(store), ElementsAre(expected[2]));
}

void check_parts_of_gpus(TestServer& server) {
  JobStore store = open_store(server.fresh());
  // GPU-hours: 10 x 0.5; 6 x 0.75, as 1.5 are held by two; 1 x 0.25, as the number is unknown; 3.
  import_text(store,
              "job_id,user,account,submit_unix_s,start_unix_s,end_unix_s,num_gpus,gpu_milli\n"
              "1,a,x,0,0,3600,10,500\n2,b,x,0,0,3600,6,1500\n3,c,x,0,0,3600,,250\n"
              "4,d,x,0,0,3600,3,\n5,e,x,0,0,3600,1,2147483647\n");
  const auto sum = [](std::string_view user, std::string_view gpu_s) {
    return fmt::format("0 {} x state 0: 1 jobs, 1 ran, {} gpu_s, 0 node_s, 0 wait_s", user, gpu_s);
  };
  std::vector<std::string> sums = sums_of(store);
  ASSERT_EQ(sums.size(), 5u);
  sums.pop_back();  // an invalid part of a GPU: it only must not affect the others
  EXPECT_THAT(
      sums, ElementsAre(sum("a", "18000"), sum("b", "16200"), sum("c", "900"), sum("d", "10800")));
  RecordTable table;
  ASSERT_TRUE(store.read({}, table));
  for (size_t i = 0; i < sums.size(); ++i) {
    const records::RecordRow& row = table.rows()[i];
    const double gpu_s = 3600 * records::held_gpus(row.num_gpus, row.gpu_milli);
    EXPECT_THAT(sums[i], HasSubstr(fmt::format(" {} gpu_s", gpu_s)));
  }
}

}  // namespace goban::site::store
