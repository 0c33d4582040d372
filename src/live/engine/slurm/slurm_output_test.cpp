// Output of Slurm 22.05.8, recorded from the fixture (tests/slurm/slurm_site.py): held, running,
// ended, requeued jobs, an array, a heterogeneous job, and jobs whose users wrote what Slurm
// prints.
#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "base/text_file.hpp"
#include "live/engine/slurm/job_list.hpp"
#include "live/engine/slurm/job_parts.hpp"
#include "live/engine/slurm/node_list.hpp"
#include "live/engine/slurm/orders.hpp"
#include "live/engine/slurm/version.hpp"

namespace goban::live::engine::slurm {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::string recorded(const std::string& name) {
  return base::read_text_file(GOBAN_SOURCE_DIR "/tests/corpus/slurm_output/" + name).value();
}

std::map<std::string, JobRow> rows() {
  std::map<std::string, JobRow> out;
  const auto list = parse_job_list(recorded("job_list.txt"), "~0f3a");
  EXPECT_TRUE(list) << list.error().text();
  for (const JobRow& row : *list) out[row.id()] = row;
  return out;
}

TEST(SlurmOutput, JobList) {
  const auto jobs = rows();
  EXPECT_EQ(jobs.size(), 24U);  // 24 lines, each job once
  const JobRow& one = jobs.at("1");
  EXPECT_EQ(one.state, "RUNNING");
  EXPECT_EQ(one.nodes, "n2");
  EXPECT_EQ(one.mark, "goban:1.1");
  EXPECT_EQ(jobs.at("20").comment, "") << "a comment with line breaks, of its user";
  EXPECT_EQ(one.start_ns, 1795436211 * base::kSecond);
  EXPECT_EQ(one.priority, 4294901757);
  EXPECT_TRUE(one.batch && one.requeue);
  EXPECT_FALSE(jobs.at("11").batch) << "srun";
  EXPECT_EQ(jobs.at("7").limit_ns, 3600 * base::kSecond);
  EXPECT_EQ(jobs.at("7").mem_bytes, int64_t{1000} << 20);
  EXPECT_EQ(jobs.at("7").eligible_ns, 1795439807 * base::kSecond);
  EXPECT_EQ(jobs.at("7").start_ns, jobs.at("7").eligible_ns);
  EXPECT_EQ(jobs.at("15").exit_status, 768) << "exit 3";
  EXPECT_EQ(jobs.at("16").exit_status, 9);
  EXPECT_EQ(jobs.at("4").dependency, "afterok:1(unfulfilled)");
  EXPECT_EQ(jobs.at("5").het_job, 5);
  EXPECT_EQ(jobs.at("6").het_job, 5);
  EXPECT_EQ(jobs.at("3_0").job, 3);
  EXPECT_EQ(jobs.at("3_4").job, 13) << "an update gave it a number of its own";
  EXPECT_EQ(jobs.at("3_3").restarts, 1);
  EXPECT_FALSE(jobs.contains("3"));
}

/// Without accounting, Slurm takes any account, and prints it.
TEST(SlurmOutput, AnAccountBreaksNoRecord) {
  std::string text = recorded("job_list.txt");
  const std::string before = "(null)~0f3a";
  const std::string account = "lab\x1f\x1f\n7\x1fN/A\x1f";
  text.replace(text.find(before), before.size(), account + "~0f3a");
  const auto list = parse_job_list(text, "~0f3a");
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_EQ(list->size(), 24U);
  EXPECT_EQ(list->front().account, account);
}

TEST(SlurmOutput, JobListErrorsNameLineAndField) {
  const std::string text = recorded("job_list.txt");
  const auto error = [](const std::string& list) {
    return parse_job_list(list, "~0f3a").error().text();
  };
  EXPECT_THAT(error(text.substr(0, text.size() - 1)),
              HasSubstr("squeue:24: Comment: the record does not end"));
  EXPECT_THAT(error("slurm_load_jobs error: Unable to contact\n"),
              HasSubstr("squeue:1: JobID: is missing"));
  std::string other = text;
  other.replace(other.find("RUNNING"), 7, "RUNNING\x1f");
  EXPECT_THAT(error(other), HasSubstr("squeue:20: PriorityLong"));
}

TEST(SlurmOutput, UserTextBreaksNoRecord) {
  const auto words = parse_job_words(recorded("job_words.txt"), "~0f3a");
  ASSERT_TRUE(words) << words.error().text();
  std::map<std::string, JobWords> of;
  for (const JobWords& each : *words) of[each.id()] = each;
  EXPECT_EQ(of.size(), 24U);
  EXPECT_EQ(of.at("2").name, "evil\nJobId=99 UserId=root(0)|x $(id)");
  EXPECT_EQ(of.at("10").tres_per_node, "gres:gpu:x\ny:1");
  EXPECT_FALSE(of.contains("99"));
  const auto jobs = rows();
  const auto gpus = [&](const char* id) { return requested_gpus(of.at(id), jobs.at(id))->count; };
  EXPECT_EQ(gpus("1"), 2);
  EXPECT_EQ(gpus("8"), 3) << "--gpus=3";
  EXPECT_EQ(gpus("9"), 4) << "--gpus-per-task=1, four tasks";
  EXPECT_EQ(gpus("21"), 4) << "two on each of two nodes";
  EXPECT_EQ(gpus("7"), 0);
  EXPECT_THAT(parse_job_words(recorded("job_words.txt"), "~0f3b").error().text(),
              HasSubstr("JobID"));
}

TEST(SlurmOutput, IndicesOfRunningJobs) {
  const auto parts = [](const char* file, std::string_view name) {
    const auto all = parse_job_parts(recorded(file), name);
    EXPECT_TRUE(all) << file << all.error().text();
    return all.value_or(std::vector<NodePart>{});
  };
  EXPECT_THAT(parts("show_job_1.txt", "job.sh"),
              ElementsAre(NodePart{.node = "n2", .gpus = {1, 3}}));
  EXPECT_THAT(parts("show_job_12.txt", "job.sh"), ElementsAre(NodePart{.node = "n3", .gpus = {1}}))
      << "requeued: types of count 0 are listed";
  EXPECT_THAT(
      parts("show_job_two_nodes.txt", "job.sh"),
      ElementsAre(NodePart{.node = "n3", .gpus = {2, 3}}, NodePart{.node = "n4", .gpus = {2, 3}}));
  // Its name and its comment hold a line of the form of Slurm's, with another node.
  EXPECT_THAT(
      parts("show_job_forged.txt",
            "x UserId=root(0) MinCPUsNode=1\n   Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:g0:1(IDX:0) "),
      ElementsAre(NodePart{.node = "n4", .gpus = {0}}));
  EXPECT_THAT(parse_job_parts(recorded("show_job_1.txt"), "job").error().text(),
              HasSubstr("another name"));
  EXPECT_THAT(*gpu_indices("gpu:4(IDX:0-2,5),shard:g7:2(IDX:7)"), ElementsAre(0, 1, 2, 5, 7));
  EXPECT_FALSE(gpu_indices("gpu:g1:1"));
  EXPECT_EQ(gpu_indices("shard:2(0/4,0/4,2/4,0/4)").value(), (std::vector<int32_t>{2})) << "24.11";
  EXPECT_EQ(gpu_indices("gpu:g0:1(IDX:0),shard:5(0/4,4/4,1/4)").value(),
            (std::vector<int32_t>{0, 1, 2}));
  EXPECT_FALSE(gpu_indices("shard:2(2/4,x)"));
  EXPECT_FALSE(gpu_indices("shard:2(5/4)"));
  EXPECT_FALSE(gpu_indices("shard:2"));
  EXPECT_FALSE(gpu_indices("gpu:g1:1(IDX:a)"));
}

TEST(SlurmOutput, PartsOfAComponentOfAHeterogeneousJob) {
  const std::string record =
      "JobId=1 HetJobId=1 HetJobOffset=0 JobName=a b HetJobIdSet=1-2 UserId=nobody(65534) "
      "JOB_GRES=gpu:g0:1   Nodes=n1 CPU_IDs=0-1 Mem=0 GRES=gpu:g0:1(IDX:0) MinCPUsNode=2 \n"
      "JobId=2 HetJobId=1 HetJobOffset=1 JobName=a b HetJobIdSet=1-2 UserId=nobody(65534) "
      "JOB_GRES=gpu:g1:1   Nodes=n2 CPU_IDs=0-1 Mem=0 GRES=gpu:g1:1(IDX:1) MinCPUsNode=2 \n";
  const auto parts = parse_job_parts(record, "a b");
  ASSERT_TRUE(parts);
  const std::vector<NodePart> own = {{.node = "n1", .gpus = {0}}};
  EXPECT_EQ(*parts, own) << "the leader's record is followed by those of the others";
  EXPECT_FALSE(parse_job_parts(record, "a"));
}

/// What was cut off is noticed at every place: half a queue would end jobs.
TEST(SlurmOutput, ATruncatedListIsAnError) {
  const std::string list = recorded("job_list.txt");
  const std::string words = recorded("job_words.txt");
  for (size_t size = 1; size < list.size(); ++size) {
    const auto rows = parse_job_list(list.substr(0, size), "~0f3a");
    EXPECT_EQ(rows.has_value(), list.substr(0, size).ends_with("~0f3a\n")) << size;
  }
  for (size_t size = 1; size < words.size(); ++size) {
    const std::string part = words.substr(0, size);
    const auto all = parse_job_words(part, "~0f3a");
    EXPECT_TRUE(!all || part.ends_with("~0f3a\n")) << size;
  }
}

TEST(SlurmOutput, TheOrderOfRecordsDoesNotMatter) {
  const auto list = parse_job_list(recorded("job_list.txt"), "~0f3a").value();
  std::string text = recorded("job_list.txt");
  std::vector<std::string> records;
  for (size_t end = text.find("~0f3a\n"); end != text.npos; end = text.find("~0f3a\n")) {
    records.push_back(text.substr(0, end + 6));
    text.erase(0, end + 6);
  }
  std::ranges::reverse(records);
  std::ranges::rotate(records, records.begin() + 7);
  std::string other;
  for (const std::string& record : records) other += record;
  const auto reordered = parse_job_list(other, "~0f3a").value();
  EXPECT_EQ(reordered.size(), list.size());
  EXPECT_TRUE(std::ranges::is_permutation(reordered, list));
}

TEST(SlurmOutput, NamesMayHoldAnyByte) {
  std::string name;
  for (int byte = 1; byte < 256; ++byte) name += static_cast<char>(byte);
  for (const std::string& each : {name, std::string("\x1f"), std::string("~0f3"), name + name}) {
    const std::string n = "~0f3a";
    const std::string record = "12" + n + "12" + n + "N/A" + n + "ann" + n + each + n + "N/A" + n +
                               "gres:gpu:2" + n + "N/A" + n + "N/A" + n + "n[1-2]" + n + "ib" + n +
                               "\n";
    const auto words = parse_job_words(record + record, n);
    ASSERT_TRUE(words) << words.error().text();
    ASSERT_EQ(words->size(), 2U);
    EXPECT_EQ(words->front().name, each);
    EXPECT_EQ(words->front().tres_per_node, "gres:gpu:2");
    EXPECT_EQ(words->front().nodes, "n[1-2]");
    EXPECT_EQ(words->front().features, "ib");
    const auto parts =
        parse_job_parts("JobId=12 JobName=" + each +
                            " UserId=ann(7) Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:1(IDX:3) "
                            "MinCPUsNode=1",
                        each);
    ASSERT_TRUE(parts) << parts.error().text();
    EXPECT_THAT(*parts, ElementsAre(NodePart{.node = "n1", .gpus = {3}}));
  }
}

/// Words of other languages are no numbers and no states: errors name the field.
TEST(SlurmOutput, ALocaleIsNotGuessed) {
  std::string text = recorded("job_list.txt");
  text.replace(text.find("365-00:00:00"), 12, "365 Tage");
  EXPECT_THAT(parse_job_list(text, "~0f3a").error().text(), HasSubstr("TimeLimit"));
  text = recorded("job_list.txt");
  text.replace(text.find("1795436644"), 10, "2026-11-23T08:00:00");
  EXPECT_THAT(parse_job_list(text, "~0f3a").error().text(), HasSubstr("SubmitTime"));
}

/// Slurm 24.11 and 20.11, as their squeue printed it for jobs of the same requests.
TEST(SlurmOutput, OtherReleases) {
  const auto count = [](const JobWords& words) {
    return requested_gpus(words, {.num_nodes = 1, .tasks = 4})->count;
  };
  EXPECT_EQ(count({.tres_per_node = "gres/gpu:2"}), 2);
  EXPECT_EQ(count({.tres_per_node = "gres/gpu:g1:1,gres/gpu:g3:1"}), 2);
  EXPECT_EQ(count({.tres_per_task = "cpu=2,gres/gpu=1"}), 4);
  EXPECT_EQ(count({.tres_per_node = "gpu:g1:1,gpu:g3:1"}), 2);
  EXPECT_EQ(count({.tres_per_task = "cpu=2"}), 0);
  std::string text = recorded("job_list.txt");
  const auto status = [&](std::string_view now) {
    std::string other = text;
    other.replace(other.find("\x1f"
                             "768\x1f") +
                      1,
                  3, now);
    const auto list = parse_job_list(other, "~0f3a");
    if (!list) return -1;
    for (const JobRow& row : *list) {
      if (row.id() == "15") return row.exit_status;
    }
    return -1;
  };
  EXPECT_EQ(status("3:0"), 768);
  EXPECT_EQ(status("0:9"), 9);
  EXPECT_EQ(status("768"), 768);
  EXPECT_EQ(status("3:"), -1);
  EXPECT_EQ(status("300:0"), -1);
  const Mark mark{.epoch = 7, .run = {JobId{11U}, 2}};
  const std::vector<std::string> types = {"g0", "g1"};
  const std::vector<NodePart> parts = {{.node = "n2", .gpus = {1}}};
  EXPECT_THAT(*place_lines("5", parts, mark, Indices::Types, types, gres_prefix({20, 11})),
              HasSubstr(" TresPerNode=gpu:g1:1 "));
  EXPECT_THAT(*place_lines("5", parts, mark, Indices::Types, types, gres_prefix({24, 11})),
              HasSubstr(" TresPerNode=gres:gpu:g1:1 "));
}

TEST(SlurmOutput, Nodes) {
  const auto nodes = parse_node_list(recorded("show_node.txt"));
  ASSERT_TRUE(nodes) << nodes.error().text();
  ASSERT_EQ(nodes->size(), 4U);
  const NodeRow& first = nodes->front();
  EXPECT_EQ(first.node.name, "n1");
  EXPECT_EQ(first.node.num_gpus, 4);
  EXPECT_THAT(first.index_types, ElementsAre("g0", "g1", "g2", "g3"));
  EXPECT_EQ(first.shards, 16);
  EXPECT_EQ(first.node.state, SeenNodeState::Drained);
  EXPECT_THAT(first.node.reason, HasSubstr("disk broken"));
  EXPECT_EQ(nodes->back().node.state, SeenNodeState::Up);
  EXPECT_EQ(first.node.mem_bytes, int64_t{5000} << 20);
  EXPECT_THAT(first.partitions, ElementsAre("gpu"));
  const auto both = parse_node_list(
      "NodeName=n1 CPUTot=4 RealMemory=1 Gres=gpu:g0:1 State=IDLE\n"
      "NodeName=n2 CPUTot=4 RealMemory=1 Gres=gpu:a100:1 State=IDLE\n"
      "NodeName=n3 CPUTot=4 RealMemory=1 Gres=gpu:g0:1,gpu:g1:1 State=IDLE\n");
  ASSERT_TRUE(both);
  EXPECT_THAT(both->at(0).index_types, ElementsAre("g0"));
  EXPECT_THAT(both->at(1).index_types, ElementsAre()) << "of one GPU: a model";
  EXPECT_EQ(both->at(1).node.gpu_model, "a100");
  EXPECT_EQ(node_state("DOWN*+DRAIN"), SeenNodeState::Down);
  EXPECT_EQ(node_state("MIXED*"), SeenNodeState::Drained);
  EXPECT_EQ(node_state("IDLE+NOT_RESPONDING"), SeenNodeState::Drained) << "as scontrol says it";
  EXPECT_EQ(node_state("IDLE+NOT_RESPONDING+POWERING_UP"), SeenNodeState::Up);
  EXPECT_EQ(node_state("DOWN+POWERED_DOWN+NOT_RESPONDING"), SeenNodeState::Down)
      << "it did not wake up within ResumeTimeout";
  EXPECT_EQ(node_state("IDLE+POWERED_DOWN"), SeenNodeState::Up) << "it wakes for a job";
  const auto row_of = [](std::string_view state) {
    const std::string record =
        fmt::format("NodeName=n1 CPUTot=4 RealMemory=1 Gres=gpu:1 State={}", state);
    return parse_node_list(record + "\n").value().front();
  };
  EXPECT_EQ(row_of("MIXED+NOT_RESPONDING").node.reason, "its slurmd does not answer");
  EXPECT_TRUE(row_of("MIXED+NOT_RESPONDING").silent) << "soon it may be given up";
  EXPECT_FALSE(row_of("DOWN+NOT_RESPONDING").silent) << "it was";
  EXPECT_FALSE(row_of("IDLE+NOT_RESPONDING+POWERING_UP").silent);
  const auto sleeps = [&](std::string_view state) { return row_of(state).sleeps; };
  EXPECT_FALSE(sleeps("MIXED"));
  for (const char* state : {"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "POWERING_UP"}) {
    EXPECT_TRUE(sleeps(fmt::format("IDLE+{}", state))) << state;
  }
}

TEST(SlurmOrders, ShardsOfOneGpu) {
  const std::vector<std::string> types = {"g0", "g1"};
  const std::vector<NodePart> parts = {{.node = "n2", .gpus = {1}}};
  EXPECT_THAT(
      place_lines("5", parts, {}, Indices::Types, types, "gres:", "", {.count = 3}).value(),
      HasSubstr("update jobid=5 TresPerNode=\nupdate jobid=5 TresPerNode=gres:shard:g1:3 "));
  const ShardUse again{.count = 3, .named = true};
  EXPECT_TRUE(place_lines("5", parts, {}, Indices::Types, types, "gres:", "", again)
                  .value()
                  .starts_with("update jobid=5 TresPerNode=gres:shard:g1:3 "));
  const auto request = [](const char* gres) {
    return requested_gpus({.job = 5, .tres_per_node = gres}, {.num_nodes = 1, .tasks = 1}).value();
  };
  EXPECT_EQ(request("gres:shard:g1:3").shards, 3);
  EXPECT_EQ(request("gres/shard=2").shards, 2);
  EXPECT_EQ(request("gres:shard").shards, 1);
  EXPECT_EQ(request("gres:shard:2").count, 1);
  EXPECT_EQ(request("gres:gpu:1").shards, 0);
  EXPECT_EQ(request("gres:shard:2,gres:nic:1").shards, 0);
  EXPECT_EQ(request("gres:sharding:2").shards, 0);
  EXPECT_EQ(request("gres:gpu:a100").count, 1);
  EXPECT_EQ(request("gres:gpu:a100").type, "a100");
  EXPECT_EQ(request("gres/gpu:g1,gres/gpu:g3=1").count, 2);
  EXPECT_EQ(request("gres:gpu").count, 1);
}

TEST(SlurmOrders, NodesSleepAndWake) {
  EXPECT_EQ(power_lines("n-2", true).value(), "update nodename=n-2 state=power_down\n");
  EXPECT_EQ(power_lines("n2", false).value(), "update nodename=n2 state=power_up\n");
  EXPECT_FALSE(power_lines("n2 state=down", true));
}

TEST(SlurmOutput, ABatchJobWhoseLaunchFailedOnceIsStillOne) {
  std::string text = recorded("job_list.txt");
  const std::string nonce = "~0f3a";
  ASSERT_TRUE(parse_job_list(text, nonce));
  // 1 before: restarts 0, BatchFlag 1, Requeue 1.
  const std::string before =
      "\x1f"
      "0\x1f"
      "1\x1f"
      "1\x1f";
  const size_t at = text.find(before);
  ASSERT_NE(at, text.npos);
  text.replace(at, before.size(),
               "\x1f"
               "0\x1f"
               "2\x1f"
               "1\x1f");
  const auto rows = parse_job_list(text, nonce);
  ASSERT_TRUE(rows) << rows.error().text();
  EXPECT_TRUE(std::ranges::any_of(*rows, &JobRow::batch));
}

TEST(SlurmOrders, AnOrderClearsAndSets) {
  const std::vector<NodePart> parts = {{.node = "n2", .gpus = {1, 3}},
                                       {.node = "n4", .gpus = {1, 3}}};
  const std::vector<std::string> types = {"g0", "g1", "g2", "g3"};
  const Mark mark{.epoch = 7, .run = {JobId{11U}, 2}};
  EXPECT_EQ(*place_lines("8_3", parts, mark, Indices::Types, types),
            "update jobid=8_3 TresPerNode=\n"
            "update jobid=8_3 TresPerNode=gres:gpu:g1:1,gres:gpu:g3:1 ReqNodeList=n2,n4 "
            "AdminComment=goban:7.11.2 StartTime=now\n");
  EXPECT_EQ(*place_lines("5", parts, mark, Indices::Nodes, {}),
            "update jobid=5 ReqNodeList=n2,n4 AdminComment=goban:7.11.2 StartTime=now\n");
  EXPECT_THAT(*place_lines("5", parts, mark, Indices::Nodes, {}, "gres:", "", {}, true),
              EndsWith(" StartTime=now+2\n"))
      << "its node would refuse it in the second of its end";
  Mark again;
  EXPECT_TRUE(parse_mark("goban:7.11.2", again) && again == mark);
  EXPECT_TRUE(parse_mark("goban:7.11.2:nodes", again) && again.own_nodes);
  EXPECT_EQ(mark_text(again), "goban:7.11.2:nodes");
  EXPECT_TRUE(parse_mark("goban:7.11.2:nodes:indices", again) && again.own_nodes &&
              again.own_indices);
  EXPECT_EQ(mark_text(again), "goban:7.11.2:nodes:indices");
  EXPECT_FALSE(parse_mark("goban:7.11.2:indices:nodes", again));
  EXPECT_FALSE(parse_mark(kHeldMark, again));
  EXPECT_FALSE(parse_mark("goban:slurm:nodes", again));
  EXPECT_FALSE(parse_mark("goban:1.1", again));
  std::vector<NodePart> other = parts;
  other[1].gpus = {0, 1};
  EXPECT_THAT(place_lines("5", other, mark, Indices::Types, types).error().text(),
              HasSubstr("same GPU"));
  other[1] = {.node = "n4\nshutdown", .gpus = {1, 3}};
  EXPECT_FALSE(place_lines("5", other, mark, Indices::Types, types));
  EXPECT_TRUE(is_job_id("8_3") && is_job_id("12"));
  EXPECT_FALSE(is_job_id("8 1") || is_job_id("") || is_job_id("8_") || is_job_id("all"));
}

TEST(SlurmOrders, AJobOfSeveralPartitionsIsTriedInTheRightOneFirst) {
  const Mark mark{.epoch = 7, .run = {JobId{11U}, 2}};
  const std::vector<NodePart> parts = {{.node = "n2", .gpus = {1}}};
  EXPECT_EQ(*place_lines("5", parts, mark, Indices::Nodes, {}, "gres:", "left,far"),
            "update jobid=5 Partition=left,far ReqNodeList=n2 AdminComment=goban:7.11.2 "
            "StartTime=now\n");
}

TEST(SlurmOrders, ARequestIsGivenBack) {
  EXPECT_EQ(restore_lines("8_3", "gres:gpu:a100:2"),
            "update jobid=8_3 TresPerNode=\nupdate jobid=8_3 TresPerNode=gres:gpu:a100:2\n");
  EXPECT_EQ(restore_lines("8_3", "gres:gpu:x\ny:1"), "");
  EXPECT_EQ(restore_lines("8_3", ""), "");
}

TEST(SlurmOrders, EachMessageBelongsToOneOrder) {
  const std::vector<std::string> orders = {"hold 1\n", "update jobid=99 Comment=\n", "release 98\n",
                                           "hold 2\n"};
  EXPECT_EQ(order_script(orders, "n"),
            "hold 1\nnx0x\nupdate jobid=99 Comment=\nnx1x\nrelease 98\nnx2x\nhold 2\nnx3x\n");
  EXPECT_THAT(
      parse_order_replies("invalid keyword: nx0x\nInvalid job id specified for job 99\n"
                          "invalid keyword: nx1x\nInvalid job id specified for job 98\n"
                          "slurm_suspend error: Invalid job id specified\ninvalid keyword: nx2x\n",
                          4, "n"),
      ElementsAre("", "Invalid job id specified for job 99",
                  "Invalid job id specified for job 98\n"
                  "slurm_suspend error: Invalid job id specified",
                  "no reply"));
  EXPECT_THAT(
      parse_shown(
          "scontrol: show job 12\nJobId=12 JobName=a\nb UserId=x\nscontrol: show hostnames nx0x\n"
          "nx0x\nscontrol: show job 99\nscontrol: show hostnames nx1x\nnx1x\nscontrol: ",
          2, "n"),
      ElementsAre("JobId=12 JobName=a\nb UserId=x", ""));
}

}  // namespace
}  // namespace goban::live::engine::slurm
