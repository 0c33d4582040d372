// GPU models and nodes that jobs name.
#include "live/controller/node_choice.hpp"

#include <gmock/gmock.h>

namespace goban::live::controller {
namespace {

using testing::HasSubstr;

Site site_of(const std::vector<std::string>& models,
             const std::vector<std::string>& nodes = {"box"}) {
  core::model::ClusterBuilder builder("here");
  builder.add_gpu_model({.name = models.front()});
  for (const std::string& name : nodes) {
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = name;
    placed.node.num_gpus = 4;
    builder.add_node(std::move(placed));
  }
  Site site;
  site.cluster = builder.build().value();
  site.gpu_models = std::move(models);
  return site;
}

TEST(NodeChoice, AModelIsMeantByWordsOfItsName) {
  constexpr const char* kName = "NVIDIA A100-SXM4-80GB";
  for (const char* asked : {"a100", "A100", "nvidia", "a100_80gb", "a100-sxm4-80gb", kName}) {
    EXPECT_TRUE(means_model(asked, kName)) << asked;
  }
  for (const char* asked : {"a10", "v100", "80gb-a100", "a1000", "a100-40gb"}) {
    EXPECT_FALSE(means_model(asked, kName)) << asked;
  }
}

TEST(NodeChoice, AnUnknownModelIsRefusedWithTheKnownOnes) {
  const Site site = site_of({"NVIDIA H200"});
  EXPECT_TRUE(check_node_choice({}, site));
  EXPECT_TRUE(check_node_choice({.gpu_model = "h200"}, site));
  const auto unknown = check_node_choice({.gpu_model = "a100"}, site);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().place.field, "gpu_model");
  EXPECT_THAT(unknown.error().text(), HasSubstr("no GPU is a 'a100'"));
  EXPECT_THAT(unknown.error().text(), HasSubstr("NVIDIA H200"));
}

TEST(NodeChoice, OnAMachineOfSeveralModelsNoneCanBeChosen) {
  const Site mixed = site_of({"NVIDIA A100", "NVIDIA V100"});
  EXPECT_TRUE(check_node_choice({}, mixed));
  EXPECT_TRUE(check_node_choice({.gpu_model = "nvidia"}, mixed)) << "all are meant";
  const auto one = check_node_choice({.gpu_model = "a100"}, mixed);
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().text(), HasSubstr("scheduled as one: NVIDIA A100, NVIDIA V100"));
}

TEST(NodeChoice, NodesMustExistAndOneMustBeLeft) {
  const Site site = site_of({"H200"});
  EXPECT_TRUE(check_node_choice({.node_list = {"box"}}, site));
  const auto unknown = check_node_choice({.node_list = {"box", "bax"}}, site);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().place.field, "node_list");
  EXPECT_THAT(unknown.error().text(), HasSubstr("there is no node bax (nodes here: box)"));
  const auto strange = check_node_choice({.exclude_nodes = {"n7"}}, site);
  ASSERT_FALSE(strange);
  EXPECT_EQ(strange.error().place.field, "exclude_nodes");
  const auto nowhere = check_node_choice({.exclude_nodes = {"box"}}, site);
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().text(), HasSubstr("excludes every node"));
}

TEST(NodeChoice, APartOfSeveralNodesCannotBeChosenYet) {
  const Site site = site_of({"H200"}, {"n0", "n1"});
  EXPECT_TRUE(check_node_choice({.node_list = {"n1", "n0"}}, site));
  for (const job::JobSpec& spec :
       {job::JobSpec{.node_list = {"n0"}}, job::JobSpec{.exclude_nodes = {"n1"}}}) {
    const auto refused = check_node_choice(spec, site);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("some of several nodes"));
  }
}

}  // namespace
}  // namespace goban::live::controller
