#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/date_time.hpp"
#include "base/test_data.hpp"
#include "site/records/test_reading.hpp"

namespace goban::site::records {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TimeNs at(const std::string& text) { return base::parse_date_time(text)->unix_ns; }

/// An object; `rest` follows its metadata.
std::string object(const std::string& kind, const std::string& uid, const std::string& rest,
                   const std::string& metadata = "") {
  return R"({"apiVersion":"v1","kind":")" + kind +
         R"(","metadata":{"name":"secret","namespace":"ns",)" + R"("uid":")" + uid +
         R"(","creationTimestamp":"2024-02-29T23:59:50Z")" + metadata + "}" + rest + "}";
}
std::string list(const std::string& items) {
  return R"({"apiVersion":"v1","kind":"List","items":[)" + items + "]}";
}
std::string owned_by(const std::string& uid) {
  return R"(,"ownerReferences":[{"uid":")" + uid + R"("}])";
}

const std::string kJob = object(
    "Job", "j1",
    R"(,"spec":{"parallelism":4,"completions":2,"activeDeadlineSeconds":3600,"template":{"spec":{"containers":[
       {"resources":{"limits":{"nvidia.com/gpu":"2","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Mi"}}}]}}},
       "status":{"startTime":"2024-03-01T00:00:00Z","completionTime":"2024-03-01T00:01:00Z",
       "conditions":[{"type":"Complete","status":"True","lastTransitionTime":"2024-03-01T00:01:00Z"}]})");

TEST(Kubernetes, FieldsOfAJob) {
  const ReadTable read = read_table(list(kJob));
  EXPECT_EQ(read.summary.format, "kubernetes");
  EXPECT_THAT(read.reasons(), IsEmpty());
  ASSERT_THAT(read.ids(), ElementsAre("j1"));
  const RecordRow& row = read.row(0);
  EXPECT_EQ(read.table.accounts()[row.account], "ns");
  EXPECT_EQ(row.submit_ns, at("2024-02-29 23:59:50"));
  EXPECT_EQ(row.start_ns, at("2024-03-01 00:00:00"));
  EXPECT_EQ(row.run_ns, 60 * base::kSecond);
  EXPECT_EQ(row.num_gpus, 4);  // two pods at once suffice for two completions
  EXPECT_EQ(row.cpu_cores, 1);
  EXPECT_EQ(row.mem_bytes, int64_t{2} << 30);
  EXPECT_EQ(row.walltime_limit_ns, 3600 * base::kSecond);
  EXPECT_EQ(row.state, RecordedState::Completed);
}

TEST(Kubernetes, TheWorkloadTellsTheQueueAndThePodsTheNodes) {
  const std::string workload = object(
      "Workload", "w1",
      R"(,"spec":{"queueName":"lq","priority":7,"podSets":[]},"status":{"requeueState":{"count":2},
         "admission":{"podSetAssignments":[{"flavors":{"nvidia.com/gpu":"a100"}}]},"conditions":[
         {"type":"Admitted","status":"True","lastTransitionTime":"2024-03-01T00:00:01Z"},
         {"type":"PodsReady","status":"True","lastTransitionTime":"2024-03-01T00:00:05Z"}]})",
      owned_by("j1"));
  const auto pod = [](const std::string& uid, const std::string& node, const std::string& exit) {
    return object("Pod", uid,
                  R"(,"spec":{"nodeName":")" + node +
                      R"("},"status":{"phase":"Succeeded","containerStatuses":[{"image":"torch:2",
                      "state":{"terminated":{"exitCode":)" +
                      exit + R"(,"finishedAt":"2024-03-01T00:00:59Z"}}}]})",
                  owned_by("j1"));
  };
  const ReadTable read = read_table(list(pod("p1", "n2", "0") + "," + workload + "," + kJob + "," +
                                         pod("p2", "n1", "3") + "," + object("Node", "x", "")));
  ASSERT_THAT(read.ids(), ElementsAre("j1"));
  const RecordRow& row = read.row(0);
  EXPECT_EQ(read.table.partitions()[row.partition], "lq");
  EXPECT_EQ(read.table.gpu_types()[row.gpu_type], "a100");
  EXPECT_EQ(row.priority, 7);
  EXPECT_EQ(row.restarts, 2);
  EXPECT_EQ(row.eligible_ns, at("2024-03-01 00:00:01"));
  EXPECT_EQ(row.start_ns, at("2024-03-01 00:00:05"));
  EXPECT_EQ(row.exit_code, 3);
  EXPECT_THAT(read.node_names(0), ElementsAre("n1", "n2"));
  ASSERT_EQ(read.table.software_of(row).size(), 1u);
  EXPECT_EQ(read.table.software_names()[read.table.software_of(row)[0]], "torch:2");
  EXPECT_THAT(read.summary.notes, ElementsAre(HasSubstr("1 objects are neither")));
}

TEST(Kubernetes, WhatIsLeftOfJobsThatAreGone) {
  const std::string workload = object(
      "Workload", "w1",
      R"(,"spec":{"queueName":"lq","maximumExecutionTimeSeconds":60,"podSets":[{"count":3,"template":{"spec":{
         "containers":[{"resources":{"requests":{"nvidia.com/mig-1g.10gb":2}}}]}}}]},
         "status":{"conditions":[
         {"type":"Admitted","status":"True","lastTransitionTime":"2024-03-01T00:00:01Z"},
         {"type":"Finished","status":"True","reason":"Failed","lastTransitionTime":"2024-03-01T00:00:05Z"}]})",
      owned_by("gone1"));
  const std::string pod =
      object("Pod", "p1",
             R"(,"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}]},
         "status":{"phase":"Failed","startTime":"2024-03-01T00:00:00Z","containerStatuses":[{"state":
         {"terminated":{"exitCode":137,"reason":"OOMKilled","finishedAt":"2024-03-01T00:00:59Z"}}}]})",
             owned_by("gone2"));
  const ReadTable read = read_table(workload + "\n" + pod);
  ASSERT_THAT(read.ids(), UnorderedElementsAre("w1", "gone2"));
  const RecordRow& row = read.row(0);
  EXPECT_EQ(row.num_gpus, 6);
  EXPECT_TRUE(row.gpu_share);
  EXPECT_EQ(read.table.gpu_types()[row.gpu_type], "1g.10gb");
  EXPECT_EQ(row.state, RecordedState::Failed);
  EXPECT_EQ(row.start_ns, at("2024-03-01 00:00:01"));
  EXPECT_EQ(row.walltime_limit_ns, 60 * base::kSecond);
  EXPECT_EQ(read.row(1).state, RecordedState::OutOfMemory);
  EXPECT_EQ(read.row(1).num_gpus, 1);
}

