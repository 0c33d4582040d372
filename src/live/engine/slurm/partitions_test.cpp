#include "live/engine/slurm/partitions.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/engine/slurm/queue_view.hpp"

namespace goban::live::engine::slurm {
namespace {

using testing::ElementsAre;

JobRow job_in(int64_t job, const std::string& partition) {
  JobRow out{.job = job, .state = "PENDING", .partition = partition, .num_nodes = 1};
  out.batch = true;
  return out;
}

std::vector<NodeRow> three_nodes() {
  std::vector<NodeRow> out(3);
  const std::vector<std::vector<std::string>> partitions = {{"left"}, {"left", "right"}, {"far"}};
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].node.name = "n" + std::to_string(i + 1);
    out[i].node.num_gpus = 4;
    out[i].partitions = partitions[i];
  }
  return out;
}

TEST(Partitions, IndicesThatAJobNamesAreItsPlace) {
  std::vector<NodeRow> nodes = three_nodes();
  for (NodeRow& node : nodes) node.partitions = {"left"};
  nodes[0].index_types = {"g0", "g1", "g2", "g3"};
  nodes[1].index_types = {"g0", "g1"};
  JobRow row = job_in(1, "left");
  const JobFacts facts = {
      .words = {.job = 1, .tres_per_node = "gres:gpu:g3:1,gres:gpu:g0:1", .features = "ib"},
      .has_words = true};
  const auto seen = [&] {
    return view_of(std::vector{row}, nodes, {{"1", facts}}, {.indices = Indices::Types}, {}, {});
  };
  nodes[0].features = {"ib"};
  const QueueView view = seen();
  EXPECT_TRUE(view.leaves.empty());
  EXPECT_EQ(view.picture.jobs.at("1").spec.partition, "left with ib at 0,3");
  EXPECT_EQ(view.picture.jobs.at("1").spec.num_gpus, 2);
  EXPECT_EQ(view.picture.jobs.at("1").spec.gpu_model, "");
  EXPECT_THAT(view.picture.cluster.nodes[0].partitions, ElementsAre("left", "left with ib at 0,3"));
  EXPECT_THAT(view.picture.cluster.nodes[1].partitions, ElementsAre("left")) << "it has two GPUs";
  row.mark = "goban:1.1.1";
  EXPECT_EQ(seen().picture.jobs.at("1").spec.partition, "left with ib") << "Goban chose them";
  row.mark = "goban:1.1.1:indices";
  EXPECT_EQ(seen().picture.jobs.at("1").spec.partition, "left with ib at 0,3");
}

TEST(Partitions, AllOfAListMustBeManaged) {
  const std::vector<std::string> managed = {"left", "right"};
  EXPECT_TRUE(are_managed("left", managed));
  EXPECT_TRUE(are_managed("right,left", managed));
  EXPECT_FALSE(are_managed("left,other", managed));
  EXPECT_FALSE(are_managed("", managed));
  EXPECT_TRUE(are_managed("left,other", {}));
}

TEST(Partitions, AListIsAPartitionWithTheNodesOfAll) {
  std::vector<JobRow> rows = {job_in(1, "right,left"), job_in(2, "left,right"),
                              job_in(3, "far,other")};
  const QueueRules rules = {.partitions = {"left", "right", "far"}};
  std::map<std::string, JobFacts> facts;
  for (const JobRow& each : rows) {
    facts[each.id()] = {.words = {.job = each.job, .tres_per_node = "gres:gpu:1"},
                        .has_words = true};
  }
  const QueueView view = view_of(rows, three_nodes(), facts, rules, {}, {});
  EXPECT_THAT(view.picture.cluster.nodes[0].partitions, ElementsAre("left", "left,right"));
  EXPECT_THAT(view.picture.cluster.nodes[1].partitions, ElementsAre("left", "right", "left,right"));
  EXPECT_THAT(view.picture.cluster.nodes[2].partitions, ElementsAre("far"));
  EXPECT_EQ(view.picture.jobs.at("1").spec.partition, "left,right");
  EXPECT_EQ(view.picture.jobs.at("2").spec.partition, "left,right");
  EXPECT_FALSE(view.picture.jobs.contains("3")) << "one of its partitions is not managed";
  // Once told, a list stays: the cluster does not change with each job that names one.
  const QueueView later = view_of({}, three_nodes(), {}, rules, {}, view.picture);
  EXPECT_EQ(later.picture.cluster.nodes[0].partitions, view.picture.cluster.nodes[0].partitions);
}

