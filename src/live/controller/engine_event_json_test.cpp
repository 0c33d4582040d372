// Events of engines in the journal: written and read back unchanged, also from earlier releases.
#include "live/controller/engine_event_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/controller/input.hpp"

namespace goban::live::controller {
namespace {

std::string again(const std::string& text) {
  const auto read = parse_input(text);
  if (!read) return read.error().text();
  return to_text(*read);
}

const std::vector<NodePart> kParts = {
    {.node = "n1", .gpus = {0, 3}, .cores = 8, .mem_bytes = int64_t{64} << 30}, {.node = "n2"}};

TEST(EngineEventJson, IsReadBackUnchanged) {
  JobSeen seen{.id = "8_3", .managed = true, .state = SeenState::Running};
  seen.run = {.job = JobId(7U), .run = 2};
  seen.spec.owner = {.uid = 0, .gid = 0, .user = "anna", .realm = "k8s"};
  seen.spec.num_gpus = 4;
  seen.spec.instances = 2;
  seen.spec.equal_indices = true;
  seen.spec.held = true;
  seen.array = "8";
  seen.blocked = "QOSMaxJobs";
  seen.submit_ns = 5;
  seen.start_ns = 9;
  seen.parts = kParts;
  const std::string text = to_text({.at_ns = 11, .input = seen});
  EXPECT_EQ(again(text), text);
  const auto read = parse_input(text);
  ASSERT_TRUE(read);
  const auto& back = std::get<JobSeen>(read->input);
  EXPECT_EQ(back.spec, seen.spec);
  EXPECT_EQ(back.parts, kParts);
  EXPECT_EQ(back.run, seen.run);
  EXPECT_EQ(back.state, SeenState::Running);

  const JobGone gone{
      .id = "8", .how = GoneHow::OutOfMemory, .exit_code = 1, .signal = 9, .detail = "oom"};
  const std::string gone_text = to_text({.at_ns = 11, .input = gone});
  EXPECT_EQ(again(gone_text), gone_text);
  EXPECT_NE(gone_text.find("out_of_memory"), std::string::npos);

  ClusterSeen cluster;
  cluster.nodes.push_back({.name = "n1",
                           .num_gpus = 4,
                           .gpu_model = "A100",
                           .gpu_mem_bytes = int64_t{80} << 30,
                           .cores = 64,
                           .mem_bytes = int64_t{512} << 30,
                           .state = SeenNodeState::Drained,
                           .reason = "fan",
                           .rack = "r1",
                           .zone = "z",
                           .site = "s",
                           .islands = 2,
                           .partitions = {"gpu", "short"}});
  cluster.nodes.push_back({.name = "n2"});
  const auto nodes = parse_input(to_text({.at_ns = 11, .input = cluster}));
  ASSERT_TRUE(nodes);
  EXPECT_EQ(std::get<ClusterSeen>(nodes->input), cluster);

  Report declined{.kind = ReportKind::Declined, .run = {JobId(7U), 2}, .parts = kParts};
  const auto report = parse_input(to_text({.at_ns = 11, .input = EngineReport{declined}}));
  ASSERT_TRUE(report);
  EXPECT_EQ(std::get<EngineReport>(report->input).report.parts, kParts);
  EXPECT_EQ(std::get<EngineReport>(report->input).report.kind, ReportKind::Declined);
  const Report ended{.kind = ReportKind::Ended, .run = {JobId(7U), 2}, .cancelled = true};
  const auto end = parse_input(to_text({.at_ns = 11, .input = EngineReport{ended}}));
  ASSERT_TRUE(end);
  EXPECT_TRUE(std::get<EngineReport>(end->input).report.cancelled);
}

TEST(EngineEventJson, MissingFieldsHaveTheirDefaults) {
  const auto seen = parse_input(R"({"at":1,"take":"job_seen","id":"8","of_later":{}})");
  ASSERT_TRUE(seen);
  EXPECT_FALSE(std::get<JobSeen>(seen->input).managed);
  EXPECT_FALSE(std::get<JobSeen>(seen->input).run.job.valid());
  EXPECT_TRUE(parse_input(R"({"at":1,"take":"job_gone","id":"8"})"));
  EXPECT_TRUE(parse_input(R"({"at":1,"take":"cluster_seen"})"));
  EXPECT_FALSE(parse_input(R"({"at":1,"take":"job_gone","id":"8","how":"vanished"})"));
}

TEST(EngineEventJson, EarlierReleasesNamedNodesByNumber) {
  const auto old =
      parse_input(R"({"at":1,"take":"report","report":{"kind":"node_down","node":3}})");
  ASSERT_TRUE(old);
  const Report& report = std::get<EngineReport>(old->input).report;
  EXPECT_EQ(report.node_id, NodeId(3U));
  EXPECT_EQ(report.node, "");
  EXPECT_EQ(again(to_text(*old)), to_text(*old));
  const auto now =
      parse_input(R"({"at":1,"take":"report","report":{"kind":"node_up","node":"n3"}})");
  ASSERT_TRUE(now);
  EXPECT_EQ(std::get<EngineReport>(now->input).report.node, "n3");
}

}  // namespace
}  // namespace goban::live::controller
