#include "live/engine/slurm/het_jobs.hpp"

#include <gtest/gtest.h>

namespace goban::live::engine::slurm {
namespace {

using cluster::Stand;

const QueueRules kRules{.partitions = {"gpu"}, .indices = Indices::Types};
const std::string kMarked = "goban:1.2.3";

std::vector<NodeRow> two_nodes() {
  std::vector<NodeRow> nodes(2);
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].node = {.name = "n" + std::to_string(i + 1), .num_gpus = 2};
    nodes[i].partitions = {"gpu"};
    nodes[i].index_types = {"g0", "g1"};
  }
  return nodes;
}

/// A job 5 of two components, 5 and 6, which are held for Goban.
struct HetJob {
  std::vector<JobRow> rows = std::vector<JobRow>(2);
  std::map<std::string, JobFacts> facts{};

  HetJob() {
    for (int64_t job = 5; job < 7; ++job) {
      JobRow& row = rows[static_cast<size_t>(job - 5)];
      row = {.job = job, .het_job = 5, .state = "PENDING", .reason = "JobHeldUser"};
      row.partition = "gpu";
      row.num_nodes = 1;
      row.cpus = 4;
      row.batch = true;
      facts[row.id()] = {.words = {.job = job, .tres_per_node = "gres:gpu:1"}, .has_words = true};
    }
  }
  JobWords& words(const char* id) { return facts.at(id).words; }
  void mark(const std::string& text) {
    for (JobRow& row : rows) row.mark = text;
  }
  void start() {
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].state = "RUNNING";
      rows[i].priority = 9;
      rows[i].start_ns = 100;
      rows[i].nodes = i == 0 ? "n2" : "n1";
      JobFacts& fact = facts.at(rows[i].id());
      fact.parts_of_ns = 100;
      fact.parts = {{.node = rows[i].nodes, .gpus = {static_cast<int32_t>(i)}}};
    }
  }
  [[nodiscard]] JoinedQueue joined() const {
    return join_het_jobs(rows, facts, two_nodes(), kRules);
  }
  [[nodiscard]] QueueView view(const cluster::Picture& told = {}) const {
    const JoinedQueue queue = joined();
    return view_of(queue.rows, two_nodes(), queue.facts, kRules, {}, told);
  }
  /// Why it is left to Slurm; empty: it is one job of the core.
  [[nodiscard]] std::string left() const {
    const JoinedQueue queue = joined();
    return std::string(queue.rows.at(0).components > 0 ? "" : queue.rows.at(0).left);
  }
};

TEST(HetJobs, AlikeComponentsAreOneJobWithAnyIndices) {
  const QueueView view = HetJob().view();
  ASSERT_EQ(view.picture.jobs.size(), 1U);
  const JobSeen& job = view.picture.jobs.at("5");
  EXPECT_TRUE(job.managed);
  EXPECT_EQ(job.blocked, "");
  EXPECT_EQ(job.spec.instances, 2);
  EXPECT_EQ(job.spec.num_gpus, 2);
  EXPECT_EQ(job.spec.cores, 4);
  EXPECT_FALSE(job.spec.equal_indices);
  EXPECT_TRUE(view.leaves.empty());
  EXPECT_EQ(view.stands.at("5").stand, Stand::Held);
}

TEST(HetJobs, GpusOfAJobAreThoseOfEachComponent) {
  HetJob het;
  for (const char* id : {"5", "6"}) {
    het.words(id).tres_per_node.clear();
    het.words(id).tres_per_job = "gres:gpu:1";
  }
  EXPECT_EQ(het.view().picture.jobs.at("5").spec.num_gpus, 2);
}