TEST(Partitions, NodesAndFeaturesThatAJobNamesAreAPlace) {
  std::vector<NodeRow> nodes = three_nodes();
  for (NodeRow& node : nodes) node.partitions = {"gpu"};
  nodes[0].features = {"ib", "hdr"};
  nodes[2].features = {"ib"};
  const auto view = [&](const JobRow& row, const std::string& names, const std::string& features,
                        const cluster::Picture& told = {}) {
    const JobWords words{
        .job = row.job, .tres_per_node = "gres:gpu:1", .nodes = names, .features = features};
    const std::map<std::string, JobFacts> facts = {{row.id(), {.words = words, .has_words = true}}};
    return view_of(std::span(&row, 1), nodes, facts, {}, {}, told);
  };
  const auto where = [&](const QueueView& seen) {
    std::string out;
    for (const SeenNode& node : seen.picture.cluster.nodes) {
      if (std::ranges::find(node.partitions, seen.picture.jobs.at("1").spec.partition) !=
          node.partitions.end())
        out += node.name;
    }
    return out;
  };
  JobRow row = job_in(1, "gpu");
  row.reason = "JobHeldUser";
  EXPECT_TRUE(view(row, "", "").picture.cluster.nodes[0].partitions.empty()) << "one place";
  EXPECT_EQ(view(row, "n3", "").picture.jobs.at("1").spec.partition, "gpu on n3");
  EXPECT_EQ(where(view(row, "n3", "")), "n3");
  EXPECT_EQ(where(view(row, "", "ib")), "n1n3");
  EXPECT_EQ(where(view(row, "", "ib&hdr")), "n1");
  EXPECT_EQ(view(row, "", "ib&hdr").picture.jobs.at("1").blocked, "");
  EXPECT_EQ(view(row, "", "new").picture.jobs.at("1").blocked,
            "no node is known here that has what it names")
      << "nodes are looked at less often than jobs";
  row.batch = false;
  EXPECT_EQ(where(view(row, "n2", "")), "n2") << "an allocation of salloc";
  const auto leaves = [&](const QueueView& seen) {
    return seen.leaves.empty() ? "" : std::string(seen.leaves[0].second);
  };
  EXPECT_EQ(leaves(view(row, "n3", "")), "");
  EXPECT_EQ(leaves(view(row, "n[2-3]", "")), "own-choice-of-nodes") << "n2, n3, or both";
  EXPECT_EQ(leaves(view(row, "", "ib|hdr")), "own-choice-of-nodes");
  row.num_nodes = 2;
  EXPECT_EQ(where(view(row, "n[2-3]", "")), "n2n3");
  EXPECT_EQ(leaves(view(row, "n2", "")), "own-choice-of-nodes") << "and any other";
  // What Goban named is not its user's choice, unless it is the same.
  row.mark = "goban:1.1.1";
  EXPECT_EQ(view(row, "n[2-3]", "").picture.jobs.at("1").spec.partition, "gpu");
  row.mark = "goban:1.1.1:nodes";
  EXPECT_EQ(view(row, "n[2-3]", "").picture.jobs.at("1").spec.partition, "gpu on n[2-3]");
  row.mark = "";
  cluster::Picture full;
  full.cluster.nodes.emplace_back();
  for (size_t i = 0; i < kPlacesMost; ++i) {
    full.cluster.nodes[0].partitions.push_back("gpu on m" + std::to_string(i));
  }
  EXPECT_EQ(leaves(view(row, "n[2-3]", "", full)), "own-choice-of-nodes") << "too many places";
}

TEST(Partitions, ThatOfTheNodesIsTriedFirst) {
  const std::vector<NodePart> both = {{.node = "n1"}, {.node = "n2"}};
  const std::vector<NodePart> second = {{.node = "n2"}};
  EXPECT_EQ(partitions_for("far,right,left", both, three_nodes()), "left,far,right");
  EXPECT_EQ(partitions_for("far,right,left", second, three_nodes()), "right,left,far");
  EXPECT_EQ(partitions_for("left", both, three_nodes()), "") << "no list";
}

TEST(Partitions, TooManyListsAreLeftToSlurm) {
  std::vector<JobRow> rows;
  for (int64_t i = 1; i <= static_cast<int64_t>(kPlacesMost) + 1; ++i) {
    rows.push_back(job_in(i, "left,p" + std::to_string(100 + i)));
  }
  std::map<std::string, JobFacts> facts;
  for (const JobRow& each : rows) {
    facts[each.id()] = {.words = {.job = each.job, .tres_per_node = "gres:gpu:1"},
                        .has_words = true};
  }
  const QueueView view = view_of(rows, three_nodes(), facts, {}, {}, {});
  EXPECT_EQ(view.places.size(), kPlacesMost);
  EXPECT_EQ(view.picture.jobs.size(), kPlacesMost);
  const auto why = [&](const JobRow& each) {
    return why_for_slurm(each, facts.at(each.id()).words, traits_of(three_nodes(), {}), {},
                         view.places);
  };
  EXPECT_EQ(why(rows.front()), "");
  EXPECT_EQ(why(rows.back()), "many-partition-lists");
}

}  // namespace
}  // namespace goban::live::engine::slurm
