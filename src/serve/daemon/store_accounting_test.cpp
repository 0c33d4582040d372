#include "serve/daemon/store_accounting.hpp"

#include <filesystem>
#include <gmock/gmock.h>

#include "serve/daemon/past_jobs.hpp"
#include "site/records/record_table.hpp"
#include "site/store/job_store.hpp"

namespace goban::serve::daemon {
namespace {

using testing::ElementsAre;

constexpr base::TimeNs kStart = 1'700'000'000 * base::kSecond;

struct StoreAccountingTest : testing::Test {
  StoreAccountingTest() {
    core::model::ClusterBuilder builder("lab");
    const uint32_t gpu = builder.add_gpu_model({.name = "virtual"});
    for (const char* name : {"n0", "n1"}) {
      core::model::ClusterBuilder::Placed placed;
      placed.node.name = name;
      placed.node.num_gpus = 2;
      placed.node.gpu_model = gpu;
      builder.add_node(placed);
    }
    cluster = *builder.build();
    job.job = core::model::JobId(6U);
    job.spec.owner.user = "alice";
    job.spec.num_gpus = 2;
    job.result = live::controller::JobResult::Completed;
    job.stage = live::controller::JobStage::Done;
    job.submit_ns = kStart;
    job.exit_code = 0;
    job.end_ns = kStart + 100 * base::kSecond;
    using core::model::GpuId;
    job.past = {
        {.run = 1,
         .start_ns = kStart + 10 * base::kSecond,
         .end_ns = kStart + 40 * base::kSecond,
         .gpus = {GpuId(0U), GpuId(1U)}},
        {.run = 2,
         .start_ns = kStart + 50 * base::kSecond,
         .end_ns = kStart + 100 * base::kSecond,
         .gpus = {GpuId(1U), GpuId(2U)},
         .usage = {.cpu_s = 12, .gpu_mem_bytes_max = 5, .gpu_util_pct = 40, .energy_j = 4500}}};
    folder =
        std::filesystem::temp_directory_path() / ("goban-accounting-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
  }
  ~StoreAccountingTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] live::loop::FinishedJob finished() const {
    return {.job = job, .cluster = std::make_shared<core::model::Cluster>(cluster)};
  }

  core::model::Cluster cluster;
  live::controller::LiveJob job;
  std::filesystem::path folder;
};

TEST_F(StoreAccountingTest, WhatAgentsSawOfAJobsSoftwareIsStored) {
  const std::string path = folder / "store.sqlite";
  StoreAccounting accounting(path, folder / "rejects", {}, [](core::model::JobId id) {
    return id == core::model::JobId(6U) ? std::vector<std::string>{"cuda/12", "libnccl.so.2"}
                                        : std::vector<std::string>{};
  });
  ASSERT_TRUE(accounting.record({finished()}));
  auto store = site::store::JobStore::open(path, false);
  ASSERT_TRUE(store) << store.error().text();
  site::records::RecordTable table;
  ASSERT_TRUE(store->read({}, table));
  ASSERT_FALSE(table.rows().empty());
  std::vector<std::string> names;
  for (const uint32_t name : table.software_of(table.rows()[0])) {
    names.emplace_back(table.software_names()[name]);
  }
  EXPECT_THAT(names, ElementsAre("cuda/12", "libnccl.so.2"));
}

TEST_F(StoreAccountingTest, ARecordForEveryRun) {
  const JobRecords made(job, cluster);
  ASSERT_EQ(made.records().size(), 2U);
  const auto& first = made.records()[0];
  const auto& last = made.records()[1];
  EXPECT_EQ(first.id, "7");
  EXPECT_EQ(first.state, site::records::RecordedState::Requeued);
  EXPECT_EQ(first.node_list, "n0");
  EXPECT_EQ(last.state, site::records::RecordedState::Completed);
  EXPECT_EQ(last.node_list, "n0,n1");
  EXPECT_EQ(last.gpus[1].gpu, "0");
  EXPECT_EQ(last.num_nodes, 2);
  EXPECT_EQ(last.usage.cpu_s, 12);
  EXPECT_EQ(last.usage.energy_j, 4500);
  EXPECT_EQ(last.gpus[0].util_pct, 40);
}

TEST_F(StoreAccountingTest, AJobThatNeverRanHasOneRecord) {
  job.past.clear();
  job.result = live::controller::JobResult::Cancelled;
  const JobRecords made(job, cluster);
  ASSERT_EQ(made.records().size(), 1U);
  EXPECT_EQ(made.records()[0].start_ns, -1);
  EXPECT_EQ(made.records()[0].state, site::records::RecordedState::Cancelled);
}

TEST_F(StoreAccountingTest, WritingTwiceIsWritingOnce) {
  const std::string path = folder / "store.sqlite";
  StoreAccounting accounting(path, folder / "rejected");
  for (int i = 0; i < 2; ++i) {
    const auto status = accounting.record({finished()});
    ASSERT_TRUE(status) << status.error().text();
  }
  auto store = site::store::JobStore::open(path, false);
  ASSERT_TRUE(store) << store.error().text();
  site::records::RecordTable table;
  const auto read = store->read({}, table);
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(table.rows().size(), 2U);
  EXPECT_EQ(table.rows()[1].end_ns, job.end_ns);
  EXPECT_EQ(table.rows()[1].run, 1);
  EXPECT_EQ(table.usage_of(table.rows()[1]).energy_j, 4500);
  EXPECT_EQ(table.usage_of(table.rows()[0]).energy_j, -1) << "not measured";
}

TEST_F(StoreAccountingTest, AFinishedJobIsReadBackAsItWas) {
  const std::string path = folder / "store.sqlite";
  job.spec.name = "train";
  job.spec.payload = "p1";
  job.spec.work_folder = "/home/alice";
  job.detail = "said \"no\"";
  job.past[1].ranks = {{.rank = 0, .ranks = 1, .steps = 5}};
  StoreAccounting accounting(path, folder / "rejected");
  StoredJobs past(path, "lab");
  ASSERT_TRUE(past.find({}).value().empty()) << "no store yet";
  ASSERT_TRUE(accounting.record({finished()}));
  const auto found = past.find({.user = "alice", .names = {{.first = job.job}}});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 1U);
  const live::controller::LiveJob& back = found->front();
  job.spec.payload.clear();
  job.past[1].ranks.clear();
  EXPECT_EQ(back.job, job.job);
  EXPECT_EQ(back.spec, job.spec);
  EXPECT_EQ(back.detail, job.detail);
  EXPECT_EQ(back.result, job.result);
  EXPECT_EQ(back.past.size(), 2U);
  EXPECT_EQ(back.past[1].gpus, job.past[1].gpus);
  EXPECT_EQ(back.past[1].usage, job.past[1].usage);
  EXPECT_EQ(stored_details(back), stored_details(job));
  EXPECT_TRUE(StoredJobs(path, "elsewhere").find({}).value().empty());
  EXPECT_TRUE(past.find({.names = {{.first = job.job, .task = 0}}}).value().empty());
}

TEST_F(StoreAccountingTest, SaysWhenThereIsNoStore) {
  StoreAccounting accounting(folder / "absent" / "store.sqlite", folder / "rejected");
  EXPECT_FALSE(accounting.record({finished()}));
}

}  // namespace
}  // namespace goban::serve::daemon