TEST(HetJobs, OthersAreLeftToSlurmAndSayWhy) {
  HetJob unlike;
  unlike.words("6").tres_per_node = "gres:gpu:2";
  EXPECT_EQ(unlike.left(), "unlike-components");
  const QueueView view = unlike.view();
  EXPECT_EQ(view.leaves.at(0).first, "5");
  EXPECT_EQ(view.leaves.at(0).second, "unlike-components");
  EXPECT_EQ(view.picture.jobs.at("5").blocked, "left to Slurm: unlike components");
  EXPECT_FALSE(view.picture.jobs.contains("6"));
  // Slurm has it, and starts it later.
  unlike.mark("goban:slurm:unlike-components");
  for (JobRow& row : unlike.rows) row.priority = 9;
  const QueueView later = unlike.view(view.picture);
  EXPECT_TRUE(later.leaves.empty());
  EXPECT_FALSE(later.picture.jobs.at("5").managed);
  EXPECT_EQ(later.picture.jobs.at("5").blocked, "left to Slurm: unlike components");

  for (auto change : std::initializer_list<void (*)(HetJob&)>{
           [](HetJob& het) { het.rows[1].cpus = 8; },
           [](HetJob& het) { het.rows[1].limit_ns = 1; },
           [](HetJob& het) { het.rows[1].partition = "cpu"; },
           [](HetJob& het) { het.rows[1].mark = "goban:slurm"; },
       }) {
    HetJob het;
    change(het);
    EXPECT_EQ(het.left(), "unlike-components");
  }
  for (auto change : std::initializer_list<void (*)(HetJob&, size_t)>{
           [](HetJob& het, size_t i) { het.rows[i].num_nodes = 2; },
           [](HetJob& het, size_t i) { het.words(i == 0 ? "5" : "6").nodes = "n1"; },
           [](HetJob& het, size_t i) { het.words(i == 0 ? "5" : "6").features = "ib"; },
           [](HetJob& het, size_t i) {
             het.words(i == 0 ? "5" : "6").tres_per_node = "gres:gpu:g1:1";
           },
           [](HetJob& het, size_t i) {
             het.words(i == 0 ? "5" : "6").tres_per_node = "gres:shard:1";
           },
       }) {
    HetJob het;
    for (const size_t i : {0U, 1U}) change(het, i);
    EXPECT_EQ(het.left(), "heterogeneous-job");
  }
  HetJob many;
  many.rows.push_back(many.rows[1]);
  many.rows[2].job = 7;
  many.facts["7"] = many.facts["6"];
  EXPECT_EQ(many.left(), "more-components-than-nodes");
}

TEST(HetJobs, AJobThatIsNotHeldForGobanIsNotReleased) {
  HetJob held;
  held.words("6").tres_per_node = "gres:gpu:2";
  held.rows[1].mark = kHeldMark;
  EXPECT_TRUE(held.view().leaves.empty()) << "its user holds a component";
  held.rows[1].mark.clear();
  for (JobRow& row : held.rows) row.partition = "cpu";
  EXPECT_TRUE(held.view().leaves.empty()) << "of another partition, held by its user";
  HetJob unknown;
  unknown.facts.erase("6");
  EXPECT_TRUE(unknown.view().leaves.empty()) << "it appeared a moment ago";
  EXPECT_TRUE(unknown.view().picture.jobs.empty());
}

TEST(HetJobs, WhatItHoldsIsThatOfItsComponents) {
  HetJob het;
  het.mark(kMarked);
  het.words("5").tres_per_node = "gres:gpu:g0:1";
  het.words("6").tres_per_node = "gres:gpu:g1:1";
  het.words("6").nodes = "n1";
  het.start();
  const QueueView view = het.view();
  const std::vector<NodePart> parts = {{.node = "n2", .gpus = {0}, .cores = 4},
                                       {.node = "n1", .gpus = {1}, .cores = 4}};
  EXPECT_EQ(view.picture.jobs.at("5").parts, parts);
  EXPECT_EQ(view.stands.at("5").parts, parts);
  EXPECT_EQ(view.picture.jobs.at("5").spec.instances, 2);
  EXPECT_FALSE(view.stands.contains("6"));
  // A component ends alone: Slurm may give its GPU to others, the job keeps its nodes.
  het.rows[1].state = "CANCELLED";
  EXPECT_EQ(het.view().stands.at("5").stand, Stand::Running);
  EXPECT_EQ(het.view().picture.jobs.at("5").spec.instances, 2);
  het.rows[0].state = "PENDING";
  het.rows[0].priority = 0;
  EXPECT_NE(het.view().picture.jobs.at("5").blocked, "") << "it cannot start again";
}

TEST(HetJobs, ItStandsWhereItsSlowestComponentStands) {
  HetJob het;
  het.mark(kMarked);
  het.start();
  const auto stand = [&](const char* first, const char* second) {
    het.rows[0].state = first;
    het.rows[1].state = second;
    return het.view().stands.at("5").stand;
  };
  EXPECT_EQ(stand("COMPLETED", "COMPLETING"), Stand::Running);
  EXPECT_EQ(stand("PENDING", "COMPLETING"), Stand::Running);
  EXPECT_EQ(stand("PENDING", "PENDING"), Stand::Released);
  het.rows[1].reason = "AssocGrpGRES";
  EXPECT_TRUE(het.view().stands.at("5").hopeless) << "a limit, which does not pass by itself";
  het.rows[1].priority = 0;
  EXPECT_EQ(stand("PENDING", "PENDING"), Stand::Held);
  EXPECT_EQ(stand("COMPLETED", "COMPLETED"), Stand::Ended);
}

