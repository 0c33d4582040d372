#include <gmock/gmock.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/legality.hpp"
#include "train/mesh/measure_costs.hpp"
#include "train/mesh/ops.hpp"

namespace goban::train::mesh {
namespace {

using ::testing::HasSubstr;

/// auto_mtf's example: x [a=10, b=5] times y [b=5, c=20].
struct Example {
  explicit Example(bool unstack = false) {
    const Dim a{"a", 10}, b{"b", 5}, c{"c", 20};
    const Tensor x = graph.input("x", {a, b}), y = graph.input("y", {b, c});
    const Tensor z = einsum({x, y}, {a, c});
    roots = {z.id()};
    if (unstack) {
      roots = {slice(z, "a", 0, 1).id(), slice(z, "c", 0, 1).id()};
    }
  }
  Graph graph;
  std::vector<NodeId> roots;
};

base::Result<LayoutChoice> least_memory(const Example& example, const char* mesh) {
  PlannerOptions options;
  options.objective = Objective::Memory;
  return choose_layout(example.graph, example.roots, *MeshShape::parse(mesh), options);
}

TEST(Planner, GivesTheKnownAnswersOfAutoMtf) {
  const auto two = least_memory(Example(), "m1:4;m2:2");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->rules.text(), "a:m2;c:m1");
  EXPECT_EQ(two->memory_bytes, 75 * 4);
  EXPECT_EQ(least_memory(Example(), "m1:4;m2:2;m3:1")->rules.text(), "a:m2;b:m3;c:m1");
  EXPECT_EQ(least_memory(Example(true), "m1:4;m2:2")->rules.text(), "");
}

TEST(Planner, EnumeratesMeshes) {
  std::vector<std::string> texts;
  for (const MeshShape& mesh : mesh_shapes(8, 3)) texts.push_back(mesh.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"mesh_0:8", "mesh_0:4;mesh_1:2",
                                             "mesh_0:2;mesh_1:2;mesh_2:2"}));
  PlannerOptions options;
  options.objective = Objective::Memory;
  const Example example;
  const auto choice = choose_mesh_and_layout(example.graph, example.roots, 8, options);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->mesh.text(), "mesh_0:4;mesh_1:2");
}

TEST(Planner, CostsDecideBetweenDataAndModelParallel) {
  // A wide layer on few samples: splitting the batch sends the gradient of the weight, splitting
  // the layer sends the few activations.
  Graph g;
  const Dim batch{"batch", 8}, in{"in", 64}, out{"out", 64};
  const Tensor x = g.input("x", {batch, in}), w = g.input("w", {in, out});
  const Tensor y = einsum({x, w}, {batch, out});
  const Tensor dw = einsum({x, relu(y)}, {in, out});
  const std::vector<NodeId> roots = {relu(dw).id()};
  PlannerOptions options;
  options.costs = {1e-6, 1e-6, 1e10, 1e9};  // a slow network
  const auto slow = choose_layout(g, roots, *MeshShape::parse("m:2"), options);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rules.text(), "out:m");
  options.costs = {10, 1e-6, 1e10, 1e9};  // collectives cost more than all computation
  const auto dear = choose_layout(g, roots, *MeshShape::parse("m:2"), options);
  ASSERT_TRUE(dear);
  const auto plan = lower(g, roots, dear->mesh, dear->rules, 0);
  EXPECT_EQ(plan->totals.collectives, 0);
}

TEST(Planner, IsExact) {
  const Example example;
  PlannerOptions options;
  const MeshShape mesh = *MeshShape::parse("x:2;y:5");
  const auto choice = choose_layout(example.graph, example.roots, mesh, options);
  ASSERT_TRUE(choice);
  size_t legal = 0;
  for (const char* a : {"", "a:x", "a:y"}) {
    for (const char* b : {"", "b:x", "b:y"}) {
      for (const char* c : {"", "c:x", "c:y"}) {
        const auto rules = LayoutRules::parse(std::string(a) + ";" + b + ";" + c);
        const auto plan = lower(example.graph, example.roots, mesh, *rules, 0);
        if (!plan) continue;
        ++legal;
        EXPECT_LE(choice->step_s, predicted_step_s(example.graph, *plan, options.costs, 1));
      }
    }
  }
  EXPECT_EQ(choice->examined, legal);
}

TEST(Planner, SaysWhatWouldFit) {
  const Example example;
  PlannerOptions options;
  options.memory_limit_bytes = 200;
  const auto choice =
      choose_layout(example.graph, example.roots, *MeshShape::parse("m1:4;m2:2"), options);
  ASSERT_FALSE(choice);
  EXPECT_THAT(choice.error().text(), HasSubstr("the minimum is 300"));
}

TEST(Planner, MeasuresOneModelForAllRanks) {
  std::vector<CostModel> models(2);
  const auto status = comm::run_threads(2, {}, [&](comm::Communicator& end) -> base::Status {
    const auto model = measure_costs(end);
    if (!model) return base::failure(model.error());
    models[static_cast<size_t>(end.rank())] = *model;
    return {};
  });
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(models[0].alpha_s, models[1].alpha_s);
  EXPECT_EQ(models[0].flops_per_s, models[1].flops_per_s);
  EXPECT_GT(models[0].alpha_s, 0);
  EXPECT_GT(models[0].flops_per_s, 1e6);
}

}  // namespace
}  // namespace goban::train::mesh
