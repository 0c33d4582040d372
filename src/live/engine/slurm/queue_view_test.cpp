#include "live/engine/slurm/queue_view.hpp"

#include <gtest/gtest.h>

#include "base/text_file.hpp"

namespace goban::live::engine::slurm {
namespace {

using cluster::Stand;

const std::vector<std::string> kTypes = {"g0", "g1", "g2", "g3"};

JobRow row(int64_t job, const std::string& state, int64_t priority = 0) {
  JobRow out{.job = job, .state = state, .priority = priority, .partition = "gpu", .num_nodes = 1};
  out.batch = true;
  return out;
}

/// The recorded queue (slurm_output_test.cpp).
QueueView recorded_view(const QueueRules& rules, const cluster::Picture& told = {}) {
  const std::string folder = GOBAN_SOURCE_DIR "/tests/corpus/slurm_output/";
  const auto text = [&](const char* name) { return base::read_text_file(folder + name).value(); };
  std::map<std::string, JobFacts> facts;
  const auto all = parse_job_words(text("job_words.txt"), "~0f3a");
  for (const JobWords& words : *all) {
    facts[words.id()] = {.words = words, .has_words = true};
  }
  facts["12"] = facts["3_3"];
  facts["7"].words.tres_per_node = "gres:gpu:4";  // recorded without GPUs, it would be Slurm's
  facts["1"].parts_of_ns = 1795436211 * base::kSecond;
  facts["1"].parts = {{.node = "n2", .gpus = {1, 3}}};
  return view_of(parse_job_list(text("job_list.txt"), "~0f3a").value(),
                 parse_node_list(text("show_node.txt")).value(), facts, rules, {}, told);
}

TEST(QueueView, JobsOfShardsMayShareTheirGpu) {
  JobFacts facts{.words = {.job = 9, .tres_per_node = "gres:shard:2"}, .has_words = true};
  std::vector<JobRow> rows = {row(9, "PENDING")};
  rows[0].requeue = true;
  NodeRow node{.node = {.name = "n1", .num_gpus = 4}, .partitions = {"gpu"}, .shards = 16};
  const QueueRules rules{.partitions = {"gpu"}, .indices = Indices::Types};
  const auto why = [&](const char* gres, const QueueRules& by) {
    facts.words.tres_per_node = gres;
    return std::string(
        why_for_slurm(rows[0], facts.words, traits_of(std::span(&node, 1), by), by, {}));
  };
  const auto sharing = [&] {
    const QueueView view = view_of(rows, std::span(&node, 1), {{"9", facts}}, rules, {}, {});
    EXPECT_TRUE(view.picture.jobs.at("9").managed);
    EXPECT_EQ(view.picture.jobs.at("9").spec.num_gpus, 1);
    return view.picture.jobs.at("9").spec.training.sharing;
  };
  EXPECT_EQ(sharing(), core::model::SharingRequest::Yes);
  rows[0].requeue = false;
  EXPECT_EQ(sharing(), core::model::SharingRequest::No)
      << "--no-requeue: it could not be separated";
  rows[0].requeue = true;
  rows[0].batch = false;
  EXPECT_EQ(sharing(), core::model::SharingRequest::No) << "an allocation of salloc";
  rows[0].batch = true;
  EXPECT_EQ(why("gres:shard:4", rules), "");
  EXPECT_EQ(why("gres:shard:g1:4", rules), "") << "as it was placed before";
  EXPECT_EQ(why("gres:shard:5", rules), "more-shards-than-a-gpu-has");
  EXPECT_EQ(why("gres:shard:2", {.partitions = {"gpu"}}), "shards") << "their index is not chosen";
  rows[0].num_nodes = 2;
  EXPECT_EQ(why("gres:shard:2", rules), "shards-of-several-nodes");
  rows[0].num_nodes = 1;
  EXPECT_EQ(why("gres:gpu:1", rules), "");
  EXPECT_EQ(sharing(), core::model::SharingRequest::No) << "a whole GPU";
}

TEST(QueueView, AllocationsOfSallocAreOursToo) {
  JobRow shell = row(9, "PENDING");
  shell.batch = false;
  shell.requeue = true;  // as Slurm prints it
  const JobFacts facts{.words = {.job = 9, .tres_per_node = "gres:gpu:2"}, .has_words = true};
  const std::vector<JobRow> rows = {shell};
  const QueueView view = view_of(rows, {}, {{"9", facts}}, {.partitions = {"gpu"}}, {}, {});
  ASSERT_TRUE(view.picture.jobs.contains("9"));
  EXPECT_TRUE(view.picture.jobs.at("9").managed);
  EXPECT_FALSE(view.picture.jobs.at("9").spec.requeue) << "Slurm requeues batch jobs only";
  EXPECT_EQ(view.stands.at("9").stand, Stand::Held);
}

TEST(QueueView, JobsOfARecordedQueue) {
  const QueueView view = recorded_view({.partitions = {"gpu"}, .indices = Indices::Types});
  const auto& jobs = view.picture.jobs;
  EXPECT_EQ(view.picture.cluster.nodes.size(), 4U);
  EXPECT_EQ(jobs.at("1").state, SeenState::Running);
  EXPECT_EQ(jobs.at("1").parts.at(0).gpus, (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(jobs.at("1").parts.at(0).cores, 1);
  EXPECT_EQ(jobs.at("3_0").array, "3");
  EXPECT_EQ(jobs.at("3_0").spec.array_task, 0);
  EXPECT_EQ(jobs.at("3_0").spec.num_gpus, 1);
  EXPECT_TRUE(jobs.at("3_0").managed);
  EXPECT_EQ(jobs.at("8").spec.num_gpus, 3);
  EXPECT_EQ(jobs.at("7").spec.begin_ns, 1795439807 * base::kSecond);
  EXPECT_EQ(jobs.at("7").spec.instances, 2);
  EXPECT_TRUE(jobs.at("7").spec.equal_indices);
  EXPECT_EQ(view.picture.ended.at("15").how, GoneHow::Failed);
  EXPECT_EQ(view.picture.ended.at("15").exit_code, 3);
  EXPECT_EQ(view.stands.at("16").signal, 9);
  EXPECT_EQ(view.picture.ended.at("17").how, GoneHow::Cancelled);
  EXPECT_EQ(jobs.at("4").spec.partition, "gpu at 2") << "names GPU g2";
  EXPECT_TRUE(jobs.at("4").managed);
  EXPECT_FALSE(jobs.contains("5")) << "heterogeneous";
  EXPECT_FALSE(jobs.contains("11")) << "ended";
}

TEST(QueueView, WhatIsLeftToSlurmIsBlockedUntilSlurmHasIt) {
  std::vector<NodeRow> nodes(1);
  nodes[0].node.num_gpus = 4;
  nodes[0].partitions = {"gpu"};
  JobRow held = row(1, "PENDING");
  held.reason = "JobHeldUser";
  const std::vector<JobRow> rows = {held};
  const auto seen = [&](const char* gres) {
    JobFacts fact;
    fact.words = {.job = 1, .tres_per_node = gres};
    fact.has_words = true;
    return view_of(rows, nodes, {{"1", fact}}, {.partitions = {"gpu"}}, {}, {});
  };
  EXPECT_TRUE(seen("gres:gpu:2").leaves.empty());
  EXPECT_EQ(seen("gres:gpu:2").picture.jobs.at("1").blocked, "");
  const QueueView view = seen("gres:gpu:a100:1,gres:gpu:v100:1");
  EXPECT_EQ(view.leaves.at(0),
            (std::pair<std::string, std::string_view>("1", "several-gpu-types")));
  EXPECT_EQ(view.picture.jobs.at("1").blocked, "left to Slurm: several gpu types")
      << "else the core would place it meanwhile";
}

TEST(QueueView, WhatItsUserHeldFirstIsLeftToSlurmToo) {
  std::vector<NodeRow> nodes(2);
  for (NodeRow& node : nodes) {
    node.node.num_gpus = 4;
    node.partitions = {"gpu"};
  }
  JobRow held = row(1, "PENDING");
  held.mark = kHeldMark;
  held.reason = "JobHeldUser";
  held.num_nodes = 2;
  const JobFacts fact = {.words = {.job = 1, .tres_per_job = "gres:gpu:3"}, .has_words = true};
  const auto leaves = [&] {
    return view_of(std::vector{held}, nodes, {{"1", fact}}, {.partitions = {"gpu"}}, {}, {}).leaves;
  };
  EXPECT_TRUE(leaves().empty());
  held.comment = "goban:released";
  EXPECT_EQ(leaves().size(), 1U);
}

TEST(QueueView, AJobWhoseNodesAreOutOfServiceSaysSo) {
  std::vector<NodeRow> nodes(2);
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].node = {.name = "n" + std::to_string(i + 1), .num_gpus = 4};
    nodes[i].partitions = {"gpu"};
  }
  nodes[1].node.state = SeenNodeState::Drained;
  nodes[1].node.reason = "repair";
  JobRow waiting = row(1, "PENDING");
  const auto blocked = [&](const std::string& names, int32_t count) {
    waiting.num_nodes = count;
    const JobFacts fact = {.words = {.job = 1, .tres_per_node = "gres:gpu:1", .nodes = names},
                           .has_words = true};
    return view_of(std::vector{waiting}, nodes, {{"1", fact}}, {.partitions = {"gpu"}}, {}, {})
        .picture.jobs.at("1")
        .blocked;
  };
  EXPECT_EQ(blocked("n1", 1), "");
  EXPECT_EQ(blocked("n2", 1),
            "of the nodes that it may run on, 0 are in service: n2 is drained (repair)");
  EXPECT_EQ(blocked("n1,n2", 2),
            "of the nodes that it may run on, 1 is in service: n2 is drained (repair)");
}

TEST(QueueView, JobsWithoutGpusAreSlurms) {
  const JobRow waiting = row(1, "PENDING");
  EXPECT_TRUE(is_managed(waiting, {.job = 1, .tres_per_node = "gres:gpu:1"}, {}, kTypes));
  EXPECT_FALSE(is_managed(waiting, {.job = 1, .tres_per_node = "gres:nic:1"}, {}, kTypes));
  EXPECT_FALSE(is_managed(waiting, {.job = 1}, {}, kTypes));
}

TEST(QueueView, WhatTheCoreCannotPlaceIsLeftToSlurm) {
  std::vector<NodeRow> nodes(2);
  for (NodeRow& node : nodes) {
    node.node.num_gpus = 4;
    node.partitions = {"gpu"};
  }
  const auto why = [&](int32_t count, const std::string& gres, const std::string& all = "") {
    JobRow waiting = row(1, "PENDING");
    waiting.num_nodes = count;
    return why_for_slurm(waiting, {.job = 1, .tres_per_job = all, .tres_per_node = gres},
                         traits_of(nodes, {}), {}, {});
  };
  EXPECT_EQ(why(1, "gres:gpu:1"), "");
  EXPECT_EQ(why(2, "gres:gpu:2"), "");
  EXPECT_EQ(why(2, "", "gres:gpu:3"), "unequal-nodes");
  EXPECT_EQ(why(1, "gres:gpu:a100:1"), "");
  EXPECT_EQ(why(1, "gres:gpu:a100:1,gres:gpu:v100:1"), "several-gpu-types");
  nodes[0].index_types = {"g0", "g1", "g2", "g3"};
  EXPECT_EQ(why(1, "gres:gpu:g1:1"), "own-choice-of-nodes") << "more different ones than are known";
  EXPECT_EQ(why(1, "gres:gpu:g1:2"), "gpu-by-index") << "no node has two";
  EXPECT_EQ(why(1, "gres:gpu:g1:1,gres:gpu:1"), "gpu-by-index") << "and any other";
  EXPECT_EQ(why(1, "", "gres:gpu:g1:1"), "gpu-by-index") << "--gpus cannot be changed";
  nodes[0].index_types.clear();
  nodes[0].node.gpu_model = "a100";
  nodes[1].node.gpu_model = "v100";
  EXPECT_EQ(why(1, "gres:gpu:a100:1"), "") << "the core knows which nodes have it";
  EXPECT_EQ(why(1, "gres:gpu:1"), "");
  EXPECT_EQ(why(1, "gres:gpu:h100:1"), "gpu-type-of-mixed-nodes");
  nodes[0].node.gpu_model = "a100+v100";
  EXPECT_EQ(why(1, "gres:gpu:v100:1"), "gpu-type-of-mixed-nodes");
  nodes[1].partitions = {"other"};
  const auto seen = view_of({}, nodes, {}, {.partitions = {"gpu"}}, {}, {}).picture.cluster.nodes;
  EXPECT_EQ(seen.size(), 1U) << "nodes without a managed partition are not ours";
  EXPECT_EQ(leave_lines("7", "why"), "release 7\nupdate jobid=7 AdminComment=goban:slurm:why\n")
      << "a daemon that is killed in between leaves no job held";
  JobRow left = row(1, "PENDING");
  for (const char* mark : {"goban:slurm", "goban:slurm:unequal-nodes"}) {
    left.mark = mark;
    EXPECT_FALSE(is_managed(left, {.job = 1, .tres_per_node = "gres:gpu:1"}, {}, {}));
  }
  const std::map<std::string, JobFacts> facts = {
      {"1", {.words = {.job = 1, .tres_per_node = "gres:gpu:1"}, .has_words = true}}};
  left.state = "RUNNING";
  EXPECT_EQ(view_of({&left, 1}, nodes, facts, {}, {}, {}).picture.jobs.at("1").blocked,
            "left to Slurm: unequal nodes");
}

TEST(QueueView, PartitionsAreToldWhereTheyLimitJobs) {
  std::vector<NodeRow> nodes(3);
  for (NodeRow& node : nodes) {
    node.node.num_gpus = 4;
    node.partitions = {"short", "gpu"};
  }
  const QueueRules rules{.partitions = {"gpu", "short"}};
  const auto told = [&] { return view_of({}, nodes, {}, rules, {}, {}).picture.cluster.nodes; };
  EXPECT_TRUE(told()[0].partitions.empty()) << "every node is in both";
  nodes[0].partitions = {"gpu", "other"};
  nodes[2].partitions = {"other"};
  ASSERT_EQ(told().size(), 2U);
  EXPECT_EQ(told()[0].partitions, std::vector<std::string>{"gpu"});
  EXPECT_EQ(told()[1].partitions, (std::vector<std::string>{"gpu", "short"}));
}

TEST(QueueView, ARequeuedJobHasNoBeginTime) {
  JobRow waiting = row(5, "PENDING");
  waiting.submit_ns = 10;
  waiting.eligible_ns = 200;
  const std::map<std::string, JobFacts> facts = {
      {"5", {.words = {.job = 5, .tres_per_node = "gres:gpu:1"}, .has_words = true}}};
  const auto begin_of = [&] {
    return view_of({&waiting, 1}, {}, facts, {}, {}, {}).picture.jobs.at("5").spec.begin_ns;
  };
  EXPECT_EQ(begin_of(), 200) << "as its user wants it";
  waiting.restarts = 1;
  EXPECT_EQ(begin_of(), 0) << "Slurm makes one up";
}

TEST(QueueView, ObservingAndOtherPartitionsManageNothing) {
  for (const QueueRules& rules :
       {QueueRules{.observe = true}, QueueRules{.partitions = {"other"}}}) {
    cluster::Picture told;
    told.jobs["8"] = {.id = "8", .managed = true};
    const QueueView view = recorded_view(rules, told);
    for (const auto& [id, job] : view.picture.jobs) EXPECT_FALSE(job.managed) << id;
    EXPECT_TRUE(view.picture.jobs.contains("1")) << "it holds GPUs";
    EXPECT_TRUE(view.picture.jobs.contains("8")) << "it was ours until now";
    EXPECT_FALSE(view.picture.jobs.contains("9"));
  }
}

TEST(QueueView, WhoHoldsAJob) {
  const auto held = [](const char* mark, const char* comment) {
    JobRow job = row(1, "PENDING");
    job.mark = mark;
    job.comment = comment;
    const std::vector<JobRow> rows = {job};
    const std::map<std::string, JobFacts> facts = {
        {"1", {.words = {.job = 1, .tres_per_node = "gres:gpu:1"}, .has_words = true}}};
    return view_of(rows, {}, facts, {}, {}, {}).picture.jobs.at("1").spec.held;
  };
  EXPECT_FALSE(held("", ""));
  EXPECT_TRUE(held("goban:held", "")) << "sbatch --hold";
  EXPECT_FALSE(held("goban:held", "goban:released"));
  EXPECT_TRUE(held("", "goban:held")) << "scontrol hold";
  EXPECT_TRUE(held("goban:1.2.3", "goban:held"));
}

TEST(QueueView, AnAdministratorsHoldStays) {
  JobRow job = row(1, "PENDING");
  job.reason = "JobHeldAdmin";
  const std::map<std::string, JobFacts> facts = {
      {"1", {.words = {.job = 1, .tres_per_node = "gres:gpu:1"}, .has_words = true}}};
  const auto blocked = [&](const char* mark) {
    job.mark = mark;
    return view_of({&job, 1}, {}, facts, {}, {}, {}).picture.jobs.at("1").blocked;
  };
  EXPECT_TRUE(blocked("").starts_with("held by an administrator"));
  EXPECT_TRUE(blocked("goban:held").starts_with("held by an administrator"));
  EXPECT_EQ(blocked("goban:1.2.3"), "") << "Goban's own, of a job that was placed";
  job.reason = "JobHeldUser";
  EXPECT_EQ(blocked(""), "");
}

JobSeen seen_with(const char* comment) {
  JobRow job = row(1, "PENDING");
  job.comment = comment;
  const std::vector<JobRow> rows = {job};
  const std::map<std::string, JobFacts> facts = {
      {"1", {.words = {.job = 1, .tres_per_node = "gres:gpu:1"}, .has_words = true}}};
  return view_of(rows, {}, facts, {}, {}, {}).picture.jobs.at("1");
}

TEST(QueueView, ACommentSaysWhatIsTrained) {
  const JobSeen said = seen_with("goban:model=resnet50;stage-in=/data;gpu-memory=20G");
  EXPECT_EQ(said.spec.model, "resnet50");
  EXPECT_EQ(said.spec.training.gpu_mem_bytes, int64_t{20} << 30);
  EXPECT_EQ(said.spec.stage_in, std::vector<std::string>{"/data"});
  EXPECT_TRUE(seen_with("goban:gpu-memory=much")
                  .blocked.starts_with("its comment cannot be read: gpu-memory: "));
  EXPECT_EQ(seen_with("goban:gpu-memory=much;model=x").spec.model, "");
  const std::string long_name = "goban:model=" + std::string(201, 'x');
  EXPECT_EQ(seen_with(long_name.c_str()).blocked,
            "its comment cannot be read: the name of the model is longer than 200 bytes");
  EXPECT_TRUE(seen_with("goban:model=a\nb").blocked.starts_with("its comment cannot be read: the"));
  EXPECT_EQ(seen_with("goban:held").spec.model, "");
}

TEST(QueueView, ACommentNamesWhatIsStaged) {
  const auto& seen = seen_with;
  const JobSeen staged = seen("goban:stage-in=/lustre/images;stage-out=results:/lustre/out");
  EXPECT_EQ(staged.spec.stage_in, std::vector<std::string>{"/lustre/images"});
  ASSERT_EQ(staged.spec.stage_out.size(), 1U);
  EXPECT_EQ(staged.spec.stage_out[0].to, "/lustre/out");
  EXPECT_EQ(staged.blocked, "");
  EXPECT_EQ(seen("goban:stage-in=/a/../b").blocked,
            "its comment cannot be read: the path of stage-in contains .., which could leave its "
            "folder");
  EXPECT_TRUE(seen("stage-in=/lustre/images").spec.stage_in.empty()) << "it is not for Goban";
}

TEST(QueueView, Stands) {
  EXPECT_EQ(stand_of(row(1, "PENDING")), Stand::Held);
  EXPECT_EQ(stand_of(row(1, "PENDING", 5)), Stand::Released);
  EXPECT_EQ(stand_of(row(1, "COMPLETING")), Stand::Running);
  EXPECT_EQ(stand_of(row(1, "NODE_FAIL")), Stand::Ended);
}

TEST(QueueView, DependenciesThatSlurmDoesNotEvaluate) {
  JobRow task0 = row(8, "COMPLETED");
  task0.array_job = 8;
  task0.array_task = 0;
  JobRow task1 = row(9, "RUNNING");
  task1.array_job = 8;
  task1.array_task = 1;
  JobRow bad = row(3, "FAILED");
  bad.exit_status = 256;
  const std::vector<JobRow> rows = {
      row(1, "PENDING"), row(2, "RUNNING"), bad, row(4, "COMPLETED"), task0, task1};
  const Outcomes outcomes{{{20, true}, {21, false}}};
  const auto starts = [&](const char* text) {
    return blocked_by(text, rows[0], rows, outcomes).empty();
  };
  EXPECT_TRUE(starts("after:2(unfulfilled)"));
  EXPECT_FALSE(starts("afterany:2(unfulfilled)"));
  EXPECT_TRUE(starts("afterany:3(unfulfilled)"));
  EXPECT_FALSE(starts("afterok:3(unfulfilled)"));
  EXPECT_TRUE(starts("afternotok:3(unfulfilled)"));
  EXPECT_TRUE(starts("afterok:4(unfulfilled)"));
  EXPECT_FALSE(starts("afternotok:4(unfulfilled)"));
  EXPECT_FALSE(starts("afterok:4(unfulfilled),afterany:2(unfulfilled)")) << "all of them";
  EXPECT_TRUE(starts("afterok:4(unfulfilled)?afterany:2(unfulfilled)")) << "any of them";
  EXPECT_FALSE(starts("afterany:8_*(unfulfilled)")) << "one task runs";
  EXPECT_TRUE(starts("afterok:8_0(unfulfilled)"));
  JobRow follower = row(7, "PENDING");
  follower.array_job = 7;
  const auto follows = [&](int32_t task) {
    follower.array_task = task;
    return blocked_by("aftercorr:8_*(unfulfilled)", follower, rows, outcomes).empty();
  };
  EXPECT_TRUE(follows(0)) << "the task of this number has ended well, others have not ended";
  EXPECT_FALSE(follows(1));
  EXPECT_TRUE(starts("afterok:20(unfulfilled)")) << "no longer listed, but known";
  EXPECT_FALSE(starts("afterok:21(unfulfilled)"));
  EXPECT_FALSE(starts("afterok:22(unfulfilled)")) << "unknown";
  EXPECT_TRUE(starts("afterany:22(unfulfilled)"));
  EXPECT_TRUE(starts("singleton"));
  EXPECT_FALSE(starts("afterok:x"));
  EXPECT_NE(blocked_by("afterany:2(unfulfilled)", rows[0], rows, outcomes).find("job 2"),
            std::string::npos);
}

TEST(QueueView, NodesThatKeepAJobFromItsStart) {
  JobRow waits = row(3, "PENDING");
  waits.priority = 5;
  const std::map<std::string, JobFacts> facts = {
      {"3", {.words = {.job = 3, .tres_per_node = "gres:gpu:1"}, .has_words = true}}};
  const auto stand = [&](const char* reason) {
    waits.reason = reason;
    return view_of({&waits, 1}, {}, facts, {}, {}, {}).stands.at("3");
  };
  EXPECT_EQ(stand("ReqNodeNotAvail, UnavailableNodes:n[3-4]").closed_nodes,
            (std::vector<std::string>{"n3", "n4"}));
  EXPECT_TRUE(stand("ReqNodeNotAvail,_May_be_reserved_for_other_job").nodes_closed);
  EXPECT_TRUE(stand("Priority").nodes_closed) << "any of its GPUs would wait as long";
  EXPECT_FALSE(stand("Resources").nodes_closed);
}

TEST(QueueView, LimitsBlockInTheOrderOfSubmission) {
  std::vector<JobRow> rows = {row(1, "RUNNING"), row(2, "PENDING"), row(3, "PENDING"),
                              row(4, "PENDING")};
  std::map<std::string, JobFacts> facts;
  for (JobRow& each : rows) {
    each.qos = "small";
    each.submit_ns = (10 - each.job) * base::kSecond;  // 4 came first
    facts[each.id()] = {.words = {.job = each.job, .tres_per_node = "gres:gpu:1"},
                        .has_words = true};
  }
  QueueView view = view_of(rows, {}, facts, {}, {}, {});
  const Limits limits = parse_limits("QOS=small(1) GrpJobs=2(1) GrpTRES=\n", "");
  block_by_limits(view, rows, facts, limits);
  EXPECT_EQ(view.picture.jobs.at("4").blocked, "");
  EXPECT_EQ(view.picture.jobs.at("3").blocked, "limit GrpJobs=2 of QOS small is reached");
  EXPECT_EQ(view.picture.jobs.at("2").blocked, view.picture.jobs.at("3").blocked);
}

TEST(QueueView, ArraysKeepTheirBound) {
  JobRow task = row(9, "PENDING");
  task.array_job = 8;
  task.array_task = 3;
  const std::map<std::string, JobFacts> facts = {
      {"8_3", {.words = {.job = 9, .tres_per_node = "gres:gpu:1"}, .has_words = true}}};
  QueueView view = view_of({&task, 1}, {}, facts, {}, {}, {});
  limit_arrays(
      view, {&task, 1},
      {{8, array_limit_of("JobId=9 ArrayJobId=8 ArrayTaskId=3 ArrayTaskThrottle=2 JobName=x")}});
  EXPECT_EQ(view.picture.jobs.at("8_3").spec.array_limit, 2);
  EXPECT_EQ(array_limit_of("JobId=9 ArrayTaskId=3 JobName=x ArrayTaskThrottle=2"), 0) << "a name";
}

}  // namespace
}  // namespace goban::live::engine::slurm