TEST(HetJobs, AnOwnersHoldOfAComponentIsOneOfTheJob) {
  HetJob het;
  het.rows[1].mark = kHeldMark;
  EXPECT_TRUE(het.view().picture.jobs.at("5").spec.held);
  het.mark(kMarked);
  EXPECT_FALSE(het.view().picture.jobs.at("5").spec.held);
  het.rows[1].comment = kHeldMark;
  EXPECT_TRUE(het.view().picture.jobs.at("5").spec.held);
}

TEST(HetJobs, ComponentsThatHaveNotEnded) {
  HetJob het;
  const std::vector<std::string> both = {"5", "6"};
  EXPECT_EQ(components_of(het.rows, "5"), both);
  het.rows[1].state = "CANCELLED";
  EXPECT_EQ(components_of(het.rows, "5"), std::vector<std::string>{"5"});
  EXPECT_EQ(components_of(het.rows, "9_1"), std::vector<std::string>{"9_1"});
}

TEST(HetJobs, TheLeaderExcludesAllNodesButItsOwn) {
  const HetJob het;
  const std::vector<std::string> ids = {"5", "6"};
  const std::vector<const JobWords*> words = {&het.facts.at("5").words, &het.facts.at("6").words};
  const std::vector<NodePart> parts = {{.node = "n2", .gpus = {0}}, {.node = "n1", .gpus = {1}}};
  const auto places = component_places(ids, words, parts, two_nodes(), Indices::Types);
  ASSERT_TRUE(places);
  const Mark mark{.epoch = 1, .run = {JobId{2U}, 3}};
  EXPECT_EQ(place_het_lines(*places, mark, two_nodes(), "gres:", "", false).value(),
            "update jobid=5 TresPerNode=\n"
            "update jobid=5 TresPerNode=gres:gpu:g0:1 ExcNodeList=n1 AdminComment=goban:1.2.3 "
            "StartTime=now\n"
            "update jobid=6 ExcNodeList=\n"
            "update jobid=6 TresPerNode=\n"
            "update jobid=6 TresPerNode=gres:gpu:g1:1 ReqNodeList=n1 AdminComment=goban:1.2.3 "
            "StartTime=now\n");
  EXPECT_FALSE(component_places(ids, words, std::span(parts).first(1), two_nodes(), {}));
}

TEST(HetJobs, RangesOfNodes) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(node_ranges({}), "");
  EXPECT_EQ(node_ranges(Names{"n10", "n2", "n1", "n3", "n9", "n11", "login", "r01-n1"}),
            "login,n[1-3],n9,n[10-11],r01-n1");
  EXPECT_EQ(node_ranges(Names{"a08", "a09", "a10", "b2"}), "a[08-10],b2");
}

TEST(HetJobs, TheCycleOfBackfill) {
  EXPECT_EQ(backfill_cycle_ns(""), 30 * base::kSecond);
  EXPECT_EQ(backfill_cycle_ns("SchedulerParameters     = sched_interval=5,bf_interval=7\n"),
            7 * base::kSecond);
  const JoinedQueue queue = HetJob().joined();
  QueueView view = HetJob().view();
  set_cycles(view, queue.rows, 7);
  EXPECT_EQ(view.stands.at("5").cycle_ns, 7);
}

TEST(HetJobs, WaitForWhatAnyComponentWaitsFor) {
  HetJob het;
  het.rows[1].eligible_ns = 500;
  het.rows[1].dependency = "afterok:3(unfulfilled)";
  const JobRow joined = het.joined().rows.at(0);
  EXPECT_EQ(joined.components, 2);
  EXPECT_EQ(joined.eligible_ns, 500);
  EXPECT_EQ(joined.dependency, "afterok:3(unfulfilled)");
  het.rows[0].dependency = "afterany:4(unfulfilled)";
  EXPECT_EQ(het.joined().rows.at(0).dependency, "afterany:4(unfulfilled),afterok:3(unfulfilled)");
  het.rows[1].dependency = "afterok:3(unfulfilled)?afterok:9(unfulfilled)";
  EXPECT_EQ(het.joined().rows.at(0).left, "unlike-components");
}

}  // namespace
}  // namespace goban::live::engine::slurm