TEST(Kubernetes, WaitingRunningAndSuspended) {
  const ReadTable read = read_table(list(
      object("Job", "a", R"(,"spec":{},"status":{})") + "," +
      object("Job", "b", R"(,"spec":{},"status":{"startTime":"2024-03-01T00:00:00Z"})") + "," +
      object("Job", "c",
             R"(,"spec":{},"status":{"conditions":[{"type":"Suspended","status":"True"}]})") +
      "," +
      object("Job", "d", R"(,"spec":{},"status":{"startTime":"2024-03-01T00:00:00Z","conditions":[
        {"type":"Failed","status":"True","reason":"DeadlineExceeded","lastTransitionTime":"2024-03-01T00:00:09Z"}]})")));
  ASSERT_EQ(read.table.rows().size(), 4u);
  EXPECT_EQ(read.row(0).state, RecordedState::Pending);
  EXPECT_EQ(read.row(1).state, RecordedState::Running);
  EXPECT_EQ(read.row(1).end_ns, -1);
  EXPECT_EQ(read.row(2).state, RecordedState::Pending);
  EXPECT_EQ(read.row(3).state, RecordedState::TimedOut);
  EXPECT_EQ(read.row(3).run_ns, 9 * base::kSecond);
}

TEST(Kubernetes, AWatchShowsAnObjectSeveralTimes) {
  const std::string first = object("Job", "a", R"(,"spec":{},"status":{})");
  const ReadTable read = read_table(
      R"({"type":"ADDED","object":)" + first + "}\n" + R"({"type":"MODIFIED","object":)" +
      object("Job", "a", R"(,"spec":{},"status":{"startTime":"2024-03-01T00:00:00Z"})") + "}");
  ASSERT_THAT(read.ids(), ElementsAre("a"));
  EXPECT_EQ(read.row(0).state, RecordedState::Running);
}

TEST(Kubernetes, WhatMakesNoSenseIsRefusedWithItsReason) {
  const ReadTable read = read_table(R"({"apiVersion":"v1","kind":"Job","metadata":{"uid":"u"}})"
                                    "\n"
                                    R"({"apiVersion":"v1"})"
                                    "\n"
                                    R"({"apiVersion":"v1","kind":})"
                                    "\n");
  EXPECT_THAT(read.reasons(), ElementsAre("1: Job without metadata.uid or creationTimestamp",
                                          "2: kind is missing", "3: not a JSON object"));
  EXPECT_THAT(read_error(list(kJob).substr(0, 300)), HasSubstr("ends within an object"));
}

TEST(Kubernetes, TheFormatIsToldHoweverSmallTheReadsAre) {
  EXPECT_THAT(read_table("\n" + list(kJob), {}, 1).ids(), ElementsAre("j1"));
  EXPECT_THAT(read_error("[{\"when\": 1}]"), HasSubstr("no job format matches this JSON"));
}

TEST(Kubernetes, RealObjectsOfKueue) {
  const auto path = base::test_data("k8s-samples/kueue-workloads.json");
  if (!path) GTEST_SKIP() << path.error().text();
  const ReadTable read = read_table_file(*path);
  EXPECT_EQ(read.summary.format, "kubernetes");
  EXPECT_THAT(read.reasons(), IsEmpty());
  ASSERT_GE(read.table.rows().size(), 2u);
  EXPECT_EQ(read.row(0).num_gpus, 8);
}

}  // namespace
}  // namespace goban::site::records
